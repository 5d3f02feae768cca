import { z } from 'zod'
import { replyRecipients, replySubject, replyText, threadOf } from '../../domain/mail/answers.ts'
import { defineCapability } from '../define.ts'
import { readAttachments } from './attach.ts'
import { findErrors, messageIdField, version, writingErrors, writingFields } from './fields.ts'
import { letterOutputs } from './letter-fields.ts'
import { findMail, sentAt } from './mailbox.ts'
import { senderOf } from './outgoing.ts'
import { letterWriter } from './write-letter.ts'

const inputs = z.strictObject({
  message_id: messageIdField,
  reply_all: z
    .boolean()
    .default(false)
    .describe('Also to everybody who got it. The answer goes to Reply-To, or to the sender.'),
  quote: z.boolean().default(true).describe('The text that is answered below the answer.'),
  ...writingFields,
})

const { preview, resolve, buffer } = letterWriter<z.output<typeof inputs>>(
  'reply',
  async (service, files, args) => {
    const { message, folder } = await findMail(service, args.message_id)
    const { to, cc } = replyRecipients(message, senderOf(service).address, args.reply_all)
    return {
      to,
      cc: [...cc, ...args.cc],
      bcc: args.bcc,
      subject: replySubject(message.subject),
      text: args.quote ? replyText(args.body, message, sentAt(message)) : args.body,
      html: args.html ?? null,
      ...threadOf(message),
      files: await readAttachments(files, args.attachments),
      original: {
        folder,
        uidvalidity: message.uidvalidity,
        uid: message.uid,
        mark: '\\Answered',
      },
    }
  },
)

export const reply = defineCapability({
  name: 'email.reply',
  title: 'Reply to mail',
  version,
  purpose: 'Answer a message in its thread; held for a moment before it is sent.',
  when_to_use:
    'For a new conversation use email.send. Look at `to` in the answer: Reply-To may lead to somebody else than the sender. Until it is sent, writes.cancel stops it.',
  inputs,
  outputs: letterOutputs,
  tier: 'approval_required',
  effect: 'buffered',
  reach: 'open',
  side_effects: [
    { what: 'a mail to people outside, after the delay', reversible: false },
    { what: 'the answered message is marked as answered', reversible: true },
  ],
  common_patterns: [
    {
      title: 'Answer the sender',
      arguments: {
        message_id: 'mail-0f3c5a7e9b1d2f4a6c8e0b1d-9d4e1f23-42',
        body: 'Thank you, Tuesday suits me.',
      },
    },
  ],
  errors: [...new Set([...findErrors, ...writingErrors])],
  preview,
  resolve,
  run: buffer,
})
