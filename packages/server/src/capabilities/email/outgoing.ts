import { randomUUID } from 'node:crypto'
import { GatehouseError, type Preview } from '@gatehouse/contract'
import { addressFault, headerFault } from '../../domain/mail/addresses.ts'
import type { AgentService } from '../../ports/agent-services.ts'
import type { JsonObject } from '../../ports/json.ts'
import type { WriteFile } from '../../ports/service-adapter.ts'
import { sha256Of } from './attach.ts'

/** A mail before it is given its id and its time. */
export type Letter = {
  readonly to: readonly string[]
  readonly cc: readonly string[]
  readonly bcc: readonly string[]
  readonly subject: string
  readonly text: string
  readonly html: string | null
  readonly in_reply_to: string | null
  readonly references: readonly string[]
  readonly files: readonly WriteFile[]
  /** The message that is answered or passed on. */
  readonly original: JsonObject | null
}

const recipientsMax = 100

const assertHeader = (header: string, value: string): void => {
  const detail = headerFault(value)
  if (detail !== null) throw new GatehouseError('InvalidHeader', { header, detail })
}

/**
 * Refuses what could not be sent, or not as it is shown.
 * @SECURITY Nothing that becomes a header can end it; mail-agent.test.ts.
 */
export const assertLetter = (letter: Letter, { recipientsNeeded = true } = {}): Letter => {
  for (const [header, list] of [
    ['to', letter.to],
    ['cc', letter.cc],
    ['bcc', letter.bcc],
  ] as const)
    for (const address of list) {
      assertHeader(header, address)
      const detail = addressFault(address)
      if (detail !== null) throw new GatehouseError('InvalidRecipient', { address, detail })
    }
  assertHeader('subject', letter.subject)
  if (letter.subject.length > 998)
    throw new GatehouseError('InvalidHeader', { header: 'subject', detail: 'it is too long' })
  const count = letter.to.length + letter.cc.length + letter.bcc.length
  if (recipientsNeeded && count === 0)
    throw new GatehouseError('MailRefused', { detail: 'nobody is named whom it would go to' })
  if (count > recipientsMax)
    throw new GatehouseError('MailRefused', { detail: `more than ${recipientsMax} recipients` })
  if (!letter.text.isWellFormed() || !(letter.html ?? '').isWellFormed())
    throw new GatehouseError('MailRefused', { detail: 'the text has half a character' })
  return letter
}

/** Owner of the mailbox, as the operator entered it. */
export const senderOf = ({ settings: { name, address } }: AgentService) => ({
  name: typeof name === 'string' ? name : '',
  address: typeof address === 'string' ? address : '',
})

/** Mail as it is stored, and sent when its time comes: with the Message-ID that any attempt will have. */
export const outgoingOf = (service: AgentService, letter: Letter, wallMs: number): JsonObject => {
  const from = senderOf(service)
  const { files, ...rest } = letter
  return {
    ...rest,
    message_id: `<${randomUUID()}@${from.address.split('@').at(-1)}>`,
    date: new Date(wallMs).toISOString(),
    from,
    attachments: files.map((file) => ({
      name: file.name,
      content_type: file.content_type,
      size_bytes: file.bytes.byteLength,
      sha256: sha256Of(file),
    })),
  }
}

/** Preview for an approver: real addresses, every recipient, the whole text, each file with its hash. */
export const letterPreview = (service: AgentService, letter: Letter): Preview => {
  const from = senderOf(service)
  const headers: Record<string, string> = {
    From: from.name === '' ? from.address : `${from.name} <${from.address}>`,
    To: letter.to.join(', ') || '(nobody)',
  }
  if (letter.cc.length > 0) headers['Cc'] = letter.cc.join(', ')
  if (letter.bcc.length > 0) headers['Bcc'] = letter.bcc.join(', ')
  headers['Subject'] = letter.subject
  if (letter.in_reply_to !== null) headers['In-Reply-To'] = letter.in_reply_to
  for (const [at, file] of letter.files.entries())
    headers[`Attachment ${at + 1}`] =
      `${file.name} (${file.content_type}, ${file.bytes.byteLength} bytes, sha256 ${sha256Of(file)})`
  const markup = letter.html === null ? '' : `\n\n--- HTML, as it is sent ---\n${letter.html}`
  return { kind: 'mail', headers, text: `${letter.text}${markup}` }
}

/** Facts that an approval binds besides the arguments: whom it goes to, under what name, with which content. */
export const letterBinding = (service: AgentService, letter: Letter) => ({
  service: service.name,
  from: senderOf(service).address,
  to: letter.to,
  cc: letter.cc,
  bcc: letter.bcc,
  subject: letter.subject,
  in_reply_to: letter.in_reply_to,
  text_sha256: sha256Of({ bytes: Buffer.from(letter.text) }),
  attachments: letter.files.map((file) => ({ name: file.name, sha256: sha256Of(file) })),
})
