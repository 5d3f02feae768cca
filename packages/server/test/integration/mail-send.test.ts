import { hash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '@gatehouse/server/ports/json'
import { makeCertificate } from '@gatehouse/testkit/mail-server/certificate'
import { Dovecot } from '@gatehouse/testkit/mail-server/dovecot'
import type { SmtpFault, SmtpStep } from '@gatehouse/testkit/mail-server/smtp-faults'
import {
  SmtpReceiver,
  type SmtpReceiverOptions,
} from '@gatehouse/testkit/mail-server/smtp-receiver'
import { TcpGate } from '@gatehouse/testkit/mail-server/tcp-gate'
import { hasProgram } from '@gatehouse/testkit/programs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type MailRig, mailText, openRig, outgoing } from '../mail/kit.ts'

const sendWith = async (
  rig: MailRig,
  args: JsonObject,
  files: { name: string; text: string }[] = [],
) => {
  const write = rig.write(
    'send',
    args,
    files.map(({ name, text }) => ({ name, content_type: 'text/plain', bytes: Buffer.from(text) })),
  )
  const capture = await rig.capture(write)
  return { write, capture, outcome: await rig.execute(write, capture) }
}

const attachment = (name: string, text: string) => ({
  name,
  content_type: 'text/plain',
  size_bytes: text.length,
  sha256: hash('sha256', text),
})

describe.skipIf(!hasProgram('dovecot'))('sending mail', () => {
  let server: Dovecot
  let folder: string
  let tls: { cert: string; key: string }
  beforeAll(async () => {
    server = await Dovecot.start()
    folder = mkdtempSync(join(tmpdir(), 'gatehouse-mail-'))
    tls = await makeCertificate(folder)
  })
  afterAll(async () => {
    await server[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })

  const receive = (options: SmtpReceiverOptions = {}) =>
    SmtpReceiver.open({ users: { 'ana@example.org': 'password-of-ana' }, ...options })

  test('a mail arrives once, as it was written, and a copy lies in the folder Sent', async () => {
    await using smtp = await receive()
    await using rig = await openRig(server, smtp)
    const args = outgoing({
      to: ['ben@example.net', 'cleo@example.net'],
      cc: ['dora@example.net'],
      bcc: ['eve@example.net'],
      subject: 'Grüße aus Köln, mit einem Betreff, der viel länger ist als eine Zeile sein darf',
      text: 'Ünïcode — and a line that is quite long '.repeat(40),
      html: '<p>Ünïcode</p>',
      in_reply_to: '<one@example.net>',
      references: ['<zero@example.net>', '<one@example.net>'],
      attachments: [attachment('notes.txt', 'remember')],
    })
    const { outcome } = await sendWith(rig, args, [{ name: 'notes.txt', text: 'remember' }])
    expect(outcome).toMatchObject({
      kind: 'executed',
      result: { message_id: args['message_id'], sent_copy: 'Sent' },
    })
    expect(smtp.deliveries).toHaveLength(1)
    const [delivery] = smtp.deliveries
    expect(delivery).toMatchObject({
      message_id: args['message_id'],
      from: 'ana@example.org',
      to: ['ben@example.net', 'cleo@example.net', 'dora@example.net', 'eve@example.net'],
      user: 'ana@example.org',
      bareLineEnds: false,
    })
    const text = delivery?.raw.toString('latin1') ?? ''
    expect(text).toMatch(/^In-Reply-To: <one@example.net>\r$/m)
    expect(text).toMatch(/^References: <zero@example.net> <one@example.net>\r$/m)
    expect(text).not.toMatch(/^bcc:/im)
    expect(text.split('\r\n').every((line) => line.length <= 998)).toBe(true)
    await rig.sync()
    const copy = (await rig.list('Sent')).find(
      ({ body }) => body['message_id'] === args['message_id'],
    )
    expect(copy?.body).toMatchObject({
      subject: args['subject'],
      bcc: [{ name: '', address: 'eve@example.net' }],
      attachments: [{ name: 'notes.txt', content_type: 'text/plain' }],
      imap_flags: ['\\Seen'],
    })
  })

  test('the answered message is marked as answered', async () => {
    await using smtp = await receive()
    server.maildir().put('INBOX', mailText({ Subject: 'Question' }))
    await using rig = await openRig(server, smtp)
    await rig.sync()
    const [target] = await rig.targets('INBOX')
    const original = {
      folder: 'INBOX',
      uidvalidity: target?.['uidvalidity'] ?? '',
      uid: target?.['uid'] ?? 0,
      mark: '\\Answered',
    }
    await sendWith(rig, outgoing({ original }))
    await rig.sync()
    const question = (await rig.list('INBOX')).find(({ title }) => title === 'Question')
    expect(question?.flags).toContain('answered')
  })

  // Consequences of each failure. Before the first byte of the message nothing can have been taken.
  const cases: [SmtpStep, SmtpFault['how'], 'not_executed' | 'unknown', number][] = [
    ['greeting', 554, 'not_executed', 0],
    ['greeting', 'drop', 'not_executed', 0],
    ['greeting', 'hang', 'not_executed', 0],
    ['greeting', 'garbage', 'not_executed', 0],
    ['ehlo', 'drop', 'not_executed', 0],
    ['auth', 535, 'not_executed', 0],
    ['auth', 'drop', 'not_executed', 0],
    ['mail', 451, 'not_executed', 0],
    ['mail', 'drop', 'not_executed', 0],
    ['rcpt', 550, 'not_executed', 0],
    ['rcpt', 'hang', 'not_executed', 0],
    ['data', 451, 'not_executed', 0],
    ['data', 'drop', 'not_executed', 0],
    ['data', 'hang', 'not_executed', 0],
    ['body', 552, 'not_executed', 0],
    ['body', 'drop', 'unknown', 0],
    ['body', 'hang', 'unknown', 0],
    ['accepted', 'drop', 'unknown', 1],
    ['accepted', 'hang', 'unknown', 1],
    ['accepted', 'garbage', 'unknown', 1],
    ['accepted', 451, 'not_executed', 1],
  ]
  test.for(cases)('a server that fails at %s with %s: %s', async ([at, how, kind, taken]) => {
    await using smtp = await receive()
    await using rig = await openRig(server, smtp)
    smtp.fail({ at, how })
    const sent = () => sendWith(rig, outgoing())
    const { outcome, write, capture } = await (how === 'hang' ? rig.quickly(sent) : sent())
    expect(outcome.kind).toBe(kind)
    expect(smtp.deliveries).toHaveLength(taken)
    expect(JSON.stringify(outcome)).not.toContain('password-of-ana')
    // No copy was kept, so nobody can tell.
    expect((await rig.prove(write, capture)).kind).toBe('unknown')
  })

  test('what will be refused again is not tried again, what may pass later is', async () => {
    await using smtp = await receive({ unknown: ['nobody@example.net'] })
    await using rig = await openRig(server, smtp)
    const refused = await sendWith(rig, outgoing({ to: ['nobody@example.net'] }))
    expect(refused.outcome).toMatchObject({ kind: 'not_executed', retry: 'never' })
    smtp.fail({ at: 'mail', how: 451 })
    expect((await sendWith(rig, outgoing())).outcome).toMatchObject({
      kind: 'not_executed',
      retry: { after_ms: null },
    })
  })

  test('a recipient that is refused among others is named in the result', async () => {
    await using smtp = await receive({ unknown: ['nobody@example.net'] })
    await using rig = await openRig(server, smtp)
    const { outcome } = await sendWith(
      rig,
      outgoing({ to: ['ben@example.net', 'nobody@example.net'] }),
    )
    expect(outcome).toMatchObject({
      kind: 'executed',
      result: { refused_recipients: ['nobody@example.net'] },
    })
  })

  test('a copy in the mailbox proves that it was sent', async () => {
    await using smtp = await receive()
    await using rig = await openRig(server, smtp)
    const { write, capture } = await sendWith(rig, outgoing())
    expect(await rig.prove(write, capture)).toMatchObject({
      kind: 'executed',
      result: { sent_copy: 'Sent' },
    })
  })

  test('a mail that was sent counts as sent although the copy could not be kept', async () => {
    await using smtp = await receive()
    await using rig = await openRig({ imapPort: 1 }, smtp)
    const { outcome } = await sendWith(rig, outgoing())
    expect(outcome.kind).toBe('executed')
    expect(smtp.deliveries).toHaveLength(1)
  })

  test('that a mail was taken is told before its copy is kept, which may hang', async () => {
    await using smtp = await receive()
    await using gate = await TcpGate.open(server.imapPort)
    gate.behave({ kind: 'silent' })
    await using rig = await openRig({ imapPort: gate.port }, smtp)
    const write = rig.write('send', outgoing())
    const cut = new AbortController()
    const told: JsonObject[] = []
    const executed = (result: JsonObject) => {
      told.push(result)
      cut.abort()
    }
    await rig
      .operation('send')
      .execute(rig.account, write, await rig.capture(write), cut.signal, executed)
    const { message_id } = write.arguments
    expect(told).toMatchObject([{ message_id, sent_copy: expect.stringMatching(/^unknown:/) }])
    expect(smtp.deliveries).toHaveLength(1)
  })

  test('nothing in a text can end the mail and begin another', async () => {
    await using smtp = await receive({ lenient: true })
    await using rig = await openRig(server, smtp)
    const text =
      'a\n.\nb\r.\rc\r\n.\r\nMAIL FROM:<x@y.z>\r\nRCPT TO:<q@y.z>\r\nDATA\r\n\r\nsmuggled\r\n.\r\nend'
    await sendWith(rig, outgoing({ text, html: `<p>${text}</p>` }))
    expect(smtp.deliveries).toHaveLength(1)
    expect(smtp.deliveries[0]?.bareLineEnds).toBe(false)
    expect(smtp.deliveries[0]?.raw.toString()).toContain('smuggled')
  })

  test.for([
    { subject: 'a\r\nBcc: eve@example.net' },
    { to: ['ben@example.net\r\nRCPT TO:<eve@example.net>'] },
    { to: ['ben@example.net> SIZE=1'] },
    { cc: ['"x\n"@example.net'] },
    { from: { name: 'Ana\nBcc: eve@example.net', address: 'ana@example.org' } },
    { message_id: '<a@b>\r\nX: y' },
    { in_reply_to: '<a b@c>' },
    { references: ['<a@b>\n'] },
    { attachments: [{ ...attachment('a\r\nX: y.txt', 'x') }] },
  ] satisfies JsonObject[])('a header that would break out is refused: %j', async (change) => {
    await using smtp = await receive()
    await using rig = await openRig(server, smtp)
    await expect(sendWith(rig, outgoing(change), [{ name: 'a', text: 'x' }])).rejects.toThrow()
    expect(smtp.connections).toBe(0)
  })

  test('attachments other than those that were buffered are never sent', async () => {
    await using smtp = await receive()
    await using rig = await openRig(server, smtp)
    const args = outgoing({ attachments: [attachment('a.txt', 'approved')] })
    await expect(sendWith(rig, args, [{ name: 'a.txt', text: 'swapped' }])).rejects.toThrow(
      'not those that were buffered',
    )
    await expect(sendWith(rig, args)).rejects.toThrow('not those that were buffered')
    expect(smtp.connections).toBe(0)
  })

  test.for([
    { kind: 'implicit TLS', security: 'tls', implicit: true },
    { kind: 'STARTTLS', security: 'starttls', implicit: false },
  ])('sends under $kind, and logs in only there', async ({ security, implicit }) => {
    await using smtp = await receive({ tls: { ...tls, implicit }, tlsRequired: true })
    await using rig = await openRig(server, smtp, {
      smtp_host: 'localhost',
      smtp_security: security,
      ca_certificate: tls.cert,
    })
    const { outcome } = await sendWith(rig, outgoing())
    expect(outcome.kind).toBe('executed')
    expect(smtp.deliveries[0]).toMatchObject({ secure: true, user: 'ana@example.org' })
  })

  test('never sends in the clear where STARTTLS was asked for, nor to whom it cannot trust', async () => {
    await using clear = await receive()
    await using one = await openRig(server, clear, { smtp_security: 'starttls' })
    expect((await sendWith(one, outgoing())).outcome.kind).toBe('not_executed')
    await using secure = await receive({ tls: { ...tls, implicit: true } })
    await using two = await openRig(server, secure, { smtp_security: 'tls' })
    const { outcome } = await sendWith(two, outgoing())
    expect(outcome).toMatchObject({ kind: 'not_executed' })
    expect(JSON.stringify(outcome)).toContain('is not trusted')
    expect(
      [...clear.commands, ...secure.commands].filter((line) => line.startsWith('AUTH')),
    ).toEqual([])
  })
})
