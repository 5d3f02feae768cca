import { Dovecot } from '@gatehouse/testkit/mail-server/dovecot'
import { TcpGate } from '@gatehouse/testkit/mail-server/tcp-gate'
import { hasProgram } from '@gatehouse/testkit/programs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type MailRig, mailText, openRig } from '../mail/kit.ts'

const nested = (depth: number): string => {
  let body = 'Content-Type: text/plain\r\n\r\nthe innermost\r\n'
  for (let n = depth; n > 0; n -= 1)
    body = `Content-Type: multipart/mixed; boundary=b${n}\r\n\r\n--b${n}\r\n${body}\r\n--b${n}--\r\n`
  return body
}

const wrapped = (depth: number): string => {
  let mail = mailText({ Subject: 'innermost' })
  for (let n = depth; n > 0; n -= 1)
    mail = `From: a@b\r\nSubject: layer ${n}\r\nContent-Type: message/rfc822\r\n\r\n${mail}`
  return mail
}

const header = (text: string) => `From: ben@example.net\r\nSubject: hostile\r\n${text}`

/** Mail that was made to break whoever reads it. Each has the subject `hostile`. */
const hostile: Readonly<Record<string, string>> = {
  'layers of multipart': header(nested(60)),
  'hundreds of layers of multipart': header(nested(600)),
  'mail in mail in mail': `Subject: hostile\r\n${wrapped(40)}`,
  'ten thousand parts': header(
    `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\nContent-Type: text/plain\r\n\r\nx\r\n'.repeat(10_000)}--b--\r\n`,
  ),
  'a megabyte of one header': header(`X-Long: ${'x'.repeat(1_000_000)}\r\n\r\nbody\r\n`),
  'fifty thousand headers': header(`${'X-Many: y\r\n'.repeat(50_000)}\r\nbody\r\n`),
  'fifty thousand recipients': header(`To: ${'a@b.example, '.repeat(50_000)}c@d.example\r\n\r\nx`),
  'no header end at all': 'Subject: hostile',
  'no date and no sender': 'Subject: hostile\r\n\r\nbody\r\n',
  'a date that is none': header('Date: the day after tomorrow\r\n\r\nbody\r\n'),
  'a date in the year 275760': header('Date: Sat, 13 Sep 275760 00:00:00 +0000\r\n\r\nbody\r\n'),
  'a charset that does not exist': header(
    'Content-Type: text/plain; charset="x-no-such/../\\"thing"\r\nContent-Transfer-Encoding: base64\r\n\r\n////!!!!\r\n',
  ),
  'half of UTF-8': header('Content-Type: text/plain; charset=utf-8\r\n\r\n\xff\xfe\xc3\r\n'),
  'a quarter million of line ends': header(`\r\n${'\n'.repeat(262_000)}`),
  'a quarter million of broken quoted-printable': header(
    `Content-Transfer-Encoding: quoted-printable\r\n\r\n${'=\r\n'.repeat(87_000)}`,
  ),
  'HTML of fifty thousand layers': header(
    `Content-Type: text/html\r\n\r\n${'<div>'.repeat(50_000)}deep${'</div>'.repeat(50_000)}`,
  ),
  'HTML of twenty thousand tables': header(
    `Content-Type: text/html\r\n\r\n${'<table><tr><td>'.repeat(17_000)}`,
  ),
  'a boundary that is its own prefix': header(
    'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: multipart/mixed; boundary=bb\r\n\r\n--bb\r\n\r\nx\r\n--b--\r\n',
  ),
  'control characters everywhere': `From: "\x1b]0;x\x07\x00" <a\x00@b>\r\nSubject: hostile\x00\x1b[31m\r\n\r\nto\x00do\x1b[2J\r\n`,
  'encoded words with line ends': `From: =?utf-8?q?Ben=0D=0ABcc:_x@y?= <ben@example.net>\r\nSubject: =?utf-8?q?hostile=0D=0AX:_y?=\r\n\r\nx\r\n`,
}

describe.skipIf(!hasProgram('dovecot'))('mail that was made to do harm', () => {
  let server: Dovecot
  let rig: MailRig
  const names = Object.keys(hostile)
  beforeAll(async () => {
    server = await Dovecot.start()
    const mail = server.maildir()
    mail.put('INBOX', mailText({ Subject: 'the first honest one' }))
    for (const [n, text] of Object.values(hostile).entries())
      mail.put('INBOX', Buffer.from(text.replace('hostile', `hostile ${n}`), 'latin1'))
    mail.put('INBOX', mailText({ Subject: 'the last honest one' }, 'still here\r\n'))
    rig = await openRig(server, null)
    await rig.sync()
  })
  afterAll(async () => {
    await rig[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
  })

  const find = async (n: number) =>
    (await rig.list('INBOX')).find(({ title }) => new RegExp(`^hostile ${n}\\b`).test(title))

  test('honest mail before and after it is read', async () => {
    const inbox = await rig.list('INBOX')
    const honest = inbox.filter(({ title }) => title.includes('honest'))
    expect(honest.map(({ body }) => JSON.stringify(body['text'])).toSorted()).toEqual([
      '"Hello."',
      '"still here"',
    ])
    expect(inbox).toHaveLength(names.length + 2)
  })

  test.for(names.map((name, n) => [n, name] as const))('%i: %s', async ([n]) => {
    const entry = await find(n)
    expect(entry).toBeDefined()
    const json = JSON.stringify(entry)
    expect(json.length).toBeLessThan(2_000_000)
    expect(json).not.toMatch(/\\u00[01][0-9a-f]|\\u007f/i)
    expect(entry?.title).not.toMatch(/[\r\n]/)
    expect(json.isWellFormed()).toBe(true)
    expect((entry?.body['attachments'] as unknown[]).length).toBeLessThanOrEqual(100)
  })

  test('says where something was left out', async () => {
    const of = async (name: string) => (await find(names.indexOf(name)))?.body
    expect(await of('ten thousand parts')).toMatchObject({ truncated: true })
    expect(await of('hundreds of layers of multipart')).toMatchObject({ damaged: true })
    expect(await of('no date and no sender')).toMatchObject({
      date: null,
      from: null,
      text: 'body',
    })
    expect(await of('a date that is none')).toMatchObject({ date: null })
    expect(await of('mail in mail in mail')).toMatchObject({
      attachments: [{ content_type: 'message/rfc822' }],
    })
  })

  test('HTML is shown as text: nothing that runs, loads or hides behind a link', async () => {
    server
      .maildir()
      .put(
        'INBOX',
        mailText(
          { Subject: 'markup', 'Content-Type': 'text/html' },
          '<style>p{}</style><script>alert(1)</script><p>Dear <b>Ana</b></p><img src="http://t.example/x.gif" onerror="x()"><a href="http://evil.example/">http://bank.example/</a><iframe src="x"></iframe>',
        ),
      )
    await rig.sync()
    const body = (await rig.list('INBOX')).find(({ title }) => title === 'markup')?.body
    expect(body?.['text']).toBe('Dear Ana\n\nhttp://bank.example/ [http://evil.example/]')
    expect(body?.['text_from_html']).toBe(true)
  })
})

describe.skipIf(!hasProgram('dovecot'))('a mail server that fails', () => {
  const mails = 60
  const opened = async () => {
    const server = await Dovecot.start()
    for (let n = 0; n < mails; n += 1)
      server.maildir().put('INBOX', mailText({ Subject: `Letter ${n}` }, 'x'.repeat(2_000)))
    const gate = await TcpGate.open(server.imapPort)
    const rig = await openRig({ imapPort: gate.port }, null)
    return {
      server,
      gate,
      rig,
      async [Symbol.asyncDispose]() {
        await rig[Symbol.asyncDispose]()
        await gate[Symbol.asyncDispose]()
        await server[Symbol.asyncDispose]()
      },
    }
  }

  const modes = [
    ['is not there', { kind: 'refuse' }, 'cut the connection'],
    ['never answers', { kind: 'silent' }, 'said nothing'],
    ['cuts in the middle of an answer', { kind: 'cut', afterBytes: 20_000 }, 'cut the connection'],
    [
      'talks nonsense',
      {
        kind: 'garbage',
        afterBytes: 20_000,
        bytes: Buffer.from(`* ((((${'\u0000'.repeat(50)}\r\n`),
      },
      '',
    ],
    [
      'never ends a line',
      { kind: 'garbage', afterBytes: 3_000, bytes: Buffer.alloc(20_000_000, 'x') },
      '',
    ],
  ] as const
  test.for(modes)(
    'one that %s is named, and read once it is well again',
    async ([, mode, said]) => {
      await using box = await opened()
      await box.rig.sync()
      await box.rig.account[Symbol.asyncDispose]()
      box.rig.cursor = null
      box.gate.behave(mode)
      const synced = () => box.rig.sync()
      // Nonsense makes no answer: the client waits for one.
      const isLeftWaiting = mode.kind === 'silent' || mode.kind === 'garbage'
      await expect(isLeftWaiting ? box.rig.quickly(synced) : synced()).rejects.toMatchObject({
        type: 'ServiceUnavailable',
        message: expect.stringContaining(said),
      })
      // Messages that were read before are still there.
      expect(await box.rig.list('INBOX')).toHaveLength(mails)
      box.gate.behave({ kind: 'pass' })
      await box.rig.account[Symbol.asyncDispose]()
      box.server.maildir().put('INBOX', mailText({ Subject: 'afterwards' }))
      await box.rig.sync()
      expect(await box.rig.list('INBOX')).toHaveLength(mails + 1)
    },
  )

  test('one that is slow is read slowly', async () => {
    await using box = await opened()
    box.gate.behave({ kind: 'slow', chunkMs: 20 })
    await box.rig.sync()
    expect(await box.rig.list('INBOX')).toHaveLength(mails)
  })
})
