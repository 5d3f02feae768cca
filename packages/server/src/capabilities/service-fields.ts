import { z } from 'zod'

/** Statement with everything that is read from the copy of a service. */
export const freshnessField = z
  .object({
    name: z.string(),
    status: z.string(),
    last_sync: z.string().nullable(),
  })
  .describe(
    'How fresh this is: what is read comes from a copy, which is brought up to date all the time.',
  )

/** Fields of a write that is held back until its time. */
export const ticketFields = {
  write_id: z.string(),
  status: z.string(),
  execute_at: z.string().describe('Until then writes.cancel stops it.'),
  undo_until: z.string().nullable().describe('Until when writes.rollback undoes it once it ran.'),
  undo_note: z.string(),
}
