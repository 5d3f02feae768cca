import { z } from 'zod'

/** A capability, `group.*` or `*`. */
export const MatchPattern = z
  .string()
  .regex(
    /^(\*|[a-z][a-z0-9_-]*\.(\*|[A-Za-z0-9][A-Za-z0-9_-]*))$/,
    'expected a capability, group.* or *',
  )

export const WindowText = z
  .string()
  .regex(/^[1-9]\d{0,5}[smhd]$/, 'expected a window such as 30s, 1m, 1h or 1d')

export const PolicyLimit = z.strictObject({
  match: MatchPattern,
  limit: z.int().min(1).max(100_000),
  window: WindowText,
})
export type PolicyLimit = z.infer<typeof PolicyLimit>
