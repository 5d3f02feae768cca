import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { startPostgres } from '@gatehouse/testkit'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createDatabase, query } from '../packages/server/src/storage/postgres/testing.ts'
import { Installation } from './support/server.ts'

const server = await startPostgres()
const missing = 'missing' in server ? server.missing : null
const serverUrl = 'url' in server ? server.url : ''
afterAll(async () => {
  if ('stop' in server) await server.stop()
})

/** Every file with a digest, but for the lock and the process id that a start holds while it looks. */
const contentsOf = (folder: string, below = ''): string[] =>
  readdirSync(join(folder, below)).flatMap((name) => {
    const path = join(below, name)
    if (/^(lock|pid|server\.pid)/.test(path)) return []
    if (statSync(join(folder, path)).isDirectory()) return [path, ...contentsOf(folder, path)]
    return [
      `${path} ${createHash('sha256')
        .update(readFileSync(join(folder, path)))
        .digest('hex')}`,
    ]
  })

/** Every row of every table. */
const rowsOf = async (url: string): Promise<unknown> => {
  const [tables] = await query(
    url,
    `select tablename as name from pg_tables where schemaname = 'public' order by 1`,
  )
  const names = (tables?.rows ?? []) as { name: string }[]
  const found = await query(
    url,
    ...names.map(({ name }) => `select coalesce(json_agg(t)::text, '') as rows from "${name}" t`),
  )
  return names.map(({ name }, at) => [name, found[at]?.rows])
}

const storeIdOf = (dataDir: string): string =>
  JSON.parse(readFileSync(join(dataDir, 'store.json'), 'utf8')).store_id

describe.skipIf(missing !== null)(
  `a data directory and its PostgreSQL${missing === null ? '' : ` (skipped: ${missing})`}`,
  () => {
    test('belong together: another store is refused before a byte of either is written', async () => {
      await using own = await createDatabase(serverUrl)
      await using other = await createDatabase(serverUrl)
      await using empty = await createDatabase(serverUrl)
      const at = ({ url }: { readonly url: string }) => ['--database-url', url]
      await using one = new Installation()
      await using two = new Installation()
      await one.start(at(own))
      await one.createAgent('mailbot')
      await one.stop()
      await two.start(at(other))
      await two.stop()
      const [ownId, otherId] = [storeIdOf(one.dataDir), storeIdOf(two.dataDir)]
      expect(ownId).not.toBe(otherId)
      const look = async () => ({
        files: contentsOf(one.dataDir),
        rows: [await rowsOf(own.url), await rowsOf(other.url), await rowsOf(empty.url)],
      })
      const before = await look()

      const refused = (flags: readonly string[]) =>
        one.start(flags).then(
          () => 'it started',
          (cause: unknown) => String(cause),
        )
      const wrong = await refused(at(other))
      expect(wrong).toContain(`the data directory belongs to the store ${ownId}`)
      expect(wrong).toContain(`the database of database_url is the store ${otherId}`)
      expect(wrong).toMatch(/--data-dir: Name the data directory of this store/)
      expect(wrong).toMatch(/database_url: Name the database of this data directory/)
      const none = await refused(at(empty))
      expect(none).toContain(ownId)
      expect(none).toContain('the database of database_url is an empty or foreign database')
      const sqlite = await refused([])
      expect(sqlite).toContain(`the store of ${one.dataDir} is PostgreSQL`)
      expect(sqlite).toContain('no database_url is set')
      vi.stubEnv('GATEHOUSE_DATABASE_URL', other.url)
      onTestFinished(() => void vi.unstubAllEnvs())
      const command = await one.cli(['agent', 'list'])
      vi.unstubAllEnvs()
      expect([command.code, command.stderr]).toEqual([1, expect.stringContaining(ownId)])
      expect(await look()).toEqual(before)

      await one.start(at(own))
      expect(await one.json(['audit', 'verify'])).toMatchObject({ integrity: 'verified' })
    })

    test('are SQLite and no PostgreSQL, where the directory began with SQLite', async () => {
      await using database = await createDatabase(serverUrl)
      await using gate = new Installation()
      await gate.start()
      await gate.stop()
      const look = async () => [contentsOf(gate.dataDir), await rowsOf(database.url)]
      const before = await look()
      await expect(gate.start(['--database-url', database.url])).rejects.toThrow(
        `the store of ${gate.dataDir} is SQLite, and --database-url names PostgreSQL`,
      )
      expect(await look()).toEqual(before)
    })
  },
)
