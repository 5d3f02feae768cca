import { z } from 'zod'

/** Entries of a log that are in no list and no figure, though they are there. */
export const UnlistedEntries = z.object({
  log: z.string(),
  /** Number of the first of them. */
  from: z.int(),
  reason: z.string(),
  /** Command that has them all the same. */
  remedy: z.string(),
})
export type UnlistedEntries = z.infer<typeof UnlistedEntries>
