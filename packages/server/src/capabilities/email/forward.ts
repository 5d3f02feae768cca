import { GatehouseError } from '@gatehouse/contract'
import { z } from 'zod'
import { forwardSubject, forwardText, threadOf } from '../../domain/mail/answers.ts'
import type { AgentService } from '../../ports/agent-services.ts'
import type { WriteFile } from '../../ports/service-adapter.ts'
import { defineCapability } from '../define.ts'
import { attachedBytesMax, readAttachments, safeName } from './attach.ts'
import {
  findErrors,
  messageIdField,
  recipients,
  version,
  writingErrors,
  writingFields,
} from './fields.ts'
import { letterOutputs } from './letter-fields.ts'
import { type FoundMail, findMail, sentAt } from './mailbox.ts'
import { fetchAttachment } from './read.ts'
import { letterWriter } from './write-letter.ts'

const inputs = z.strictObject({
  message_id: messageIdField,
  to: recipients.min(1),
  include_attachments: z.boolean().default(true).describe('Send the attachments along.'),
  ...writingFields,
  body: writingFields.body.default('').describe('Text above the message.'),
})

/** Attachments of the original, fetched now: what was looked at is what goes along. */
const attachmentsOf = async (service: AgentService, found: FoundMail): Promise<WriteFile[]> => {
  const { message } = found
  if (message.attachments_total > message.attachments.length)
    throw new GatehouseError('MailRefused', {
      detail: 'it has more attachments than can be passed on; set include_attachments to false',
    })
  const files: WriteFile[] = []
  let left = attachedBytesMax
  for (const { part } of message.attachments) {
    const { name, content_type, bytes } = await fetchAttachment(service, found, part, left)
    left -= bytes.length
    files.push({ name: safeName(name), content_type, bytes })
  }
  return files
}

const { preview, resolve, buffer } = letterWriter<z.output<typeof inputs>>(
  'forward',
  async (service, files, args) => {
    const found = await findMail(service, args.message_id)
    const { message, folder } = found
    const attached = args.include_attachments ? await attachmentsOf(service, found) : []
    const { references } = threadOf(message)
    return {
      to: args.to,
      cc: args.cc,
      bcc: args.bcc,
      subject: forwardSubject(message.subject),
      text: forwardText(args.body, message, sentAt(message)),
      html: args.html ?? null,
      in_reply_to: null,
      references,
      files: [...attached, ...(await readAttachments(files, args.attachments))],
      original: {
        folder,
        uidvalidity: message.uidvalidity,
        uid: message.uid,
        mark: '$Forwarded',
      },
    }
  },
)

export const forward = defineCapability({
  name: 'email.forward',
  title: 'Forward mail',
  version,
  purpose: 'Forward a message with its attachments; held for a moment before it is sent.',
  when_to_use: 'To answer the sender use email.reply. Until it is sent, writes.cancel stops it.',
  inputs,
  outputs: letterOutputs,
  tier: 'approval_required',
  effect: 'buffered',
  reach: 'open',
  side_effects: [{ what: 'a mail to people outside, after the delay', reversible: false }],
  common_patterns: [
    {
      title: 'Pass on',
      arguments: {
        message_id: 'mail-0f3c5a7e9b1d2f4a6c8e0b1d-9d4e1f23-42',
        to: ['cleo@example.net'],
        body: 'For you.',
      },
    },
  ],
  errors: [
    ...new Set([
      ...findErrors,
      ...writingErrors,
      'PartNotFound' as const,
      'ResponseTooLarge' as const,
      'ServiceUnavailable' as const,
    ]),
  ],
  preview,
  resolve,
  run: buffer,
})
