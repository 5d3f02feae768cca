import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { openAuditLog } from '../../src/log/audit-log.ts'
import { verifyOffline } from '../../src/log/offline.ts'
import { draft, silent, textOf } from '../../src/log/testing.ts'
import { createClock } from '../../src/platform/clock.ts'
import { createIds } from '../../src/platform/ids.ts'
import { SqliteConnection } from '../../src/storage/sqlite/adapter.ts'
import { openSqlite } from '../../src/storage/sqlite/open.ts'

// A log as versions kept it that had its entries in the database: 121 entries there, and one that a kill left
// beside the signed head alone.
const fixture = fileURLToPath(new URL('../fixtures/log-in-database', import.meta.url))
const before = 122

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-before-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(fixture, folder, { recursive: true })
  for (const name of ['gatehouse.db', 'audit/audit.mark']) {
    const packed = join(folder, `${name}.gz`)
    writeFileSync(join(folder, name), gunzipSync(readFileSync(packed)), { mode: 0o600 })
    rmSync(packed)
  }
  for (const name of ['audit.key', 'audit-redaction.key'])
    chmodSync(join(folder, 'audit', name), 0o400)
  return folder
}

const openLog = async (folder: string) => {
  const storage = await openSqlite({ file: join(folder, 'gatehouse.db') })
  const auditLog = await openAuditLog({
    storage,
    directory: join(folder, 'audit'),
    chain: 'node-1',
    ids: createIds(),
    clock: createClock(0),
    log: silent,
    verifyEveryMs: 0,
  })
  return {
    storage,
    auditLog,
    async [Symbol.asyncDispose]() {
      await auditLog[Symbol.asyncDispose]()
      await storage[Symbol.asyncDispose]()
    },
  }
}

const writeTo = (folder: string, statement: string): void => {
  using database = new SqliteConnection(join(folder, 'gatehouse.db'), { readOnly: false })
  database.exec(statement)
}

test('a log that lay in the database moves into files, entry by entry, and says so', async () => {
  const folder = newFolder()
  {
    await using log = await openLog(folder)
    const page = await log.auditLog.query({ limit: 1_000, offset: 0 })
    expect(page).toMatchObject({
      integrity: 'verified',
      total: before + 1,
      verified_through: before,
    })
    const [moved, kept, act] = page.entries
    expect(moved).toMatchObject({
      capability: 'audit.moved',
      detail: { from: 'database', entries: before, head: kept?.hash },
    })
    expect(kept).toMatchObject({ request_id: 'kept', seq: before - 1 })
    expect(act).toMatchObject({ capability: 'policy.changed' })
    expect(page.entries.at(-1)?.arguments).toEqual({ path: 'notes/größer-0.md' })
    // The kept entry's consequences were not in the database yet, and count once.
    expect((await log.storage.agents.find('mailbot'))?.total_invocations).toBe(before - 1)
    const key = { key: 'k', limit: 9, window_ms: 3_600_000 }
    expect(await log.storage.limits.used(key, 4_000_000_000_001)).toBe(1)
    // The checkpoints of before were made over the same tree.
    expect(await log.auditLog.verify()).toMatchObject({ integrity: 'verified' })
    expect(await log.storage.copies.read('node-1', 0, 1)).toEqual([])
  }
  expect(existsSync(join(folder, 'audit/audit.mark'))).toBe(false)
  expect(existsSync(join(folder, 'audit/audit.mark.before-log-files'))).toBe(true)
  expect(
    readdirSync(folder).filter((name) => name.startsWith('gatehouse.db.before-')),
  ).toHaveLength(1)

  await using log = await openLog(folder)
  expect((await log.auditLog.append(draft())).seq).toBe(before + 1)
  const exportFile = join(folder, 'export.jsonl')
  writeFileSync(exportFile, await textOf(log.auditLog.export()))
  expect(await verifyOffline({ exportFile })).toMatchObject({
    integrity: 'verified',
    entries: before + 2,
  })
  expect(await log.auditLog.query({ limit: 1, offset: 0 })).toMatchObject({
    integrity: 'verified',
    total: before + 2,
  })
})

test.each([
  [
    'an entry that was changed there',
    'modified',
    `update audit set body = replace(body, 'notes/größer-7.md', 'notes/other.md') where seq = 7`,
    7,
  ],
  ['an entry that was removed there', 'missing', 'delete from audit where seq = 30', 30],
] as const)('%s is found on the way', async (_, kind, statement, seq) => {
  const folder = newFolder()
  writeTo(folder, `drop trigger audit_no_update; drop trigger audit_no_delete; ${statement}`)
  await using log = await openLog(folder)
  const page = await log.auditLog.query({ limit: 10, offset: 0 })
  expect(page).toMatchObject({ integrity: 'failed', kind, first_bad_seq: seq })
  expect((await log.auditLog.append(draft())).seq).toBe(before + 1)
  expect(await log.auditLog.acknowledge('we know')).toMatchObject({ integrity: 'verified' })
})

test('entries in a database without anything sealed over them are under an alarm', async () => {
  const folder = newFolder()
  rmSync(join(folder, 'audit/audit.mark'))
  writeTo(folder, `delete from meta where key like 'audit.sealed.%'`)
  await using log = await openLog(folder)
  const page = await log.auditLog.query({ limit: 10, offset: 0 })
  expect(page).toMatchObject({ integrity: 'failed', kind: 'anchor_missing' })
  expect(page.entries[0]).toMatchObject({ capability: 'audit.moved' })
})

test('a move that was killed on the way begins anew', async () => {
  const folder = newFolder()
  const half = newFolder()
  {
    await using _log = await openLog(half)
  }
  cpSync(join(half, 'audit/segments'), join(folder, 'audit/segments'), { recursive: true })
  await using log = await openLog(folder)
  const page = await log.auditLog.query({ limit: 10, offset: 0 })
  expect(page).toMatchObject({ integrity: 'verified', total: before + 1 })
})
