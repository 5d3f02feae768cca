import type { Capability } from '../../ports/capability.ts'
import type { Call } from './call.ts'

/** How large the result of a call can become, by what its arguments ask for. */
export const resultBytesOf = (
  { result_bytes, result_bytes_max }: Capability,
  args: Call['args'],
): number =>
  result_bytes ? Math.min(result_bytes(args as never), result_bytes_max) : result_bytes_max
