import { hash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Maildir } from '@gatehouse/testkit/mail-server/maildir'
import { hasProgram } from '@gatehouse/testkit/programs'
import { until } from '@gatehouse/testkit/until'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MailKit } from '../mail/agent-kit.ts'
import { mailText, stand } from '../mail/kit.ts'

const fill = (mail: Maildir) => {
  mail.put(
    'INBOX',
    mailText(
      {
        From: '"Your bank" <ben@example.net>',
        Subject: 'Offer of May',
        'Message-ID': '<offer@example.net>',
        References: '<first@example.net>',
        Cc: 'cleo@example.net, ana@example.org',
        Date: 'Mon, 5 Jan 2026 10:00:00 +0000',
      },
      'We offer apples.\r\n> earlier\r\n',
    ),
  )
  mail.put('INBOX', mailText({ Subject: 'Lunch', 'Reply-To': 'dora@example.net' }, 'Soup?\r\n'), [
    '\\Seen',
  ])
  mail.put('Junk', mailText({ Subject: 'Offer of millions' }))
}

const file = (box: MailKit, name: string, text: string) => {
  const folder = box.kit.workspace('alpha')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, name), text)
}

describe.skipIf(!hasProgram('dovecot'))('an agent with a mailbox', () => {
  test('finds new mail at once, because the server tells of it', async () => {
    await using box = await MailKit.open(fill)
    box.mail.put('INBOX', mailText({ Subject: 'Fresh bread' }))
    // Less than half of the time after which it would be asked anyway, however long that takes.
    let leftMs = 12_000
    const found = await until(async () => {
      const mails = await box.find('fresh')
      if (mails.length > 0) return mails
      const stepMs = Math.min(leftMs, 50)
      leftMs -= stepMs
      box.kit.clock.move(stepMs)
      await new Promise((resolve) => setTimeout(resolve, 20))
      return null
    })
    expect(found).toHaveLength(1)
  })

  test('finds, lists and reads mail, from the copy', async () => {
    await using box = await MailKit.open(fill)
    await box.gate.down()
    expect(await box.call('search', { query: 'offer app' })).toMatchObject({
      total: 1,
      messages: [
        {
          folder: 'INBOX',
          subject: 'Offer of May',
          from: { name: 'Your bank', address: 'ben@example.net' },
          unread: true,
          snippet: 'We offer apples. > earlier',
        },
      ],
      next_offset: null,
      service: { name: 'mail', status: 'connected' },
    })
    expect((await box.find('', 'Junk')).map(({ subject }) => subject)).toEqual([
      'Offer of millions',
    ])
    expect((await box.call('search', { unread: false }))['total']).toBe(1)
    expect((await box.call('search', { from: 'bank', since: '2020-01-01' }))['total']).toBe(1)
    expect(await box.failure('search', { folder: 'Nowhere' })).toBe('MailFolderNotFound')
    const { folders } = await box.call('folders')
    expect(folders).toContainEqual({ folder: 'INBOX', use: 'inbox', messages: 2, unread: 1 })
    const read = await box.call('read', { message_id: await box.idOf('apples') })
    expect(read).toMatchObject({
      message: {
        subject: 'Offer of May',
        cc: [
          { name: '', address: 'cleo@example.net' },
          { name: '', address: 'ana@example.org' },
        ],
        sent_at: '2026-01-05T10:00:00.000Z',
      },
      text: 'We offer apples.\n> earlier',
      html: null,
      attachment: null,
    })
    expect(await box.failure('read', { message_id: 'mail-nothing' })).toBe('MailNotFound')
  })

  test('who was not named has no mailbox', async () => {
    await using box = await MailKit.open(fill)
    expect(await box.failure('search', {}, 'beta')).toBe('ServiceNotFound')
    const ids = { message_ids: [await box.idOf('apples')] }
    expect(await box.failure('delete', ids, 'beta')).toBe('ServiceNotFound')
  })

  test('a mail that is cancelled in time is never sent, another is sent once', async () => {
    await using box = await MailKit.open(fill)
    file(box, 'notes.txt', 'remember')
    const letter = { to: ['ben@example.net'], body: 'Dear Ben', attachments: ['notes.txt'] }
    const first = await box.call('send', { ...letter, subject: 'First' })
    const second = await box.call('send', { ...letter, subject: 'Second' })
    expect(first).toMatchObject({ status: 'buffered', undo_until: null, attachments: 1 })
    await box.kit.app.cancelWrite(box.kit.operator(), { write_id: String(first['write_id']) })
    // The content that was read when the mail was written is sent.
    file(box, 'notes.txt', 'changed')
    const done = await box.finalized(second['write_id'], 'executed')
    expect(box.smtp.deliveries).toHaveLength(1)
    expect(box.smtp.deliveries[0]?.raw.toString()).toContain('Second')
    const content = Buffer.from('remember').toString('base64')
    expect(box.smtp.deliveries[0]?.raw.toString()).toContain(content)
    expect(box.smtp.countOf(String(done.result?.['message_id']))).toBe(1)
    await until(async () => (await box.find('second', 'Sent')).length === 1)
    expect((await box.write(first['write_id'])).status).toBe('cancelled')
  })

  test('an answer goes where the sender asks, in the thread, with what it answers', async () => {
    await using box = await MailKit.open(fill)
    const one = await box.call('reply', { message_id: await box.idOf('apples'), body: 'No.' })
    expect(one).toMatchObject({ to: ['ben@example.net'], cc: [], subject: 'Re: Offer of May' })
    const two = await box.call('reply', { message_id: await box.idOf('soup'), body: 'Yes.' })
    expect(two).toMatchObject({ to: ['dora@example.net'] })
    const three = await box.call('reply', {
      message_id: await box.idOf('apples'),
      body: 'All.',
      reply_all: true,
    })
    expect(three).toMatchObject({ to: ['ben@example.net'], cc: ['cleo@example.net'] })
    await box.finalized(one['write_id'], 'executed')
    const raw = box.smtp.deliveries.map((one) => one.raw.toString()).find((t) => t.includes('No.'))
    expect(raw).toMatch(/^In-Reply-To: <offer@example.net>\r$/m)
    expect(raw).toMatch(/^References: <first@example.net> <offer@example.net>\r$/m)
    expect(raw).toContain('> We offer apples.\r\n>> earlier')
    await until(async () => {
      await box.sync()
      const read = await box.call('read', { message_id: await box.idOf('apples', 'INBOX') })
      return (read['message'] as { flags: string[] }).flags.includes('answered')
    })
  })

  test('what is passed on takes its attachments along', async () => {
    await using box = await MailKit.open((mail) =>
      mail.put(
        'INBOX',
        mailText(
          { Subject: 'Photos', 'Content-Type': 'multipart/mixed; boundary=b' },
          '--b\r\n\r\nLook.\r\n--b\r\nContent-Type: image/png; name=a.png\r\nContent-Disposition: attachment; filename=a.png\r\nContent-Transfer-Encoding: base64\r\n\r\niVBORw0KGgo=\r\n--b--\r\n',
        ),
      ),
    )
    const message_id = await box.idOf('photos')
    const read = await box.call('read', { message_id, attachment: '2' })
    expect(read['attachment']).toMatchObject({
      name: 'a.png',
      content_type: 'image/png',
      encoding: 'base64',
      content: 'iVBORw0KGgo=',
      size_bytes: 8,
    })
    const sent = await box.call('forward', { message_id, to: ['cleo@example.net'], body: 'FYI' })
    await box.finalized(sent['write_id'], 'executed')
    const raw = box.smtp.deliveries[0]?.raw.toString() ?? ''
    expect(raw).toContain('Subject: Fwd: Photos')
    expect(raw).toContain('Forwarded message')
    expect(raw).toContain('filename=a.png')
    expect(raw).toContain('iVBORw0KGgo=')
  })

  test('deleting and moving are undone by the agent, byte by byte, and ids stay good', async () => {
    await using box = await MailKit.open(fill)
    const before = stand(box.mail.list('INBOX'))
    const message_id = await box.idOf('apples')
    for (const [capability, args, to] of [
      ['delete', {}, 'Trash'],
      ['move', { folder: 'Archive' }, 'Archive'],
    ] as const) {
      const done = await box.call(capability, { ...args, message_ids: [message_id] })
      await box.finalized(done['write_id'], 'executed')
      expect(box.mail.list('INBOX')).toHaveLength(1)
      await until(async () => (await box.find('apples', to)).length === 1)
      expect(await box.call('read', { message_id })).toMatchObject({ message: { folder: to } })
      const back = await box.kit.invoke('alpha', 'writes.rollback', { write_id: done['write_id'] })
      expect(back).toMatchObject({ kind: 'succeeded' })
      expect(stand(box.mail.list('INBOX'))).toEqual(before)
      expect(box.mail.list(to)).toEqual([])
      await until(async () => (await box.find('apples', 'INBOX')).length === 1)
    }
  })

  test('flags are words, and go back to what they were', async () => {
    await using box = await MailKit.open(fill)
    const message_ids = [await box.idOf('apples'), await box.idOf('soup')]
    const flags = { read: true, flagged: true, keywords: { todo: true } }
    const done = await box.call('flag', { message_ids, flags })
    await box.finalized(done['write_id'], 'executed')
    await until(async () => (await box.call('search', { flagged: true }))['total'] === 2)
    expect((await box.call('search', { unread: true }))['total']).toBe(0)
    const { rollback_id } = await box.write(done['write_id'])
    await box.kit.app.rollBack(box.kit.operator(), { rollback_id: String(rollback_id) })
    await until(async () => (await box.call('search', { unread: true }))['total'] === 1)
    expect(await box.failure('flag', { message_ids, flags: {} })).toBe('MailRefused')
  })

  test('a draft waits for a person', async () => {
    await using box = await MailKit.open(fill)
    const done = await box.call('draft', { subject: 'Half', body: 'to be done' })
    await box.finalized(done['write_id'], 'executed')
    expect(box.mail.list('Drafts')).toHaveLength(1)
    expect(box.smtp.deliveries).toEqual([])
  })

  test('reads go on while the server is away, it is said why, and it comes back by itself', async () => {
    await using box = await MailKit.open(fill)
    await box.gate.down()
    await box.kit.app.syncService(box.kit.operator(), { name: 'mail', full: false })
    // A sync that was under way as the gate went down fails as well, with another reason.
    await until(async () => (await box.service()).reason?.includes('nobody listens there') ?? false)
    expect((await box.service()).status).toBe('degraded')
    expect(await box.call('search', { query: 'apples' })).toMatchObject({
      total: 1,
      service: { status: 'degraded' },
    })
    const done = await box.call('delete', { message_ids: [await box.idOf('apples')] })
    box.mail.put('INBOX', mailText({ Subject: 'Meanwhile' }))
    await box.gate.up()
    // Past whatever it waits for before it tries again.
    box.kit.clock.move(900_000)
    await until(async () => (await box.service()).status === 'connected')
    expect(await box.find('meanwhile')).toHaveLength(1)
    await box.finalized(done['write_id'], 'executed')
    expect(box.mail.list('Trash')).toHaveLength(1)
  })
})

describe.skipIf(!hasProgram('dovecot'))('a mail that must not be sent', () => {
  let box: MailKit
  beforeAll(async () => {
    box = await MailKit.open(() => {})
  })
  afterAll(() => box[Symbol.asyncDispose]())

  test.for([
    ['a line end in the subject', { subject: 'Hi\r\nBcc: eve@example.net' }, 'InvalidHeader'],
    ['an encoded line end', { subject: '=?utf-8?q?a=0D=0ABcc:_x?=' }, 'InvalidHeader'],
    ['a NUL in the subject', { subject: 'a\u0000b' }, 'InvalidHeader'],
    ['a line end in to', { to: ['ben@example.net\r\nBcc: eve@example.net'] }, 'InvalidHeader'],
    ['a line end in cc', { cc: ['x\n@example.net'] }, 'InvalidHeader'],
    ['a name around an address', { to: ['Ben <ben@example.net>'] }, 'InvalidRecipient'],
    ['two in one', { to: ['ben@example.net,eve@example.net'] }, 'InvalidRecipient'],
    ['no domain', { to: ['ben@'] }, 'InvalidRecipient'],
    ['a comment', { to: ['ben(eve)@example.net'] }, 'InvalidRecipient'],
    ['letters that look alike', { to: ['bеn@example.net'] }, 'InvalidRecipient'],
    ['no recipient', { to: [] }, 'InvalidArguments'],
    ['a file outside', { attachments: ['../../x'] }, 'PathOutOfScope'],
    ['a file that is not there', { attachments: ['none.txt'] }, 'FileNotFound'],
  ] as const)('a mail with %s is refused', async ([, change, type]) => {
    const letter = { to: ['ben@example.net'], subject: 'Hi', body: 'x' }
    expect(await box.failure('send', { ...letter, ...change })).toBe(type)
    expect(await box.failure('send', letter)).toBe('succeeded')
  })
})

describe.skipIf(!hasProgram('dovecot'))('a person who approves mail', () => {
  test('sees real addresses, all recipients, the whole text and each file; a changed file is not sent', async () => {
    await using box = await MailKit.open(fill, 'version: 1\nrules: []\n')
    file(box, 'notes.txt', 'remember')
    const letter = {
      to: ['ben@example.net'],
      bcc: ['eve@example.net'],
      subject: 'Report',
      body: 'Dear Ben',
      attachments: ['notes.txt'],
    }
    const asked = await box.kit.pending('alpha', 'email.send', letter)
    const { preview, digest } = await box.kit.app.showApproval(box.kit.operator(), {
      approval_id: asked,
    })
    expect(preview).toEqual({
      kind: 'mail',
      headers: {
        From: 'Ana <ana@example.org>',
        To: 'ben@example.net',
        Bcc: 'eve@example.net',
        Subject: 'Report',
        'Attachment 1': `notes.txt (text/plain, 8 bytes, sha256 ${hash('sha256', 'remember')})`,
      },
      text: 'Dear Ben',
    })
    file(box, 'notes.txt', 'swapped!')
    await expect(box.kit.decide(asked, 'approve', { digest })).rejects.toMatchObject({
      type: 'ApprovalStale',
    })
    box.kit.clock.move(120_000)
    expect(box.smtp.deliveries).toEqual([])
  })

  test('is never asked about a file that could not be sent with all of its bytes', async () => {
    await using box = await MailKit.open(fill, 'version: 1\nrules: []\n')
    const most = 15 * 1024 * 1024
    file(box, 'large.bin', 'x'.repeat(most + 1))
    file(box, 'half.bin', 'x'.repeat(most / 2 + 1))
    const letter = { to: ['ben@example.net'], subject: 'Report', body: 'Dear Ben' }
    const message_id = await box.idOf('soup')
    for (const [capability, given] of [
      ['send', letter],
      ['draft', letter],
      ['reply', { message_id, body: 'Yes.' }],
      ['forward', { message_id, to: ['ben@example.net'] }],
    ] as const) {
      const large = { ...given, attachments: ['large.bin'] }
      expect(await box.failure(capability, large)).toBe('FileTooLarge')
      const both = { ...given, attachments: ['half.bin', 'half.bin'] }
      expect(await box.failure(capability, both)).toBe('MailRefused')
    }
    expect(
      (await box.kit.app.listApprovals(box.kit.operator(), { limit: 10, offset: 0 })).total,
    ).toBe(0)
    expect(await box.failure('send', { ...letter, attachments: ['half.bin'] })).toBe('pending')
  })

  test('sees whom an answer would go to, which no argument says', async () => {
    await using box = await MailKit.open(fill, 'version: 1\nrules: []\n')
    const message_id = await box.idOf('soup')
    const asked = await box.kit.pending('alpha', 'email.reply', { message_id, body: 'Yes.' })
    const approval = await box.kit.app.showApproval(box.kit.operator(), { approval_id: asked })
    expect(approval.preview).toMatchObject({
      headers: { To: 'dora@example.net', Subject: 'Re: Lunch' },
      text: expect.stringContaining('> Soup?'),
    })
    await box.kit.decide(asked, 'approve', { digest: approval.digest })
    const { result } = await box.kit.resolved('alpha', asked)
    expect(result).toMatchObject({ success: true, data: { to: ['dora@example.net'] } })
  })

  test('what cannot be sent is refused before anybody is asked', async () => {
    await using box = await MailKit.open(fill, 'version: 1\nrules: []\n')
    const letter = { to: ['ben@example.net'], subject: 'a\nb', body: 'x' }
    expect(await box.failure('send', letter)).toBe('InvalidHeader')
    expect(await box.failure('delete', { message_ids: ['mail-x'] })).toBe('MailNotFound')
  })

  test('a rule on recipients lets some mail go without asking', async () => {
    const policy = `version: 1
rules:
  - match: email.send
    when: (args.to + args.cc + args.bcc).all(a, a.endsWith("@example.org"))
    tier: autonomous
`
    await using box = await MailKit.open(fill, policy)
    const letter = { subject: 'Hi', body: 'x' }
    const colleague = { ...letter, to: ['cleo@example.org'] }
    expect(await box.failure('send', colleague)).toBe('succeeded')
    const outside = { ...colleague, bcc: ['eve@example.net'] }
    expect(await box.failure('send', outside)).toBe('pending')
  })
})
