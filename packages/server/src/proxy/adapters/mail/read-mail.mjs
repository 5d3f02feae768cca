// The program of the thread that a MailReader asks: turns what strangers wrote into plain words.
import { parentPort } from 'node:worker_threads'
import { convert } from 'html-to-text'
import PostalMime from 'postal-mime'

/**
 * @import { Address } from 'postal-mime'
 * @import { MailPerson } from '../../../domain/mail/message.ts'
 * @import { MailPieces, ReadMail } from './mail-reader.ts'
 */

const charsMax = 262_144
const limits = { maxNestingDepth: 32, maxHeadersSize: 262_144, maxRfc822NestingDepth: 0 }

/** @type {import('html-to-text').HtmlToTextOptions} */
const htmlOptions = {
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
}

/**
 * No NUL, which PostgreSQL refuses, no other control but line ends and tabs, no half of a character.
 *
 * @param {string} text
 * @param {number} max
 */
const clean = (text, max) =>
  text
    .slice(0, max)
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')

/**
 * @param {string | undefined} text
 * @param {number} max
 */
const line = (text, max) =>
  clean(text ?? '', max)
    .replace(/\s+/g, ' ')
    .trim()

/** @param {readonly Address[] | undefined} list */
const people = (list) => {
  /** @type {MailPerson[]} */
  const found = []
  for (const one of list ?? [])
    for (const { name, address } of one.group ?? [one])
      if (found.length < 500) found.push({ name: line(name, 200), address: line(address, 320) })
  return found
}

/** @param {string | undefined} text */
const ids = (text) => [
  ...new Set([...(text ?? '').slice(0, 65_536).matchAll(/<[^<>\s]{1,990}>/g)].map(([id]) => id)),
]

/** @param {string} html */
const toText = (html) => convert(html.slice(0, charsMax), htmlOptions)

/**
 * The texts of a message, and what is attached to it.
 *
 * @param {MailPieces} pieces
 */
const readBody = async (pieces) => {
  /** @type {string[]} */
  const plain = []
  /** @type {string[]} */
  const html = []
  /** @type {ReadMail['attachments']} */
  let attachments = []
  if (pieces.source) {
    const whole = await PostalMime.parse(pieces.source, limits)
    if (whole.text) plain.push(whole.text)
    if (whole.html) html.push(whole.html)
    attachments = whole.attachments.slice(0, 100).map(({ filename, mimeType }) => ({
      name: line(filename ?? '', 255).replace(/[\\/]/g, '_'),
      content_type: line(mimeType, 200),
    }))
  }
  for (const part of pieces.parts) {
    const read = await PostalMime.parse(part.bytes, limits)
    if (part.kind === 'plain' && read.text) plain.push(read.text)
    if (part.kind === 'html' && read.html) html.push(read.html)
  }
  const said = plain.join('\n').trim()
  const markup = html.join('\n').slice(0, charsMax)
  return {
    text: clean(said !== '' ? said : markup === '' ? '' : toText(markup), charsMax),
    html: markup === '' ? null : clean(markup, charsMax),
    text_from_html: said === '' && markup !== '',
    attachments,
  }
}

/** @param {string | undefined} date */
const isoDate = (date) => {
  const when = date === undefined ? Number.NaN : Date.parse(date)
  return Number.isNaN(when) || Math.abs(when) > 8.64e14 ? null : new Date(when).toISOString()
}

/**
 * @param {MailPieces} pieces
 * @returns {Promise<ReadMail>}
 */
const readMail = async (pieces) => {
  // The header alone: whatever it says of the body must not count.
  const head = await PostalMime.parse(pieces.header, limits)
  const from = head.from ?? head.sender
  return {
    subject: line(head.subject, 1_000),
    from: people(from ? [from] : [])[0] ?? null,
    to: people(head.to),
    cc: people(head.cc),
    bcc: people(head.bcc),
    reply_to: people(head.replyTo),
    date: isoDate(head.date),
    message_id: ids(head.messageId)[0] ?? null,
    references: [...new Set([...ids(head.references), ...ids(head.inReplyTo)])].slice(-50),
    ...(await readBody(pieces)),
  }
}

/** @param {MailPieces} pieces */
const answer = async (pieces) => {
  try {
    parentPort?.postMessage({ read: await readMail(pieces) })
  } catch (error) {
    parentPort?.postMessage({ error: error instanceof Error ? error.message : String(error) })
  }
}

// Warnings of the libraries would put into our log what strangers wrote.
// oxlint-disable-next-line no-console
console.warn = () => {}

parentPort?.on('message', (pieces) => void answer(pieces))
parentPort?.postMessage({ ready: true })
