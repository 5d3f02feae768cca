import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeStorage } from '@gatehouse/testkit'
import { Kysely, type Migration, sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { CommitGroup, CopiedEntry } from '../../ports/audit-rows.ts'
import type { ChangedKind, Storage, StoreSharing } from '../../ports/storage.ts'
import { FifoMutex } from '../mutex.ts'
import { migrate } from '../sql/migrate.ts'
import { migrations } from '../sql/migrations.ts'
import type { Tables } from '../sql/tables.ts'
import { SqliteConnection } from './adapter.ts'
import { sqliteSchema, writerDialect } from './dialect.ts'
import { openSqlite, openSqliteWith } from './open.ts'
import { applyWriterSettings, assertWriterSettings } from './settings.ts'

const inFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-sqlite-'))
  return {
    file: join(folder, 'gatehouse.db'),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}

describeStorage('sqlite', async () => {
  const folder = inFolder()
  let storage = await openSqlite({ file: folder.file })
  return {
    storage,
    async reopen() {
      await storage[Symbol.asyncDispose]()
      storage = await openSqlite({ file: folder.file })
      return storage
    },
    async [Symbol.asyncDispose]() {
      await storage[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
})

/** Two processes of one machine, as far as one process can show that. */
const sharedBy = (joins: boolean, told: ChangedKind[] = []): StoreSharing => ({
  joins,
  tell: (kind) => told.push(kind),
  onForeignChange: () => ({ [Symbol.dispose]() {} }),
})

describeStorage('sqlite beside another process', async () => {
  const folder = inFolder()
  const open = () => openSqlite({ file: folder.file, sharing: sharedBy(false) })
  let storage = await open()
  const other = await openSqlite({ file: folder.file, sharing: sharedBy(true) })
  return {
    storage,
    async reopen() {
      await storage[Symbol.asyncDispose]()
      storage = await open()
      return storage
    },
    async [Symbol.asyncDispose]() {
      await other[Symbol.asyncDispose]()
      await storage[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
})

describe('a file that several processes have open', () => {
  test('transactions of all of them wait for each other, and none blocks the thread', async () => {
    using folder = inFolder()
    await using first = await openSqlite({ file: folder.file, sharing: sharedBy(false) })
    await using second = await openSqlite({ file: folder.file, sharing: sharedBy(true) })
    const add = (storage: Storage) =>
      storage.transaction(async (tx) => {
        const before = Number((await tx.meta.get('sum')) ?? 0)
        await new Promise((resolve) => setTimeout(resolve, 2))
        await tx.meta.set('sum', String(before + 1))
      })
    const group = {
      chain: 'a',
      rows: [row(0)],
      stamps: [],
      agentCounts: new Map(),
      sessionCounts: new Map(),
      clockMs: 7,
    }
    let turns = 0
    const turning = setInterval(() => (turns += 1), 1)
    void first.record(group)
    void second.record({ ...group, chain: 'b', clockMs: 5 })
    await Promise.all(Array.from({ length: 40 }, (_, at) => add(at % 2 === 0 ? first : second)))
    clearInterval(turning)
    expect(await first.meta.get('sum')).toBe('40')
    expect(await second.meta.get('sum')).toBe('40')
    // The event loop went on while they waited.
    expect(turns).toBeGreaterThan(20)
    await Promise.all([first.flush(), second.flush()])
    expect([await first.recorded('b'), await second.recorded('a')]).toEqual([1, 1])
    expect(await second.clock.read()).toBe(7)
  })

  test('each tells the others what it changed, once that is committed', async () => {
    using folder = inFolder()
    const told: ChangedKind[] = []
    await using storage = await openSqlite({ file: folder.file, sharing: sharedBy(false, told) })
    told.length = 0
    await storage.transaction(async (tx) => {
      await tx.meta.set('k', 'v')
      expect(told).toEqual([])
    })
    expect(told).toEqual(['policy'])
    const undone = storage.transaction(async (tx) => {
      await tx.meta.set('k', 'w')
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    expect(told).toEqual(['policy'])
  })

  test('is whole, with its sum, once the first of them has closed it', async () => {
    using folder = inFolder()
    const first = await openSqlite({ file: folder.file, sharing: sharedBy(false) })
    const second = await openSqlite({ file: folder.file, sharing: sharedBy(true) })
    await second.meta.set('k', 'v')
    await second[Symbol.asyncDispose]()
    expect(existsSync(`${folder.file}.sha256`)).toBe(false)
    await first[Symbol.asyncDispose]()
    expect(existsSync(`${folder.file}.sha256`)).toBe(true)
    await using alone = await openSqlite({ file: folder.file })
    expect(await alone.meta.get('k')).toBe('v')
  })
})

const row = (seq: number): CopiedEntry => ({ seq, hash: 'f'.repeat(64), body: `{"seq":${seq}}` })

const group = (...rows: CopiedEntry[]): CommitGroup => ({
  chain: 'main',
  rows,
  stamps: [],
  agentCounts: new Map(),
  sessionCounts: new Map(),
  clockMs: 0,
})

/** Another program that opens the same file. */
const foreignHand = (file: string) => new SqliteConnection(file, { readOnly: false })

describe('the settings of SQLite', () => {
  test('are those that durability rests on', () => {
    using folder = inFolder()
    using writer = foreignHand(folder.file)
    applyWriterSettings(writer)
    const settings = [
      'journal_mode',
      'synchronous',
      'trusted_schema',
      'cell_size_check',
      'busy_timeout',
      'foreign_keys',
      'wal_autocheckpoint',
    ]
    expect(
      Object.fromEntries(settings.map((name) => [name, writer.value(`pragma ${name}`)])),
    ).toEqual({
      journal_mode: 'wal',
      synchronous: 2,
      trusted_schema: 0,
      cell_size_check: 1,
      busy_timeout: 5_000,
      foreign_keys: 1,
      wal_autocheckpoint: 1000,
    })
  })

  test.each([
    'synchronous = normal',
    'trusted_schema = on',
    'cell_size_check = off',
    'foreign_keys = off',
    'wal_autocheckpoint = 0',
    'busy_timeout = 0',
  ])('are refused with %s', (pragma) => {
    using folder = inFolder()
    using writer = foreignHand(folder.file)
    applyWriterSettings(writer)
    expect(() => assertWriterSettings(writer)).not.toThrow()
    writer.exec(`pragma ${pragma}`)
    expect(() => assertWriterSettings(writer)).toThrow(new RegExp(pragma.split(' ')[0] as string))
  })

  test('are refused where the file cannot have a WAL', () => {
    using memory = foreignHand(':memory:')
    expect(() => applyWriterSettings(memory)).toThrow(/journal_mode = memory, and wal is needed/)
  })
})

describe('a SQLite file', () => {
  test('may be read by its owner only, with all that lies beside it', async () => {
    using folder = inFolder()
    await using storage = await openSqlite({ file: folder.file })
    await storage.meta.set('k', 'v')
    for (const file of [folder.file, `${folder.file}-wal`])
      expect((statSync(file).mode & 0o777).toString(8)).toBe('600')
  })

  test('that is none is refused by name', async () => {
    using folder = inFolder()
    appendFileSync(folder.file, 'This is a text and not a database. '.repeat(100))
    await expect(openSqlite({ file: folder.file })).rejects.toMatchObject({
      type: 'StorageUnavailable',
      message: expect.stringContaining('gatehouse.db: the file is no database') as string,
    })
  })

  test('is one whole file after it was closed', async () => {
    using folder = inFolder()
    const storage = await openSqlite({ file: folder.file })
    await storage.meta.set('k', 'v')
    expect(statSync(`${folder.file}-wal`).size).toBeGreaterThan(0)
    await storage[Symbol.asyncDispose]()
    const wal = statSync(`${folder.file}-wal`, { throwIfNoEntry: false })
    expect(wal?.size ?? 0).toBe(0)
    // As somebody copies it: without the rest of the folder.
    using copied = inFolder()
    copyFileSync(folder.file, copied.file)
    await using opened = await openSqlite({ file: copied.file })
    expect(await opened.meta.get('k')).toBe('v')
  })

  test('of which one bit is another since it was closed is refused by name, and as it was it opens', async () => {
    using folder = inFolder()
    const store = await openSqlite({ file: folder.file })
    await store.meta.set('k', 'a value of this row')
    await store[Symbol.asyncDispose]()
    const bytes = readFileSync(folder.file)
    const at = bytes.indexOf('a value of this row')
    expect(at).toBeGreaterThan(0)
    writeFileSync(folder.file, bytes.fill('A', at, at + 1))
    await expect(openSqlite({ file: folder.file })).rejects.toMatchObject({
      type: 'StorageUnavailable',
      message: expect.stringContaining('gatehouse.db: it is not as the service left it') as string,
      recovery: [
        { action: 'restore a backup' },
        { action: expect.stringMatching(/^rm .*gatehouse\.db\.sha256$/) as string },
      ],
    })
    writeFileSync(folder.file, bytes.fill('a', at, at + 1))
    {
      await using opened = await openSqlite({ file: folder.file })
      expect(await opened.meta.get('k')).toBe('a value of this row')
    }
    // Changed on purpose: without the sum it opens as it is.
    using other = foreignHand(folder.file)
    other.exec("update meta set value = 'another' where key = 'k'")
    await expect(openSqlite({ file: folder.file })).rejects.toMatchObject({
      type: 'StorageUnavailable',
    })
    rmSync(`${folder.file}.sha256`)
    await using changed = await openSqlite({ file: folder.file })
    expect(await changed.meta.get('k')).toBe('another')
  })

  test('that was not closed has no sum that a later start could take for its own', async () => {
    using folder = inFolder()
    await (await openSqlite({ file: folder.file }))[Symbol.asyncDispose]()
    expect(existsSync(`${folder.file}.sha256`)).toBe(true)
    await using opened = await openSqlite({ file: folder.file })
    await opened.meta.set('k', 'v')
    expect(existsSync(`${folder.file}.sha256`)).toBe(false)
  })

  test('refuses work after it was closed', async () => {
    using folder = inFolder()
    const storage = await openSqlite({ file: folder.file })
    await storage[Symbol.asyncDispose]()
    await storage[Symbol.asyncDispose]()
    const closed = { type: 'StorageUnavailable' }
    await expect(storage.meta.get('k')).rejects.toMatchObject(closed)
    await expect(storage.transaction(async () => {})).rejects.toMatchObject(closed)
  })

  test('has on disk what groups counted once it is asked for, and what they counted a moment ago soon', async () => {
    using folder = inFolder()
    await using storage = await openSqlite({ file: folder.file })
    using other = foreignHand(folder.file)
    const clock = () => other.value('select ms from service_clock')
    void storage.record({ ...group(row(0)), clockMs: 5 })
    expect(clock()).toBe(0)
    expect(await storage.clock.read()).toBe(5)
    expect(clock()).toBe(5)
    void storage.record({ ...group(row(1)), clockMs: 6 })
    await expect.poll(clock).toBe(6)
  })
})

describe('a migration of SQLite', () => {
  const known = migrations(sqliteSchema)
  const step = (name: string, up: (db: Kysely<unknown>) => Promise<unknown>) => ({
    ...known,
    [name]: {
      async up(db: Kysely<unknown>) {
        await up(db)
      },
    } satisfies Migration,
  })
  const addTable = step('9998-notes', (db) => sql`create table notes (text text)`.execute(db))

  test('copies a store in use beside it first, and a new one not', async () => {
    using folder = inFolder()
    const copy = `${folder.file}.before-9998-notes`
    await (await openSqliteWith({ file: folder.file }, addTable))[Symbol.asyncDispose]()
    expect(existsSync(copy)).toBe(false)

    using other = inFolder()
    const first = await openSqlite({ file: other.file })
    void first.record(group(row(0)))
    await first[Symbol.asyncDispose]()
    await (await openSqliteWith({ file: other.file }, addTable))[Symbol.asyncDispose]()
    await using restored = await openSqlite({ file: `${other.file}.before-9998-notes` })
    expect(await restored.recorded('main')).toBe(1)
    expect((statSync(`${other.file}.before-9998-notes`).mode & 0o777).toString(8)).toBe('600')
  })

  test('that fails is undone whole, and says which it was', async () => {
    using folder = inFolder()
    const first = await openSqlite({ file: folder.file })
    await first.meta.set('k', 'v')
    await first[Symbol.asyncDispose]()
    const failing = {
      ...addTable,
      ...step('9999-wrong', (db) => sql`create table notes (text text)`.execute(db)),
    }
    await expect(
      openSqliteWith({ file: folder.file }, { ...addTable, ...failing }),
    ).rejects.toMatchObject({
      type: 'StorageUnavailable',
      message: expect.stringContaining('9999-wrong') as string,
    })
    await using again = await openSqlite({ file: folder.file })
    expect(await again.meta.get('k')).toBe('v')
    using other = foreignHand(folder.file)
    expect(other.value(`select count(*) from sqlite_schema where name = 'notes'`)).toBe(0)
  })

  test('of a newer program makes an older program refuse the store, and say which version it needs', async () => {
    using folder = inFolder()
    {
      await using newer = await openSqliteWith({ file: folder.file }, addTable)
      const facts = { place: 'here', address: null, state: 'stopped', facts_json: '{}' } as const
      for (const [version, started_ms] of [
        ['9.1.0', 2],
        ['0.1.0', 1],
      ] as const)
        await newer.nodes.put({ name: version, version, started_ms, seen_ms: 3, ...facts })
    }
    await expect(openSqlite({ file: folder.file })).rejects.toMatchObject({
      type: 'StorageUnavailable',
      message: expect.stringMatching(
        /newer version of Gatehouse 9\.1\.0 .*9998-notes.*Run Gatehouse 9\.1\.0 or a newer one/,
      ) as string,
    })
    await (await openSqliteWith({ file: folder.file }, addTable))[Symbol.asyncDispose]()
  })
})

test('the service clock of an earlier store is taken over', async () => {
  using folder = inFolder()
  const { file } = folder
  const early = Object.entries(migrations(sqliteSchema)).filter(([name]) => name < '0012-clock')
  {
    using writer = foreignHand(file)
    applyWriterSettings(writer)
    const dialect = writerDialect(writer, new FifoMutex(), () => undefined)
    await migrate(new Kysely<Tables>({ dialect }), Object.fromEntries(early), async () => {})
    writer.exec(`insert into meta (key, value) values ('clock_ms', '5000')`)
  }
  await using storage = await openSqlite({ file })
  expect(await storage.clock.read()).toBe(5_000)
  expect(await storage.meta.get('clock_ms')).toBeNull()
})
