import { z } from 'zod'
import { defineCapability } from '../define.ts'
import { recipients, subjectField, version, writingErrors, writingFields } from './fields.ts'
import { letterOutputs } from './letter-fields.ts'
import { letterWriter, newLetter } from './write-letter.ts'

const inputs = z.strictObject({
  to: recipients.min(1),
  subject: subjectField,
  ...writingFields,
})

const { preview, resolve, buffer } = letterWriter<z.output<typeof inputs>>('send', newLetter)

export const send = defineCapability({
  name: 'email.send',
  title: 'Send mail',
  version,
  purpose: 'Send a new mail; held for a moment before it is sent.',
  when_to_use:
    "To answer a message use email.reply. To forward one use email.forward, to leave it for a person to send email.draft. Until it is sent, writes.cancel stops it; afterwards it can't be taken back.",
  inputs,
  outputs: letterOutputs,
  tier: 'approval_required',
  effect: 'buffered',
  reach: 'open',
  side_effects: [{ what: 'a mail to people outside, after the delay', reversible: false }],
  common_patterns: [
    {
      title: 'Send a text',
      arguments: { to: ['ben@example.net'], subject: 'The report', body: 'Dear Ben,\n…' },
    },
    {
      title: 'Send a file',
      arguments: {
        to: ['ben@example.net'],
        subject: 'The report',
        body: 'Attached.',
        attachments: ['reports/may.pdf'],
      },
    },
  ],
  errors: [...writingErrors],
  preview,
  resolve,
  run: buffer,
})
