import fc from 'fast-check'
import { expect, test } from 'vitest'
import { headerFault } from './addresses.ts'
import {
  forwardSubject,
  forwardText,
  replyRecipients,
  replySubject,
  replyText,
  threadOf,
} from './answers.ts'
import { contentKeyOfRef, type MailMessage } from './message.ts'

const person = (address: string, name = '') => ({ name, address })

const message = (change: Partial<MailMessage> = {}): MailMessage => ({
  ref: 'mail-0f3c5a7e9b1d2f4a6c8e0b1d-9d4e1f23-42',
  fingerprint: '0f3c5a7e9b1d2f4a6c8e0b1d',
  uid: 42,
  uidvalidity: '1',
  message_id: '<one@example.net>',
  references: [],
  subject: 'Offer',
  from: person('ben@example.net', 'Ben'),
  to: [person('ana@example.org')],
  cc: [],
  bcc: [],
  reply_to: [],
  date: null,
  received_ms: 0,
  text: 'Apples?\n> earlier',
  text_from_html: false,
  html: null,
  imap_flags: [],
  attachments: [],
  attachments_total: 0,
  truncated: false,
  damaged: false,
  ...change,
})

const own = 'ana@example.org'

test('an answer goes to the sender, or where the sender asks', () => {
  expect(replyRecipients(message(), own, false)).toEqual({ to: ['ben@example.net'], cc: [] })
  const elsewhere = message({ reply_to: [person('desk@example.net')] })
  expect(replyRecipients(elsewhere, own, false).to).toEqual(['desk@example.net'])
  expect(replyRecipients(message({ from: null }), own, false).to).toEqual([])
})

test('an answer to all leaves out oneself, and nobody gets it twice', () => {
  const wide = message({
    to: [person('ANA@example.org'), person('Cleo@example.net')],
    cc: [person('cleo@example.net'), person('dora@example.net'), person('ben@example.net')],
  })
  expect(replyRecipients(wide, own, true)).toEqual({
    to: ['ben@example.net'],
    cc: ['Cleo@example.net', 'dora@example.net'],
  })
})

test('an answer to what one sent oneself goes to those it was sent to', () => {
  const sent = message({ from: person(own), to: [person('ben@example.net')] })
  expect(replyRecipients(sent, own, false).to).toEqual(['ben@example.net'])
})

test('a subject is marked once, and what strangers hid in it is taken out', () => {
  expect(replySubject('Offer')).toBe('Re: Offer')
  expect(replySubject('RE: Offer')).toBe('RE: Offer')
  expect(forwardSubject('Offer')).toBe('Fwd: Offer')
  expect(forwardSubject('FW: Offer')).toBe('FW: Offer')
  expect(replySubject('a\r\nBcc: x =?utf-8?q?b=0D=0A?= \u202ec')).toBe('Re: a Bcc: x c')
  expect(replySubject('x'.repeat(5_000)).length).toBeLessThan(998)
})

test('whatever a subject is, it can be answered and passed on', () => {
  const parts = ['=?', '?=', '?q?', '?B?', 'utf-8', 'a', ' ', '\r\n', '\u0000', '\u2028', '\ud800']
  const subject = fc
    .array(fc.constantFrom(...parts), { maxLength: 30 })
    .map((list) => list.join(''))
  fc.assert(
    fc.property(subject, (text) => {
      expect(headerFault(replySubject(text))).toBeNull()
      expect(headerFault(forwardSubject(text))).toBeNull()
    }),
    { numRuns: 2_000 },
  )
})

test('what is answered stands below, marked line by line', () => {
  expect(replyText('No.\n', message(), '2026-01-05')).toBe(
    'No.\n\nOn 2026-01-05, Ben <ben@example.net> wrote:\n> Apples?\n>> earlier\n',
  )
  const long = replyText('No.', message({ text: 'x\n'.repeat(50_000) }), '')
  expect(long.length).toBeLessThan(50_000)
  expect(long).toContain('> […]')
})

test('what is passed on says whose it was', () => {
  expect(forwardText('', message(), '2026-01-05')).toBe(
    '---------- Forwarded message ----------\nFrom: Ben <ben@example.net>\nDate: 2026-01-05\nSubject: Offer\nTo: ana@example.org\n\nApples?\n> earlier\n',
  )
  const tricky = message({ subject: 'a\nTo: eve@example.net' })
  expect(forwardText('', tricky, '')).toContain('Subject: a To: eve@example.net\n')
})

test('a thread keeps its first and its latest ids, and only those that are ids', () => {
  expect(threadOf(message({ references: ['<zero@example.net>', 'no id', '<a b>'] }))).toEqual({
    in_reply_to: '<one@example.net>',
    references: ['<zero@example.net>', '<one@example.net>'],
  })
  const references = Array.from({ length: 60 }, (_, n) => `<r${n}@example.net>`)
  const long = threadOf(message({ references })).references
  expect(long).toHaveLength(21)
  expect([long[0], long.at(-1)]).toEqual(['<r0@example.net>', '<one@example.net>'])
  expect(threadOf(message({ message_id: null }))).toEqual({ in_reply_to: null, references: [] })
})

test('an id tells the content it stands for, and nothing else does', () => {
  expect(contentKeyOfRef('mail-0f3c5a7e9b1d2f4a6c8e0b1d-9d4e1f23-42')).toBe(
    'content:0f3c5a7e9b1d2f4a6c8e0b1d',
  )
  for (const other of ['', 'mail-x', 'content:0f3c5a7e9b1d2f4a6c8e0b1d', '<one@example.net>'])
    expect(contentKeyOfRef(other)).toBeNull()
})

test('says so where the message that is answered or passed on is only there in part', () => {
  const part = message({ text: 'Apples', truncated: true })
  expect(forwardText('', part, 'today')).toMatch(/Apples\n\[The message goes on; .*\]\n$/)
  expect(replyText('No.', part, 'today')).toMatch(/> Apples\n> \[…\]\n$/)
  expect(forwardText('', message(), 'today')).not.toContain('goes on')
  expect(replyText('No.', message(), 'today')).not.toContain('[…]')
})
