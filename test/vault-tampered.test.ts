import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SqliteConnection, type SqlValue } from '../packages/server/src/storage/sqlite/adapter.ts'
import { Installation } from './support/server.ts'

type Row = Record<string, SqlValue>
type Status = {
  readonly status: string
  readonly integrity: string
  readonly tampered: readonly string[]
  readonly reason: string | null
  readonly remedy: string | null
}
type Report = {
  readonly ok: boolean
  readonly checks: readonly { name: string; status: string; detail: string; fix?: string }[]
}

/** Attacker who can write to the database and has no key. */
const writeTo = <T>(dataDir: string, work: (database: SqliteConnection) => T): T => {
  using database = new SqliteConnection(join(dataDir, 'gatehouse.db'), { readOnly: false })
  return work(database)
}

const copyRow = (dataDir: string, name: string): Row =>
  writeTo(dataDir, (database) => {
    const row = database.run('select * from secrets where name = ?', [name]).rows[0]
    if (!row) throw new Error(`${name} is not stored`)
    return row as Row
  })

const putBack = (dataDir: string, row: Row): void =>
  writeTo(dataDir, (database) => {
    const columns = Object.keys(row)
    const sql = `update secrets set ${columns.map((column) => `${column} = ?`).join(', ')} where id = ?`
    database.run(sql, [...Object.values(row), row['id'] ?? null])
  })

const scope = ['--capability', 'git.*', '--host', 'git.example.org', '--agent', '*']

test('an older row that is put back is shown in vault status, health and doctor until it is replaced', async () => {
  await using installation = new Installation()
  const { dataDir } = installation
  const add = (name: string) =>
    installation.cli(['vault', 'add', name, ...scope], `the value of ${name} 0123456789\n`)
  const status = () => installation.json<Status>(['vault', 'status'])
  const doctor = async () =>
    JSON.parse((await installation.cli(['doctor', '--json'])).stdout) as Report
  await installation.start()
  await add('token')
  await add('other')
  const old = copyRow(dataDir, 'token')
  await installation.cli(['vault', 'rotate', 'token'], 'another value 0123456789\n')
  expect(await status()).toMatchObject({ status: 'healthy', integrity: 'verified', tampered: [] })
  const before = (await doctor()).checks.find(({ name }) => name === 'Vault')
  expect(before).toMatchObject({ status: 'ok', detail: '2 secrets' })

  putBack(dataDir, old)
  const found = await doctor()
  expect(found.ok).toBe(false)
  const finding = found.checks.find(({ name }) => name === 'Vault')
  expect(finding).toMatchObject({
    status: 'failed',
    detail: '1 secret is not as the vault stored it last: token',
    fix: expect.stringMatching(/gatehouse vault delete[^`]*` each secret/),
  })
  const health = found.checks.find(({ name }) => name === 'Health')
  expect(health?.detail).toContain(
    'The vault is degraded: 1 secret is not as the vault stored it last',
  )
  // Names of secrets are for operators who manage the vault; health is read by others as well.
  expect(health?.detail).not.toContain('token')
  expect(await status()).toMatchObject({
    status: 'degraded',
    integrity: 'failed',
    tampered: ['token'],
    reason: '1 secret is not as the vault stored it last',
  })
  expect((await installation.cli(['vault', 'status'])).stdout).toMatch(/Tampered with +token/)

  // The same after a restart, and without a server.
  await installation.stop()
  expect(await status()).toMatchObject({ status: 'degraded', tampered: ['token'] })
  await installation.start()
  expect(await status()).toMatchObject({ status: 'degraded', tampered: ['token'] })

  await installation.cli(['vault', 'delete', 'token', '--yes'])
  await add('token')
  expect(await status()).toMatchObject({ status: 'healthy', integrity: 'verified', tampered: [] })
  const after = await doctor()
  expect(after.checks.find(({ name }) => name === 'Vault')?.status).toBe('ok')
  expect(after.checks.find(({ name }) => name === 'Health')?.detail).not.toContain('vault')
})
