export type { CompiledPolicy } from './types.ts'
