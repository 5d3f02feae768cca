import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from '@gatehouse/server/storage/sqlite/open'
import { Dovecot } from '@gatehouse/testkit/mail-server/dovecot'
import { hasProgram } from '@gatehouse/testkit/programs'
import { describe, expect, test } from 'vitest'
import { mailText, openRig } from '../mail/kit.ts'

const messages = process.env['GATEHOUSE_FULL'] ? 10_000 : 1_000
const searches = 100
const words = [
  'apple',
  'pear',
  'plum',
  'quince',
  'cherry',
  'invoice',
  'meeting',
  'holiday',
  'budget',
]
const wordAt = (n: number) => words[n % words.length] ?? ''

const letter = (n: number) =>
  mailText(
    {
      From: `Sender ${n % 50} <sender-${n % 50}@example.net>`,
      Subject: `${wordAt(n)} ${wordAt(n >> 3)} number${n}`,
      'Message-ID': `<l-${n}@example.net>`,
    },
    `${Array.from({ length: 200 }, (_, w) => `${wordAt(n * 7 + w * w)}${w % 11}`).join(' ')}\r\n`,
  )

describe.skipIf(!hasProgram('dovecot'))('a large mailbox', () => {
  test(`${messages} messages are read, and half of all searches take less than 50 ms`, {
    timeout: 600_000,
  }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-mail-size-'))
    await using server = await Dovecot.start()
    const mail = server.maildir()
    for (let n = 0; n < messages; n += 1)
      mail.put(n % 4 === 0 ? 'Archive' : 'INBOX', letter(n), n % 3 === 0 ? ['\\Seen'] : [])
    await using storage = await openSqlite({ file: join(folder, 'test.db') })
    await using rig = await openRig(server, null)
    // As the service does: so many changes are one transaction.
    rig.replica = {
      ...storage.replica,
      apply: (service, changes, run) =>
        storage.transaction((tx) => tx.replica.apply(service, changes, run)),
    }
    const began = performance.now()
    await rig.sync()
    const syncMs = performance.now() - began
    const search = (words: string, limit = 20) =>
      storage.replica.query('mail', {
        collections: ['INBOX', 'Archive'],
        words,
        order: 'newest_first',
        limit,
        offset: 0,
      })
    expect((await search('')).total).toBe(messages)
    expect((await search('"number77"')).entries.map(({ title }) => title)).toContain(
      `${wordAt(77)} ${wordAt(9)} number77`,
    )
    const times: number[] = []
    for (let n = 0; n < searches; n += 1) {
      const query = n % 2 === 0 ? `${wordAt(n)} number${n}` : `${wordAt(n)} ${wordAt(n + 1)}`
      const from = performance.now()
      await search(query)
      times.push(performance.now() - from)
    }
    const p50 = times.toSorted((a, b) => a - b)[searches / 2] ?? Number.POSITIVE_INFINITY
    console.log(
      `${messages} messages in ${Math.round(syncMs)} ms, search p50 ${p50.toFixed(1)} ms, p99 ${times.toSorted((a, b) => a - b)[98]?.toFixed(1)} ms`,
    )
    expect(p50).toBeLessThan(50)
    const again = performance.now()
    expect(await rig.sync()).toBe(1)
    console.log(`nothing new found in ${Math.round(performance.now() - again)} ms`)
    rmSync(folder, { recursive: true, force: true })
  })
})
