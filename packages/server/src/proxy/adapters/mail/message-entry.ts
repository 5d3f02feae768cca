import type { MailMessage, MailPerson } from '../../../domain/mail/message.ts'
import type { JsonObject } from '../../../ports/json.ts'
import type { ReplicaEntry } from '../../../ports/replica.ts'
import type { ReadMail } from './mail-reader.ts'
import { contentKeyOf, entryIdOf, type MessagePlace, messageRefOf } from './message-place.ts'
import type { AttachmentPart } from './structure.ts'

/** Message as it was found at the server. */
export type FoundMessage = {
  readonly place: MessagePlace
  readonly fingerprint: string
  readonly flags: readonly string[]
  readonly modseq: string | null
  readonly received_ms: number
  readonly size_bytes: number
  readonly mail: ReadMail
  readonly attachments: readonly AttachmentPart[]
  readonly attachments_total: number
  /** Whether there is more than was read, or something that could not be. */
  readonly truncated: boolean
  readonly damaged: boolean
}

const textMax = 262_144
const keywordsMax = 32

const known: Readonly<Record<string, string>> = {
  '\\Flagged': 'flagged',
  '\\Answered': 'answered',
  '\\Draft': 'draft',
  '\\Deleted': 'deleted',
}

/** IMAP's flags in words: what is not `\Seen` is `unread`. Keywords stay as they are, in lower case. */
export const flagWords = (flags: readonly string[]): string[] => {
  const words = flags.flatMap((flag) => known[flag] ?? [])
  const keywords = flags
    .filter((flag) => !flag.startsWith('\\') && flag.length <= 64)
    .map((flag) => flag.toLowerCase())
    .slice(0, keywordsMax)
  return [...new Set([...(flags.includes('\\Seen') ? [] : ['unread']), ...words, ...keywords])]
}

const shownPerson = ({ name, address }: MailPerson): string =>
  name === '' || name === address ? address : `${name} <${address}>`

/** Message in the replica: enough to search, list and read it. */
export const messageEntry = (found: FoundMessage): ReplicaEntry => {
  const { place, mail, fingerprint } = found
  const ref = messageRefOf(fingerprint, place)
  const people = [...mail.to, ...mail.cc, ...mail.bcc].map(shownPerson).join('\n')
  const names = found.attachments.map(({ name }) => name).join('\n')
  const body = {
    ref,
    fingerprint,
    uid: place.uid,
    uidvalidity: place.uidvalidity,
    message_id: mail.message_id,
    references: mail.references,
    subject: mail.subject,
    from: mail.from,
    to: mail.to,
    cc: mail.cc,
    bcc: mail.bcc,
    reply_to: mail.reply_to,
    date: mail.date,
    received_ms: found.received_ms,
    text: mail.text,
    text_from_html: mail.text_from_html,
    html: mail.html,
    imap_flags: found.flags.filter((flag) => flag !== '\\Recent'),
    attachments: found.attachments.map((attachment) => ({ ...attachment })),
    attachments_total: found.attachments_total,
    truncated: found.truncated,
    damaged: found.damaged,
  } satisfies MailMessage & JsonObject
  return {
    collection: place.folder,
    id: entryIdOf(place),
    version: found.modseq ?? [...found.flags].toSorted().join(' '),
    sort_ms: found.received_ms,
    until_ms: found.received_ms,
    title: mail.subject,
    from: mail.from ? shownPerson(mail.from).slice(0, 1_000) : '',
    text: `${people}\n${names}\n${mail.text}`.slice(0, textMax).toWellFormed(),
    flags: [...flagWords(found.flags), ...(found.attachments_total > 0 ? ['attachment'] : [])],
    keys: [ref, contentKeyOf(fingerprint), ...(mail.message_id ? [mail.message_id] : [])],
    body,
    size_bytes: found.size_bytes,
  }
}
