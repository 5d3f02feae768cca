import type { RunProcess } from '../../ports/processes.ts'
import type { SandboxLimits } from '../../ports/sandbox.ts'

const mebibyte = 1024 * 1024

/** Threads count like processes. */
const processesMax = 256

/** Limits of one run. */
export const sandboxLimitsOf = ({
  memory_limit_bytes = 1024 * mebibyte,
  cpu_limit,
  timeout_seconds,
}: Pick<RunProcess, 'memory_limit_bytes' | 'cpu_limit' | 'timeout_seconds'>): SandboxLimits => ({
  memory_bytes: memory_limit_bytes,
  processes: processesMax,
  cpu_seconds: cpu_limit ?? timeout_seconds * 2,
  file_bytes: 1024 * mebibyte,
  temporary_bytes: 256 * mebibyte,
})
