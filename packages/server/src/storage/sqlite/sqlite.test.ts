import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeStorage } from '@gatehouse/testkit'
import { type Kysely, type Migration, sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { AuditRow, CommitGroup } from '../../ports/audit-rows.ts'
import { migrations } from '../sql/migrations.ts'
import { SqliteConnection } from './adapter.ts'
import { sqliteSchema } from './dialect.ts'
import { openSqlite, openSqliteWith } from './open.ts'
import { assertWriterSettings, settleWriter } from './settings.ts'

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

const row = (seq: number): AuditRow => ({
  chain: 'main',
  seq,
  id: `aud-${seq}`,
  hash: 'f'.repeat(64),
  body: `{"seq":${seq}}`,
  timestamp: '2026-01-01T00:00:00.000Z',
  kind: 'call',
  agent: 'a',
  capability: 'filesystem.read',
  result: 'success',
  policy_decision: 'autonomous',
  session_id: null,
  duration_ms: 1,
  intent_id: null,
  approval_id: null,
})

const group = (...rows: AuditRow[]): CommitGroup => ({
  rows,
  stamps: [],
  agentCounts: new Map(),
  sessionCounts: new Map(),
  clockMs: 0,
})

/** What SQLite itself said. */
/** Another program that opens the same file. */
const foreignHand = (file: string) => new SqliteConnection(file, { readOnly: false })

/** Overwrites one byte of a file in place. */
const pokeByte = (file: string, offset: number): void => {
  const fd = openSync(file, 'r+')
  writeSync(fd, readFileSync(file).subarray(offset, offset + 1), 0, 1, offset)
  closeSync(fd)
}

describe('the settings of SQLite', () => {
  test('are those that durability rests on', () => {
    using folder = inFolder()
    using writer = foreignHand(folder.file)
    settleWriter(writer)
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
    settleWriter(writer)
    expect(() => assertWriterSettings(writer)).not.toThrow()
    writer.exec(`pragma ${pragma}`)
    expect(() => assertWriterSettings(writer)).toThrow(new RegExp(pragma.split(' ')[0] as string))
  })

  test('are refused where the file cannot have a WAL', () => {
    using memory = foreignHand(':memory:')
    expect(() => settleWriter(memory)).toThrow(/journal_mode = memory, and wal is needed/)
  })
})

describe('a SQLite file', () => {
  test('may be read by its owner only, with all that lies beside it', async () => {
    using folder = inFolder()
    await using storage = await openSqlite({ file: folder.file })
    await storage.indexGroup(group(row(0)))
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

  test('refuses work after it was closed', async () => {
    using folder = inFolder()
    const storage = await openSqlite({ file: folder.file })
    await storage[Symbol.asyncDispose]()
    await storage[Symbol.asyncDispose]()
    const closed = { type: 'StorageUnavailable' }
    await expect(storage.indexGroup(group(row(0)))).rejects.toMatchObject(closed)
    await expect(storage.meta.get('k')).rejects.toMatchObject(closed)
    await expect(storage.transaction(async () => {})).rejects.toMatchObject(closed)
  })

  test('has a group on disk when the call returns, where nobody else is writing', async () => {
    using folder = inFolder()
    await using storage = await openSqlite({ file: folder.file })
    const done = storage.indexGroup(group(row(0)))
    using other = foreignHand(folder.file)
    expect(other.value('select count(*) from audit')).toBe(1)
    await done
  })
})

describe('a foreign change of a SQLite file', () => {
  const opened = async (file: string) => {
    const storage = await openSqlite({ file })
    for (let seq = 0; seq < 40; seq++) await storage.indexGroup(group(row(seq)))
    expect(await storage.foreignChange()).toBe(false)
    return storage
  }

  test.each([
    ['a row', `insert into meta values ('k', 'v')`],
    ['a row of the index', `update audit set agent = 'other'`],
    ['the schema', 'create table extra (x)'],
  ])('shows when another connection changes %s', async (_, statement) => {
    using folder = inFolder()
    await using storage = await opened(folder.file)
    using other = foreignHand(folder.file)
    other.exec(statement)
    expect(await storage.foreignChange()).toBe(true)
    expect(await storage.foreignChange()).toBe(false)
  })

  test.each(['', '-wal'])('shows when a byte of the file%s is written in place', async (suffix) => {
    using folder = inFolder()
    await using storage = await opened(folder.file)
    pokeByte(`${folder.file}${suffix}`, 200)
    expect(await storage.foreignChange()).toBe(true)
    expect(await storage.foreignChange()).toBe(false)
  })

  test.each(['', '-wal'])(
    'in a byte of the file%s is not covered by our own writes after it',
    async (suffix) => {
      using folder = inFolder()
      await using storage = await opened(folder.file)
      let seq = 40
      const writes = [
        () => storage.indexGroup(group(row(seq++))),
        () => storage.meta.set('k', 'v'),
        () => storage.transaction((tx) => tx.meta.set('k', 'w')),
      ]
      for (const write of writes) {
        pokeByte(`${folder.file}${suffix}`, 200)
        await write()
        expect(await storage.foreignChange()).toBe(true)
        await write()
        expect(await storage.foreignChange()).toBe(false)
      }
    },
  )

  test('within a transaction of ours shows after it', async () => {
    using folder = inFolder()
    await using storage = await opened(folder.file)
    await storage.transaction(async (tx) => {
      await tx.meta.set('k', 'v')
      pokeByte(folder.file, 200)
    })
    expect(await storage.foreignChange()).toBe(true)
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
    await first.indexGroup(group(row(0)))
    await first[Symbol.asyncDispose]()
    await (await openSqliteWith({ file: other.file }, addTable))[Symbol.asyncDispose]()
    await using restored = await openSqlite({ file: `${other.file}.before-9998-notes` })
    expect((await restored.auditIndex.progress('main')).next).toBe(1)
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

  test('of a newer program makes an older program refuse the store, and say why', async () => {
    using folder = inFolder()
    await (await openSqliteWith({ file: folder.file }, addTable))[Symbol.asyncDispose]()
    await expect(openSqlite({ file: folder.file })).rejects.toMatchObject({
      type: 'StorageUnavailable',
      message: expect.stringMatching(/newer version of Gatehouse.*9998-notes/) as string,
    })
    await (await openSqliteWith({ file: folder.file }, addTable))[Symbol.asyncDispose]()
  })
})

test('the service clock of an earlier store is taken over', async () => {
  using folder = inFolder()
  const { file } = folder
  await (await openSqlite({ file }))[Symbol.asyncDispose]()
  {
    using raw = new SqliteConnection(file, { readOnly: false })
    raw.exec(`drop table service_clock;
      drop index agents_change;
      alter table agents drop column change_number;
      drop table audit_copies;
      drop table audit_progress;
      alter table audit add column hash text;
      alter table audit add column body text;
      delete from schema_migrations where name >= '0012-clock';
      insert into meta (key, value) values ('clock_ms', '5000')`)
  }
  await using storage = await openSqlite({ file })
  expect(await storage.clock.read()).toBe(5_000)
  expect(await storage.meta.get('clock_ms')).toBeNull()
})
