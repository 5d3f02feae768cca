import { z } from 'zod'
import { defineCapability } from '../define.ts'
import { recipients, subjectField, version, writingErrors, writingFields } from './fields.ts'
import { letterOutputs } from './letter-fields.ts'
import { letterWriter, newLetter } from './write-letter.ts'

const inputs = z.strictObject({
  to: recipients.default([]),
  subject: subjectField,
  ...writingFields,
})

const { preview, resolve, buffer } = letterWriter<z.output<typeof inputs>>('draft', newLetter)

export const draft = defineCapability({
  name: 'email.draft',
  title: 'Draft mail',
  version,
  purpose: 'Save a mail to the drafts for a person to send.',
  when_to_use:
    'Use it when a person should have the last word; to send it yourself use email.send.',
  inputs,
  outputs: letterOutputs,
  tier: 'autonomous',
  notify: true,
  effect: 'buffered',
  reach: 'open',
  side_effects: [{ what: 'a draft in the mailbox', reversible: true }],
  common_patterns: [
    {
      title: 'Prepare an answer',
      arguments: { to: ['ben@example.net'], subject: 'Re: Offer', body: 'Dear Ben,\n…' },
    },
  ],
  errors: [...writingErrors],
  preview,
  resolve,
  run: buffer,
})
