import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { admitRecords } from '../../src/audit/admit-records.ts'
import { hashing } from '../../src/audit/hashing.ts'
import { openJournal } from '../../src/audit/journal.ts'
import { markFile, readRecords } from '../../src/audit/mark.ts'
import { setAsideFile } from '../../src/audit/set-aside.ts'
import { draft, silent, textOf } from '../../src/audit/testing.ts'
import { createLinker } from '../../src/domain/audit/chain.ts'
import { createClock } from '../../src/platform/clock.ts'
import { createIds } from '../../src/platform/ids.ts'
import { SqliteConnection, type SqlValue } from '../../src/storage/sqlite/adapter.ts'
import { openSqlite } from '../../src/storage/sqlite/open.ts'

const chain = 'node-1'
const filter = { limit: 100, offset: 0 }
const forgedId = `aud-${'z'.repeat(26)}`

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-forged-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The log as the service opens it. */
const openLog = async (folder: string) => {
  const directory = join(folder, 'audit')
  const clock = createClock(0)
  const storage = await openSqlite({
    file: join(folder, 'gatehouse.db'),
    promised: readRecords(directory),
    admit: admitRecords({ directory, chain, clock, log: silent }),
  })
  const journal = await openJournal({
    storage,
    directory,
    chain,
    ids: createIds(),
    clock,
    log: silent,
    verifyEveryMs: 0,
  })
  return {
    journal,
    storage,
    async fill(count: number) {
      for (let i = 0; i < count; i += 1) await journal.append(draft())
    },
    /** An act with a change of the store, as an approval is. */
    async act() {
      await journal.transaction(async (tx) => {
        await tx.meta.set('policy', 'v2')
        tx.append(draft({ kind: 'act', capability: 'policy.changed' }))
      })
    },
    async [Symbol.asyncDispose]() {
      await journal[Symbol.asyncDispose]()
      await storage[Symbol.asyncDispose]()
    },
  }
}

/** What a kill at this moment leaves. */
const killed = (folder: string): string => {
  const copy = newFolder()
  cpSync(folder, copy, { recursive: true })
  return copy
}

/** Writes to the database of a service without any of its keys. */
const writeTo = (folder: string, work: (database: SqliteConnection) => void): void => {
  using database = new SqliteConnection(join(folder, 'gatehouse.db'), { readOnly: false })
  work(database)
}

/** Appends an approval that nobody gave, in a chain of hashes that fits. */
const forge = (folder: string, over: { readonly chain?: string; readonly seq?: number } = {}) =>
  writeTo(folder, (database) => {
    const last = database.run('select * from audit order by seq desc limit 1', []).rows[0]
    if (!last) throw new Error('the log is empty')
    const seq = over.seq ?? Number(last['seq']) + 1
    const given = { capability: 'approval.approved', actor: 'user:ana', kind: 'act' }
    const place = { seq, id: forgedId, chain: over.chain ?? chain }
    const body = JSON.stringify({ ...JSON.parse(String(last['body'])), ...given, ...place })
    const prev = over.chain === undefined ? String(last['hash']) : '0'.repeat(64)
    const hash = createLinker(hashing).link(prev, seq, body)
    const row: Record<string, SqlValue> = {
      ...last,
      capability: given.capability,
      kind: given.kind,
      ...place,
      body,
      hash,
    }
    const names = Object.keys(row)
    database.run(
      `insert into audit (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`,
      Object.values(row),
    )
  })

const removeFrom = (folder: string, seq: number): void =>
  writeTo(folder, (database) => {
    database.exec('drop trigger audit_no_delete')
    database.run('delete from audit where seq >= ?', [seq])
  })

const setAside = (folder: string): string =>
  readFileSync(join(folder, 'audit', setAsideFile), 'utf8')

type Log = Awaited<ReturnType<typeof openLog>>

/** Nothing of it is shown, exported or vouched for; it is named, and stays named until somebody acknowledges it. */
const expectNamed = async (log: Log, folder: string, seq: number): Promise<void> => {
  const page = await log.journal.query(filter)
  expect(page).toMatchObject({
    integrity: 'failed',
    kind: 'inserted',
    first_bad_seq: seq,
    first_bad_id: forgedId,
  })
  expect(page.verified_through).toBeLessThan(page.total)
  const again = await log.journal.query(filter)
  expect(again.entries.map(({ id }) => id)).not.toContain(forgedId)
  expect(again.integrity).toBe('failed')
  expect(await textOf(log.journal.export())).not.toContain(forgedId)
  expect(await log.journal.find(forgedId)).toBeNull()
  expect(log.journal.health()).toMatchObject({ status: 'degraded' })
  expect(setAside(folder)).toContain('user:ana')
}

describe('an entry that somebody without a key put behind the last one', () => {
  test('of a stopped service is named at the next start, and never taken in', async () => {
    const folder = newFolder()
    {
      await using log = await openLog(folder)
      await log.fill(5)
    }
    forge(folder)
    {
      await using log = await openLog(folder)
      await expectNamed(log, folder, 5)
      expect((await log.journal.append(draft())).seq).toBe(5)
    }
    await using log = await openLog(folder)
    expect(await log.journal.verify()).toMatchObject({ integrity: 'failed', kind: 'inserted' })
    expect(await log.journal.acknowledge('we know')).toMatchObject({ integrity: 'verified' })
    const { entries, total } = await log.journal.query(filter)
    expect(total).toBe(7)
    expect(entries[0]).toMatchObject({ capability: 'audit.acknowledged' })
    expect(JSON.stringify(entries.slice(1))).not.toContain(forgedId)
  })

  test('of a killed service costs none of the entries that were answered', async () => {
    const running = newFolder()
    await using before = await openLog(running)
    await before.fill(3)
    await before.storage.promises?.settle()
    await before.fill(3)
    const folder = killed(running)
    forge(folder)
    await using log = await openLog(folder)
    await expectNamed(log, folder, 3)
    expect((await log.journal.query(filter)).total).toBe(6)
  })

  test('of a running service is named by the next query, and nothing that follows is lost', async () => {
    const folder = newFolder()
    await using log = await openLog(folder)
    await log.fill(2)
    await log.storage.promises?.settle()
    await log.fill(1)
    // In the place of the entry that is kept and not stored yet.
    forge(folder)
    await expectNamed(log, folder, 2)
    await log.fill(2)
    await log.act()
    expect((await log.journal.query(filter)).total).toBe(6)
    expect(await log.journal.acknowledge('we know')).toMatchObject({ integrity: 'verified' })
  })

  test('behind a store that was up to date is found while the service runs, too', async () => {
    const folder = newFolder()
    await using log = await openLog(folder)
    await log.fill(2)
    await log.storage.promises?.settle()
    forge(folder, { seq: 7 })
    await expectNamed(log, folder, 7)
  })

  test('in a chain of its own is moved out like any other', async () => {
    const folder = newFolder()
    {
      await using log = await openLog(folder)
      await log.fill(3)
    }
    forge(folder, { chain: 'shadow', seq: 0 })
    await using log = await openLog(folder)
    await expectNamed(log, folder, 0)
  })

  test('is found where the mark was taken away as well', async () => {
    const folder = newFolder()
    {
      await using log = await openLog(folder)
      await log.fill(3)
    }
    forge(folder)
    rmSync(join(folder, 'audit', markFile))
    await using log = await openLog(folder)
    const page = await log.journal.query(filter)
    expect(page).toMatchObject({ integrity: 'failed', kind: 'anchor_missing', total: 3 })
    expect(setAside(folder)).toContain(forgedId)
  })
})

describe('an entry that the store was known to hold', () => {
  test('and that is gone after a clean stop is put back, and shown until it is acknowledged', async () => {
    const folder = newFolder()
    {
      await using log = await openLog(folder)
      await log.fill(5)
    }
    removeFrom(folder, 4)
    {
      await using log = await openLog(folder)
      const page = await log.journal.query(filter)
      expect(page).toMatchObject({ integrity: 'failed', kind: 'truncated', first_bad_seq: 4 })
      expect(page.detail).toContain('put back')
      expect(page.entries.map(({ seq }) => seq)).toEqual([4, 3, 2, 1, 0])
      expect(page.first_bad_id).toBe(page.entries[0]?.id)
      await log.fill(1)
    }
    await using log = await openLog(folder)
    expect(await log.journal.query(filter)).toMatchObject({ integrity: 'failed' })
    expect(await log.journal.acknowledge('it was me')).toMatchObject({ integrity: 'verified' })
  })

  test('counts nothing twice when it is put back', async () => {
    const folder = newFolder()
    const stamp = { key: 'k', at_ms: Date.now(), window_ms: 3_600_000 }
    const used = (log: Log) =>
      log.storage.limits.used({ key: 'k', limit: 9, window_ms: 3_600_000 }, Date.now())
    {
      await using log = await openLog(folder)
      await log.journal.append(draft(), { stamps: [stamp] })
    }
    removeFrom(folder, 0)
    await using log = await openLog(folder)
    expect(await log.journal.query(filter)).toMatchObject({ kind: 'truncated', total: 1 })
    expect(await used(log)).toBe(1)
  })

  test('and that is gone after a kill is told from one that was never stored', async () => {
    const running = newFolder()
    await using before = await openLog(running)
    await before.fill(4)
    await before.storage.promises?.settle()
    await before.fill(2)
    const [crashed, robbed] = [killed(running), killed(running)]
    {
      await using log = await openLog(crashed)
      expect(await log.journal.query(filter)).toMatchObject({ integrity: 'verified', total: 6 })
    }
    removeFrom(robbed, 3)
    await using log = await openLog(robbed)
    const page = await log.journal.query(filter)
    expect(page).toMatchObject({ integrity: 'failed', kind: 'truncated', first_bad_seq: 3 })
    expect(page.total).toBe(6)
  })
})

describe('a crash', () => {
  test('between a commit and its mark loses nothing and looks like no tampering', async () => {
    const running = newFolder()
    await using before = await openLog(running)
    await before.fill(2)
    await before.storage.promises?.settle()
    const mark = readFileSync(join(running, 'audit', markFile))
    await before.act()
    const folder = killed(running)
    writeFileSync(join(folder, 'audit', markFile), mark)
    await using log = await openLog(folder)
    expect(await log.journal.query(filter)).toMatchObject({ integrity: 'verified', total: 3 })
    expect(await log.journal.verify()).toMatchObject({ integrity: 'verified' })
  })

  test('between a record and its mark leaves out what nobody was answered for', async () => {
    const running = newFolder()
    await using before = await openLog(running)
    await before.fill(2)
    const mark = readFileSync(join(running, 'audit', markFile))
    await before.fill(1)
    const folder = killed(running)
    const now = readFileSync(join(folder, 'audit', markFile))
    writeFileSync(
      join(folder, 'audit', markFile),
      Buffer.concat([mark.subarray(0, 8192), now.subarray(8192)]),
    )
    await using log = await openLog(folder)
    expect(await log.journal.query(filter)).toMatchObject({ integrity: 'verified', total: 2 })
    expect((await log.journal.append(draft())).seq).toBe(2)
  })
})
