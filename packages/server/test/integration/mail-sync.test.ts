import { Dovecot } from '@gatehouse/testkit/mail-server/dovecot'
import { hasProgram } from '@gatehouse/testkit/programs'
import { describe, expect, test } from 'vitest'
import { MailRig, mailText, openRig, plainSettings } from '../mail/kit.ts'

const raw = (n: number) =>
  mailText(
    {
      Subject: `Report ${n}`,
      'Message-ID': `<report-${n}@example.net>`,
      Date: 'Mon, 5 Jan 2026 10:00:00 +0000',
    },
    `This is report number ${n} about ${n % 2 === 0 ? 'apples' : 'pears'}.\r\n`,
  )

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
    const [sent] = await rig.list('Sent')
    expect(sent).toMatchObject({
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
    console.log(JSON.stringify(sent, null, 1), rig.cursor)
  })
})
