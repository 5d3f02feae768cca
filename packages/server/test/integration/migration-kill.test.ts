import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Kysely } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FifoMutex } from '../../src/storage/mutex.ts'
import { migrate } from '../../src/storage/sql/migrate.ts'
import { migrations } from '../../src/storage/sql/migrations.ts'
import type { Tables } from '../../src/storage/sql/tables.ts'
import { SqliteConnection } from '../../src/storage/sqlite/adapter.ts'
import { sqliteSchema, writerDialect } from '../../src/storage/sqlite/dialect.ts'
import { openSqlite } from '../../src/storage/sqlite/open.ts'
import { applyWriterSettings } from '../../src/storage/sqlite/settings.ts'

const full = process.env['GATEHOUSE_FULL'] === '1'
const steps = Object.keys(migrations(sqliteSchema)).toSorted()
const [first = '', last = ''] = [steps[0], steps.at(-1)]

/** Stands still in the middle of a migration until it is killed. */
const child = `
import { writeSync } from 'node:fs'
import { migrations } from '@gatehouse/server/storage/sql/migrations'
import { sqliteSchema } from '@gatehouse/server/storage/sqlite/dialect'
import { openSqliteWith } from '@gatehouse/server/storage/sqlite/open'
const [file, target, when] = process.argv.slice(1)
const stand = () => {
  writeSync(1, 'stands')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}
const steps = Object.entries(migrations(sqliteSchema)).map(([name, step]) => [name, {
  async up(db) {
    if (name === target && when === 'before') stand()
    await step.up(db)
    if (name === target && when === 'after') stand()
  },
}])
await openSqliteWith({ file }, Object.fromEntries(steps))
stand()
`

let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-migrations-'))
  const only = Object.fromEntries([[first, migrations(sqliteSchema)[first]]])
  using writer = new SqliteConnection(join(folder, 'early.db'), { readOnly: false })
  applyWriterSettings(writer)
  const dialect = writerDialect(writer, new FifoMutex(), () => undefined)
  await migrate(new Kysely<Tables>({ dialect }), only as never, async () => {})
  writer.exec(`insert into meta (key, value) values ('clock_ms', '5000'), ('kept', 'a value')`)
  writer.exec('pragma wal_checkpoint(truncate)')
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Before and after each step that is pending, and after the last one: 43 of 22 steps. */
const points = [
  ...steps.slice(1).flatMap((step) => [
    { step, when: 'before' },
    { step, when: 'after' },
  ]),
  { step: 'none of them', when: 'at the end' },
]

const killAt = async (file: string, step: string, when: string): Promise<void> => {
  const running = spawn(process.execPath, ['--input-type=module', '-e', child, file, step, when], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
  })
  const closed = once(running, 'close')
  try {
    const [said] = await Promise.race([once(running.stdout, 'data'), closed])
    expect(String(said)).toBe('stands')
  } finally {
    running.kill('SIGKILL')
  }
  await closed
}

const lastStep = (file: string): unknown => {
  using hand = new SqliteConnection(file, { readOnly: false })
  return hand.value('select max(name) from schema_migrations')
}

test.each(full ? points : points.filter((_, i) => i % 14 === 0))(
  'a store whose upgrade is killed $when $step is as it was or as it is to be, and the next start is good',
  async ({ step, when }) => {
    const file = join(folder, `${step}-${when}.db`)
    copyFileSync(join(folder, 'early.db'), file)
    await killAt(file, step, when)
    expect(lastStep(file)).toBe(when === 'at the end' ? last : first)
    {
      await using storage = await openSqlite({ file })
      expect(await storage.meta.get('kept')).toBe('a value')
      expect(await storage.clock.read()).toBe(5_000)
    }
    expect(lastStep(file)).toBe(last)
  },
)
