import { hash } from 'node:crypto'
import { z } from 'zod'
import type { Json } from '../../../ports/json.ts'
import type { WriteFile } from '../../../ports/service-adapter.ts'

const address = z
  .string()
  .max(254)
  .regex(/^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/)
const messageId = z
  .string()
  .max(998)
  .regex(/^<[\x21-\x3b\x3d\x3f-\x7e]+>$/)
const line = z.string().regex(/^[^\p{Cc}\u2028\u2029]*$/u)

/**
 * A mail as it was buffered: complete, with the Message-ID that it will have, so that one that may have
 * been sent can be recognised.
 *
 * @SECURITY No header can be broken out of: whatever becomes one is a single line or an address.
 * `mail-send.test.ts` fails without it.
 */
export const outgoingMail = z.strictObject({
  message_id: messageId,
  date: z.iso.datetime(),
  from: z.strictObject({ name: line.max(200), address }),
  to: z.array(address).max(100),
  cc: z.array(address).max(100),
  bcc: z.array(address).max(100),
  subject: line.max(998),
  text: z.string().max(1_048_576),
  html: z.string().max(1_048_576).nullable(),
  in_reply_to: messageId.nullable(),
  references: z.array(messageId).max(100),
  attachments: z
    .array(
      z.strictObject({
        name: line.min(1).max(255),
        content_type: z.string().regex(/^[\w.+-]+\/[\w.+-]+$/),
        size_bytes: z.int(),
        sha256: z.string(),
      }),
    )
    .max(50),
  /** The message that is answered or passed on, to be marked as such afterwards. */
  original: z
    .strictObject({
      folder: z.string(),
      uidvalidity: z.string(),
      uid: z.int(),
      mark: z.enum(['\\Answered', '$Forwarded']),
    })
    .nullable(),
})
export type OutgoingMail = z.output<typeof outgoingMail>

/** Raises for a mail that is not as it was buffered, or whose files are others than were approved. */
export const parseOutgoing = (given: Json, files: readonly WriteFile[]): OutgoingMail => {
  const mail = outgoingMail.parse(given)
  const same = mail.attachments.every(({ sha256, name }, at) => {
    const file = files[at]
    return file !== undefined && file.name === name && hash('sha256', file.bytes) === sha256
  })
  if (!same || files.length !== mail.attachments.length)
    throw new Error('the attachments are not those that were buffered')
  return mail
}
