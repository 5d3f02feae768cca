import { jsonBytesMax } from '../../domain/arguments.ts'
import type { Capability } from '../../ports/capability.ts'
import type { Call } from './call.ts'

/** How large the result of a call can become, by what its arguments ask for. */
export const resultBytesOf = (
  { result_bytes, result_bytes_max }: Capability,
  args: Call['args'],
): number =>
  result_bytes ? Math.min(result_bytes(args as never), result_bytes_max) : result_bytes_max

/** `bound`: from `jsonBytesMax`, which has six bytes for a character that takes at most two in memory. */
export const memoryWithin = (bound: number): number => Math.ceil(bound / 3)

/** About how many bytes of memory a result takes. */
export const memoryOf = (data: Readonly<Record<string, unknown>>): number =>
  memoryWithin(jsonBytesMax(data))
