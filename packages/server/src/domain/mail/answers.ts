import type { MailMessage, MailPerson } from './message.ts'

const prefixed = (prefix: string, pattern: RegExp, subject: string): string =>
  pattern.test(subject) ? subject : `${prefix}${subject}`.trimEnd()

// A stranger's subject may be anything; an answer to it must be one that can be sent.
const plain = (subject: string): string =>
  subject
    .replace(/=\?[^?\s]+\?[bq]\?[^?\s]*\?=/gi, '')
    .replaceAll('=?', '= ?')
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029\s]+/gu, ' ')
    .trim()
    .slice(0, 900)
    .toWellFormed()

export const replySubject = (subject: string): string => prefixed('Re: ', /^re:/i, plain(subject))
export const forwardSubject = (subject: string): string =>
  prefixed('Fwd: ', /^(fwd?|wg):/i, plain(subject))

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

/** Recipients of an answer: as the sender asks, and for all the others, too, without oneself and nobody twice. */
export const replyRecipients = (
  message: Pick<MailMessage, 'from' | 'reply_to' | 'to' | 'cc'>,
  own: string,
  all: boolean,
): { readonly to: readonly string[]; readonly cc: readonly string[] } => {
  const addresses = (people: readonly MailPerson[]) =>
    people.map(({ address }) => address).filter((address) => address !== '')
  const asked = addresses(message.reply_to)
  const sender = message.from ? addresses([message.from]) : []
  // An answer to what one sent oneself goes to those it was sent to.
  const fromSelf = sender.some((address) => same(address, own)) && asked.length === 0
  const first = fromSelf ? addresses(message.to) : asked.length > 0 ? asked : sender
  const unique = (list: readonly string[], without: readonly string[]) =>
    list.filter(
      (one, at) =>
        !without.some((other) => same(other, one)) &&
        list.findIndex((other) => same(other, one)) === at,
    )
  const to = unique(first, [])
  const others = all ? [...addresses(message.to), ...addresses(message.cc)] : []
  return { to, cc: unique(others, [own, ...to]) }
}

const quotedCharsMax = 20_000

export const shownPerson = ({ name, address }: MailPerson): string =>
  name === '' || same(name, address) ? address : `${name} <${address}>`

const people = (list: readonly MailPerson[]): string => list.map(shownPerson).join(', ')

const oneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')

/** The text of an answer (`when` the answered one was sent), with what it answers below. */
export const replyText = (body: string, message: MailMessage, when: string): string => {
  const who = message.from ? oneLine(shownPerson(message.from)) : 'somebody'
  const cut = message.truncated || message.text.length > quotedCharsMax
  const quoted = message.text
    .slice(0, quotedCharsMax)
    .toWellFormed()
    .split('\n')
    .map((line) => (line.startsWith('>') ? `>${line}` : `> ${line}`.trimEnd()))
  return [body.trimEnd(), '', `On ${when}, ${who} wrote:`, ...quoted, ...(cut ? ['> […]'] : []), '']
    .join('\n')
    .replace(/^\n+/, '')
}

/** The text of what is passed on (`when` it was sent), with what it was below. */
export const forwardText = (body: string, message: MailMessage, when: string): string =>
  [
    ...(body.trim() === '' ? [] : [body.trimEnd(), '']),
    '---------- Forwarded message ----------',
    `From: ${message.from ? oneLine(shownPerson(message.from)) : ''}`,
    `Date: ${when}`,
    `Subject: ${oneLine(message.subject)}`,
    `To: ${oneLine(people(message.to))}`,
    ...(message.cc.length > 0 ? [`Cc: ${oneLine(people(message.cc))}`] : []),
    '',
    message.text,
    // Said to whoever approves it and whoever gets it: more of the message is in the mailbox alone.
    ...(message.truncated ? ['[The message goes on; the rest of it was not copied.]'] : []),
    '',
  ].join('\n')

const idPattern = /^<[\x21-\x3b\x3d\x3f-\x7e]+>$/

/** References that tie an answer to its thread: the ids of those before, the first and the latest kept. */
export const threadOf = (
  message: Pick<MailMessage, 'message_id' | 'references'>,
): { readonly in_reply_to: string | null; readonly references: readonly string[] } => {
  const id =
    message.message_id !== null && idPattern.test(message.message_id) ? message.message_id : null
  const before = message.references.filter((one) => idPattern.test(one) && one !== id)
  const kept = before.length > 20 ? [...before.slice(0, 1), ...before.slice(-19)] : before
  return { in_reply_to: id, references: id === null ? kept : [...kept, id] }
}
