import { z } from 'zod'
import { ticketFields } from './fields.ts'

/** Result of a written mail: when it goes, and what it has become. */
export const letterOutputs = z.object({
  ...ticketFields,
  to: z.array(z.string()),
  cc: z.array(z.string()),
  bcc: z.array(z.string()),
  subject: z.string(),
  attachments: z.int(),
})
