export { exportedEntries } from '../../packages/cli/src/selftest/exported-entries.ts'
