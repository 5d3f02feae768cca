import type { HtmlToTextOptions } from 'html-to-text'
import type { MailPerson } from '../../../domain/mail/message.ts'

/** Raw pieces of a message: its header, and the texts in it with just enough of a header to be decoded. */
export type MailPieces = {
  readonly header: Uint8Array
  readonly parts: readonly { readonly kind: 'plain' | 'html'; readonly bytes: Uint8Array }[]
  /** In place of the parts where the server could not say how the message is built: its beginning, raw. */
  readonly source: Uint8Array | null
}

/** A message in plain words; nothing in it is longer than a screenful of pages. */
export type ReadMail = {
  readonly subject: string
  readonly from: MailPerson | null
  readonly to: readonly MailPerson[]
  readonly cc: readonly MailPerson[]
  readonly bcc: readonly MailPerson[]
  readonly reply_to: readonly MailPerson[]
  /** As the sender claims; ISO 8601, null where it is no date. */
  readonly date: string | null
  readonly message_id: string | null
  readonly references: readonly string[]
  readonly text: string
  readonly html: string | null
  /** Whether `text` was made from HTML. */
  readonly text_from_html: boolean
  readonly attachments: readonly { readonly name: string; readonly content_type: string }[]
}

type Mailbox = { readonly name?: string; readonly address?: string; readonly group?: Mailbox[] }
type Parsed = {
  readonly subject?: string
  readonly from?: Mailbox
  readonly sender?: Mailbox
  readonly to?: Mailbox[]
  readonly cc?: Mailbox[]
  readonly bcc?: Mailbox[]
  readonly replyTo?: Mailbox[]
  readonly date?: string
  readonly messageId?: string
  readonly inReplyTo?: string
  readonly references?: string
  readonly text?: string
  readonly html?: string
  readonly attachments: readonly {
    readonly filename: string | null
    readonly mimeType: string
    readonly content: unknown
  }[]
}

/** What `readMail` is handed, since it reaches for nothing by itself. */
export type MailLibraries = {
  readonly parse: (raw: Uint8Array, options: object) => Promise<Parsed>
  readonly htmlToText: (html: string, options: HtmlToTextOptions) => string
}

/**
 * Turns what strangers wrote into plain words.
 *
 * @NOTE It runs in a thread of its own, made from the text of this very function, so it must not use
 * anything from outside but its arguments.
 */
export const readMail = async (
  pieces: MailPieces,
  { parse, htmlToText }: MailLibraries,
): Promise<ReadMail> => {
  const charsMax = 262_144
  const limits = { maxNestingDepth: 32, maxHeadersSize: 262_144, maxRfc822NestingDepth: 0 }
  // No NUL, which PostgreSQL refuses, no other control but line ends and tabs, no half of a character.
  const clean = (text: string, max: number): string =>
    text
      .slice(0, max)
      .toWellFormed()
      .replace(/\r\n?/g, '\n')
      .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')
  const line = (text: string | undefined, max: number): string =>
    clean(text ?? '', max)
      .replace(/\s+/g, ' ')
      .trim()
  const people = (list: readonly Mailbox[] | undefined): MailPerson[] => {
    const found: MailPerson[] = []
    for (const one of list ?? [])
      for (const { name, address } of one.group ?? [one])
        if (found.length < 500) found.push({ name: line(name, 200), address: line(address, 320) })
    return found
  }
  const ids = (text: string | undefined): string[] => [
    ...new Set([...(text ?? '').slice(0, 65_536).matchAll(/<[^<>\s]{1,990}>/g)].map(([id]) => id)),
  ]
  const toText = (html: string): string =>
    htmlToText(html.slice(0, charsMax), {
      wordwrap: false,
      limits: { maxInputLength: charsMax, maxDepth: 48, maxChildNodes: 4_000, ellipsis: '…' },
      selectors: [
        { selector: 'img', format: 'skip' },
        { selector: 'script', format: 'skip' },
        { selector: 'style', format: 'skip' },
        { selector: 'title', format: 'skip' },
        { selector: 'a', options: { hideLinkHrefIfSameAsText: true, ignoreHref: false } },
        { selector: 'table', format: 'block' },
        { selector: 'h1', options: { uppercase: false } },
        { selector: 'h2', options: { uppercase: false } },
        { selector: 'h3', options: { uppercase: false } },
      ],
    })
  // The header alone: whatever it says of the body must not count.
  const head = await parse(pieces.header, limits)
  const plain: string[] = []
  const html: string[] = []
  let attachments: ReadMail['attachments'] = []
  if (pieces.source) {
    const whole = await parse(pieces.source, limits)
    if (whole.text) plain.push(whole.text)
    if (whole.html) html.push(whole.html)
    attachments = whole.attachments.slice(0, 100).map(({ filename, mimeType }) => ({
      name: line(filename ?? '', 255).replace(/[\\/]/g, '_'),
      content_type: line(mimeType, 200),
    }))
  }
  for (const part of pieces.parts) {
    const read = await parse(part.bytes, limits)
    if (part.kind === 'plain' && read.text) plain.push(read.text)
    if (part.kind === 'html' && read.html) html.push(read.html)
  }
  const markup = html.join('\n').slice(0, charsMax)
  const said = plain.join('\n').trim()
  const when = head.date === undefined ? Number.NaN : Date.parse(head.date)
  return {
    subject: line(head.subject, 1_000),
    from: people(head.from ? [head.from] : head.sender ? [head.sender] : [])[0] ?? null,
    to: people(head.to),
    cc: people(head.cc),
    bcc: people(head.bcc),
    reply_to: people(head.replyTo),
    date: Number.isNaN(when) || Math.abs(when) > 8.64e14 ? null : new Date(when).toISOString(),
    message_id: ids(head.messageId)[0] ?? null,
    references: [...new Set([...ids(head.references), ...ids(head.inReplyTo)])].slice(-50),
    text: clean(said !== '' ? said : markup === '' ? '' : toText(markup), charsMax),
    html: markup === '' ? null : clean(markup, charsMax),
    text_from_html: said === '' && markup !== '',
    attachments,
  }
}
