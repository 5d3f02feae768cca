import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { Dovecot } from '@gatehouse/testkit/mail-server/dovecot'
import { hasProgram } from '@gatehouse/testkit/programs'
import { describe, expect, test } from 'vitest'
import { elsewhere, type MailRig, mailText, openRig } from '../mail/kit.ts'

const raw = (n: number) =>
  mailText(
    {
      Subject: `Report ${n}`,
      'Message-ID': `<report-${n}@example.net>`,
      Date: 'Mon, 5 Jan 2026 10:00:00 +0000',
    },
    `This is report number ${n} about ${n % 2 === 0 ? 'apples' : 'pears'}.\r\n`,
  )

const subjects = async (rig: MailRig, folder: string) =>
  (await rig.list(folder)).map(({ title }) => title).toSorted()

describe.skipIf(!hasProgram('dovecot'))('reading a mailbox', () => {
  test('every message of every folder is in the replica, with its flags, people and text', async () => {
    await using server = await Dovecot.start()
    const mail = server.maildir()
    for (let n = 0; n < 230; n += 1) mail.put('INBOX', raw(n), n % 3 === 0 ? ['\\Seen'] : [])
    mail.put('Sent', raw(999), ['\\Seen', '\\Flagged'])
    await using rig = await openRig(server, null)
    await rig.sync()
    const inbox = await rig.list('INBOX')
    expect(inbox).toHaveLength(230)
    expect(inbox.filter(({ flags }) => flags.includes('unread'))).toHaveLength(230 - 77)
    expect((await rig.list('Sent'))[0]).toMatchObject({
      title: 'Report 999',
      from: 'Ben <ben@example.net>',
      flags: ['flagged'],
      body: {
        subject: 'Report 999',
        from: { name: 'Ben', address: 'ben@example.net' },
        to: [{ name: '', address: 'ana@example.org' }],
        date: '2026-01-05T10:00:00.000Z',
        text: 'This is report number 999 about pears.',
        message_id: '<report-999@example.net>',
      },
    })
  })

  test('folders are told with their use and their counts', async () => {
    await using server = await Dovecot.start()
    server.maildir().put('INBOX', raw(1))
    server.maildir().put('Projekte/Grün', raw(2), ['\\Seen'])
    await using rig = await openRig(server, null)
    await rig.sync()
    const [entry] = await rig.list('folders\n')
    expect(entry?.body['folders']).toEqual([
      { path: 'INBOX', use: 'inbox', messages: 1, unseen: 1 },
      { path: 'Sent', use: 'sent', messages: 0, unseen: 0 },
      { path: 'Drafts', use: 'drafts', messages: 0, unseen: 0 },
      { path: 'Archive', use: 'archive', messages: 0, unseen: 0 },
      { path: 'Junk', use: 'junk', messages: 0, unseen: 0 },
      { path: 'Projekte/Grün', use: null, messages: 1, unseen: 0 },
      { path: 'Trash', use: 'trash', messages: 0, unseen: 0 },
    ])
  })

  test.for([
    { hides: [] as string[], what: 'with CONDSTORE' },
    { hides: ['CONDSTORE', 'QRESYNC', 'ESEARCH', 'MOVE', 'LIST-EXTENDED'], what: 'without it' },
  ])(
    'a later run brings what came, went and changed, and nothing else: $what',
    async ({ hides }) => {
      await using server = await Dovecot.start({ hides })
      for (let n = 0; n < 40; n += 1) server.maildir().put('INBOX', raw(n))
      await using rig = await openRig(server, null)
      expect(await rig.sync()).toBe(40 + 1)
      expect(await rig.sync()).toBe(1)
      await elsewhere(server, 'INBOX', async (client) => {
        await client.messageFlagsAdd('3', ['\\Seen', 'Projekt'], { uid: true })
        await client.messageDelete('5,7', { uid: true })
        await client.messageMove('9', 'Archive', { uid: true })
        await client.append('INBOX', raw(100))
      })
      expect(await rig.sync()).toBe(3 + 1)
      const inbox = await subjects(rig, 'INBOX')
      expect(inbox).toHaveLength(38)
      expect(inbox).toContain('Report 100')
      expect(inbox).not.toContain('Report 8')
      expect(await subjects(rig, 'Archive')).toEqual(['Report 8'])
      const changed = (await rig.list('INBOX')).find(({ title }) => title === 'Report 2')
      expect(changed?.flags).toEqual(['projekt'])
      expect(await rig.sync()).toBe(1)
    },
  )

  test('a folder that was made anew is read anew, and what it held before is gone', async () => {
    await using server = await Dovecot.start()
    for (let n = 0; n < 5; n += 1) server.maildir().put('Work', raw(n))
    await using rig = await openRig(server, null)
    await rig.sync()
    await elsewhere(server, 'INBOX', async (client) => {
      await client.mailboxDelete('Work')
    })
    // UIDVALIDITY counts seconds: without its memory of it the server gives another.
    await server.down()
    rmSync(join(server.maildir().folder, 'dovecot-uidvalidity'), { force: true })
    await server.up()
    server.maildir().put('Work', raw(50))
    await rig.sync()
    expect(await subjects(rig, 'Work')).toEqual(['Report 50'])
    const validity = (await rig.list('Work'))[0]?.body['uidvalidity']
    await elsewhere(server, 'INBOX', async (client) => {
      await client.mailboxDelete('Work')
    })
    await rig.sync()
    expect(await subjects(rig, 'Work')).toEqual([])
    expect(validity).toBeTypeOf('string')
  })

  test('a run that was cut off goes on where it was', async () => {
    await using server = await Dovecot.start()
    for (let n = 0; n < 350; n += 1) server.maildir().put('INBOX', raw(n))
    await using rig = await openRig(server, null)
    const first = await rig.sync(3)
    expect(first).toBe(200 + 1)
    await rig.account[Symbol.asyncDispose]()
    expect(await rig.sync()).toBe(150 + 1)
    expect(await rig.list('INBOX')).toHaveLength(350)
  })

  test('the newest messages come first', async () => {
    await using server = await Dovecot.start()
    for (let n = 0; n < 120; n += 1) server.maildir().put('INBOX', raw(n))
    await using rig = await openRig(server, null)
    await rig.sync(2)
    const titles = await subjects(rig, 'INBOX')
    expect(titles).toHaveLength(100)
    expect(titles).toContain('Report 119')
    expect(titles).not.toContain('Report 1')
  })

  test('folders that the operator skips are not read', async () => {
    await using server = await Dovecot.start()
    server.maildir().put('Archive', raw(1))
    server.maildir().put('Lists/one', raw(2))
    await using rig = await openRig(server, null, { skip_folders: ['archive', 'Lists/*'] })
    await rig.sync()
    expect(await rig.list('Archive')).toEqual([])
    expect(await rig.list('Lists/one')).toEqual([])
  })

  test('an attachment is listed at once, and fetched when asked for, up to a limit', async () => {
    await using server = await Dovecot.start()
    const content = Buffer.from('PK zip of death, never unpacked')
    server
      .maildir()
      .put(
        'INBOX',
        mailText(
          { 'Content-Type': 'multipart/mixed; boundary=b', 'MIME-Version': '1.0' },
          `--b\r\nContent-Type: text/plain\r\n\r\nsee below\r\n--b\r\nContent-Type: application/zip; name="../../a.zip"\r\nContent-Disposition: attachment; filename="../../a.zip"\r\nContent-Transfer-Encoding: base64\r\n\r\n${content.toString('base64')}\r\n--b--\r\n`,
        ),
      )
    await using rig = await openRig(server, null)
    await rig.sync()
    const [entry] = await rig.list('INBOX')
    expect(entry?.body).toMatchObject({
      text: 'see below',
      attachments: [{ part: '2', name: '.._.._a.zip', content_type: 'application/zip' }],
    })
    const wanted = { collection: 'INBOX', id: entry?.id ?? '', part: '2', bytesMax: 1_000 }
    const { signal } = new AbortController()
    const part = await rig.adapter.fetchPart?.(rig.account, wanted, signal)
    const chunks: Uint8Array[] = []
    for await (const chunk of part?.content ?? []) chunks.push(chunk)
    expect(Buffer.concat(chunks).equals(content)).toBe(true)
    const fetch = (change: object) =>
      rig.adapter.fetchPart?.(rig.account, { ...wanted, ...change }, signal)
    await expect(fetch({ bytesMax: 10 })).rejects.toMatchObject({ type: 'ResponseTooLarge' })
    await expect(fetch({ part: '9' })).rejects.toMatchObject({ type: 'PartNotFound' })
    await expect(fetch({ part: '1 BODY[]' })).rejects.toMatchObject({ type: 'PartNotFound' })
    await expect(fetch({ id: '1.1' })).rejects.toMatchObject({ type: 'PartNotFound' })
  })
})
