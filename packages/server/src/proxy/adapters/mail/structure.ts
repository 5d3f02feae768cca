import type { MessageStructureObject } from 'imapflow'

/** A piece of text of a message, as the server numbers it. */
export type TextPart = {
  readonly part: string
  readonly kind: 'plain' | 'html'
  readonly charset: string
  readonly encoding: string
  readonly flowed: boolean
  readonly size_bytes: number
}

export type AttachmentPart = {
  readonly part: string
  readonly name: string
  readonly content_type: string
  /** As it travels; in base64 a third more than the content. */
  readonly size_bytes: number
  readonly inline: boolean
}

export type Outline = {
  readonly texts: readonly TextPart[]
  readonly attachments: readonly AttachmentPart[]
  readonly attachments_total: number
  /** Whether there is more than was looked through. */
  readonly more: boolean
}

const textsMax = 16
const attachmentsMax = 100
/** A message of ten thousand parts is looked through no further. */
const nodesMax = 2_000

const encodings = new Set(['7bit', '8bit', 'binary', 'base64', 'quoted-printable'])

const word = (value: string | undefined, fallback: string): string =>
  value !== undefined && /^[A-Za-z0-9][A-Za-z0-9._:+-]{0,63}$/.test(value)
    ? value.toLowerCase()
    : fallback

const typeOf = (node: MessageStructureObject): string =>
  /^[a-z0-9][\w.+-]{0,126}\/[a-z0-9][\w.+-]{0,126}$/i.test(node.type)
    ? node.type.toLowerCase()
    : 'application/octet-stream'

const nameOf = (node: MessageStructureObject): string => {
  const given = node.dispositionParameters?.['filename'] ?? node.parameters?.['name'] ?? ''
  // A name is only shown, yet somebody may save under it: no folder, no control or bidi characters.
  return given
    .replace(/[\p{Cc}\p{Cf}]/gu, '')
    .replace(/[\\/]/g, '_')
    .slice(0, 255)
}

const textPartOf = (node: MessageStructureObject, kind: TextPart['kind']): TextPart => ({
  part: node.part ?? '1',
  kind,
  charset: word(node.parameters?.['charset'], 'utf-8'),
  encoding: encodings.has(word(node.encoding, '')) ? word(node.encoding, '') : '7bit',
  flowed: word(node.parameters?.['format'], '') === 'flowed',
  size_bytes: node.size ?? 0,
})

/** Outline of a message: what there is to read and what is attached, without anything of it being fetched. */
export const outlineOf = (root: MessageStructureObject): Outline => {
  const texts: TextPart[] = []
  const attachments: AttachmentPart[] = []
  let total = 0
  let seen = 0
  const attach = (node: MessageStructureObject): void => {
    total += 1
    if (attachments.length >= attachmentsMax) return
    attachments.push({
      part: node.part ?? '1',
      name: nameOf(node),
      content_type: typeOf(node),
      size_bytes: node.size ?? 0,
      inline: node.disposition?.toLowerCase() === 'inline',
    })
  }
  const waiting = [root]
  for (let node = waiting.pop(); node && seen < nodesMax; node = waiting.pop()) {
    seen += 1
    const type = typeOf(node)
    const kind = type === 'text/plain' ? 'plain' : type === 'text/html' ? 'html' : null
    // A mail in a mail is an attachment: what it holds is its own.
    if (node.childNodes && type.startsWith('multipart/'))
      waiting.push(...node.childNodes.toReversed())
    else if (kind && node.disposition?.toLowerCase() !== 'attachment' && texts.length < textsMax)
      texts.push(textPartOf(node, kind))
    else attach(node)
  }
  const more = waiting.length > 0 || total > attachments.length
  return { texts, attachments, attachments_total: total, more }
}
