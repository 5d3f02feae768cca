import type { ErrorType } from '@gatehouse/contract'
import { z } from 'zod'

export { freshnessField, ticketFields } from '../service-fields.ts'

import { pathArguments } from '../path-argument.ts'

export const version = '1.0'

export const serviceField = z
  .string()
  .max(63)
  .optional()
  .describe('Mailbox. The name of its service; needed only where you may use several.')

export const messageIdField = z.string().max(200).describe('As email.search told it.')

export const messageIdsField = z
  .array(messageIdField)
  .min(1)
  .max(100)
  .describe('As email.search told them; at most 100.')

const attachedPath = z
  .string()
  .min(1)
  .max(4096)
  .describe('Absolute inside your folders, or relative to your workspace.')
  .register(pathArguments, {})

const address = z.string().max(400)
export const recipients = z.array(address).max(100).describe('Addresses such as ben@example.net.')

/** Fields of every mail that is written. Line ends in headers are refused with a reason of their own. */
export const writingFields = {
  cc: recipients.default([]),
  bcc: recipients.default([]),
  body: z.string().max(524_288).describe('The text, plain.'),
  html: z
    .string()
    .max(524_288)
    .optional()
    .describe('The same as HTML. For those who prefer it; the text goes along in any case.'),
  attachments: z
    .array(attachedPath)
    .max(20)
    .default([])
    .describe('Files to attach; 15 MiB together. They are read now.'),
  service: serviceField,
}

export const subjectField = z.string().max(2_000).describe('One line.')

const person = z.object({ name: z.string(), address: z.string() })
export const personField = person
  .nullable()
  .describe('The name is what the sender claims; the address is what counts.')
export const peopleField = z.array(person)

export const serviceErrors = [
  'ServiceNotFound',
  'ServiceAmbiguous',
] as const satisfies readonly ErrorType[]

export const findErrors = [
  ...serviceErrors,
  'MailNotFound',
  'MailAmbiguous',
] as const satisfies readonly ErrorType[]

export const writingErrors = [
  ...serviceErrors,
  'InvalidRecipient',
  'InvalidHeader',
  'MailRefused',
  'FileNotFound',
  'FileTooLarge',
  'PathOutOfScope',
  'PathNotPermitted',
  'ProtectedPath',
  'QuotaExceeded',
] as const satisfies readonly ErrorType[]
