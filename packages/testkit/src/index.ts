export { HandClock } from '@gatehouse/server/audit/testing'
export { createKit, failureIn, Kit, type KitOptions } from './kit.ts'
export { type StartedPostgres, startPostgres } from './postgres.ts'
export { describeStorage, type OpenedStorage } from './storage-conformance.ts'
