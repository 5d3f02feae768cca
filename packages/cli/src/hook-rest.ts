/** Parts of `gatehouse hook` that a plain line which is decided does not need; it finds them here by these names. */
export { blockedReason } from './hooks/blocked.ts'
export { parseCommand } from './parse.ts'
