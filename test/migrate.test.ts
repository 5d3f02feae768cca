import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startPostgres } from '@gatehouse/testkit'
import { afterAll, describe, expect, test } from 'vitest'
import { openPostgres } from '../packages/server/src/storage/postgres/open.ts'
import { createDatabase, query } from '../packages/server/src/storage/postgres/testing.ts'
import { bin, type CliResult, Installation, invoke, type Run } from './support/server.ts'

const server = await startPostgres()
const missing = 'missing' in server ? server.missing : null
const serverUrl = 'url' in server ? server.url : ''
afterAll(async () => {
  if ('stop' in server) await server.stop()
})

const policy = `version: 1
rules:
  - { match: filesystem.write, tier: approval_required }
limits:
  - { match: filesystem.stat, limit: 3, window: 1h }
`
const odd = 'a\\b \u0000 ü'

const sha256 = (file: string): string =>
  createHash('sha256').update(readFileSync(file)).digest('hex')

const storeOf = (dataDir: string): { engine: string; store_id: string } =>
  JSON.parse(readFileSync(join(dataDir, 'store.json'), 'utf8'))

const stat = (run: Run, token: string) => invoke(run, token, 'filesystem.stat', { path: '.' })

const startRefusal = async (gate: Installation, flags: readonly string[]): Promise<string> =>
  gate.start(flags).then(
    () => 'it started',
    (cause: unknown) => String(cause),
  )

/** Ends the process in which it is with SIGKILL, once it has said that text or put a file in place of that name. */
const killer = (when: string): string => `
  import fs from 'node:fs'
  import { syncBuiltinESMExports } from 'node:module'
  const { stderr } = process
  const [write, rename] = [stderr.write.bind(stderr), fs.renameSync]
  const after = (said) => {
    if (String(said).endsWith(${JSON.stringify(when)})) process.kill(process.pid, 'SIGKILL')
  }
  stderr.write = (text, ...more) => {
    const answer = write(text, ...more)
    for (const word of String(text).split(' ')) after(word)
    return answer
  }
  fs.renameSync = (from, to) => {
    rename(from, to)
    after(to)
  }
  syncBuiltinESMExports()
`

/** Runs the command until then: by itself, since another process would come too late at times. */
const killed = async (
  dataDir: string,
  args: readonly string[],
  when: 'agents:' | '/store.json' | '/gatehouse.yaml',
): Promise<void> => {
  const preload = `data:text/javascript,${encodeURIComponent(killer(when))}`
  const child = spawn(
    process.execPath,
    ['--import', preload, bin, '--data-dir', dataDir, 'migrate', ...args, '--yes'],
    { stdio: 'ignore' },
  )
  expect(await once(child, 'exit'), when).toEqual([null, 'SIGKILL'])
}

/** The User API, as the command of this machine asks it. */
const ask = async <T>(gate: Installation, method: string, path: string): Promise<T> => {
  const token = readFileSync(join(gate.dataDir, 'cli-token'), 'utf8').trim()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await fetch(`${gate.run?.user_api_url}/api/${path}`, {
    ...{ method, headers },
    ...(method === 'POST' ? { body: '{}' } : {}),
  })
  return (await answer.json()) as T
}

const saying = (text: string) => ({ code: 1, stderr: expect.stringContaining(text) as string })

describe.skipIf(missing !== null)(
  `the data of an installation${missing === null ? '' : ` (skipped: ${missing})`}`,
  () => {
    test('moves to PostgreSQL and back, whole and provable, however often the move is killed', async () => {
      await using database = await createDatabase(serverUrl)
      await using gate = new Installation()
      const { dataDir } = gate
      const config = join(dataDir, 'gatehouse.yaml')
      writeFileSync(config, '# mine\nserver:\n  json_depth_max: 30\n', { mode: 0o600 })
      const move = (args: readonly string[]): Promise<CliResult> => gate.cli(['migrate', ...args])
      const to = ['--to', database.url]

      // The agent's home is the second process, whose log retention shortens: both logs move.
      await gate.start(['--workers', '2', '--audit-retention-max-bytes', '2097152'])
      const { token, workspace } = await gate.createAgent('mailbot')
      mkdirSync(workspace, { recursive: true })
      const rules = join(dataDir, 'mailbot.yaml')
      writeFileSync(rules, policy)
      await gate.json(['policy', 'set', '--agent', 'mailbot', rules])
      for (const [capability, args] of [
        ['state.set', { key: 'notes/a', value: odd }],
        ['filesystem.stat', { path: '.' }],
        ['filesystem.stat', { path: '.' }],
      ] as const)
        expect(await invoke(gate.run as Run, token, capability, args)).toMatchObject({
          result: { success: true },
        })
      const asked = { path: 'made.txt', content: 'yes' }
      await invoke(gate.run as Run, token, 'filesystem.write', asked)
      const long = { path: 'x'.repeat(3_500) }
      for (let at = 0; at < 400; at += 20)
        await Promise.all(
          Array.from({ length: 20 }, () => invoke(gate.run as Run, token, 'filesystem.read', long)),
        )
      const pruned = await gate.json<{ removed?: { entries: number } }>(['audit', 'prune', '--yes'])
      expect(pruned.removed?.entries).toBeGreaterThan(10)
      expect(await move([...to, '--yes'])).toMatchObject(saying('already uses the data'))
      await gate.stop()

      const before = storeOf(dataDir)
      const dry = await gate.json<{ tables: Record<string, number> }>([
        'migrate',
        ...to,
        '--dry-run',
      ])
      expect(dry.tables).toMatchObject({ agents: 2, approvals: 1, state: 1 })
      // Those of a minute ago may be gone.
      expect(dry.tables['limits']).toBeGreaterThan(2)
      const [tables] = await query(
        database.url,
        `select from pg_tables where schemaname = 'public'`,
      )
      expect(tables?.rowCount).toBe(0)
      expect(storeOf(dataDir)).toEqual(before)
      expect(await move(to)).toMatchObject({ code: 2 })

      // While rows are copied, then as soon as the copy is the store, then while the rest is put in its place.
      await killed(dataDir, to, 'agents:')
      expect(storeOf(dataDir)).toEqual(before)
      await killed(dataDir, to, '/store.json')
      expect(storeOf(dataDir).engine).toBe('postgres')
      const [url, file] = [['--database-url', database.url], join(dataDir, 'gatehouse.db')]
      expect(readFileSync(config, 'utf8')).not.toContain('database_url')
      expect(await startRefusal(gate, url)).toContain('is not finished')
      const old = sha256(file)
      await killed(dataDir, to, '/gatehouse.yaml')
      expect(readFileSync(config, 'utf8')).toContain('database_url')
      const finished = await gate.json<{ tables: Record<string, number>; kept: string }>([
        'migrate',
        ...to,
        '--yes',
      ])
      const limits = dry.tables['limits']
      expect(finished.tables).toMatchObject({ agents: 2, approvals: 1, state: 1, limits })
      expect(existsSync(file)).toBe(false)
      expect(sha256(finished.kept)).toBe(old)

      const written = readFileSync(config, 'utf8')
      expect(written).toContain('# mine')
      writeFileSync(config, '# mine\n')
      const refused = await startRefusal(gate, [])
      expect(refused).toContain(`the store of ${dataDir} is PostgreSQL, moved there on `)
      expect(refused).toContain('--back: Move the data to SQLite again')
      writeFileSync(config, written)

      await gate.start()
      const run = gate.run as Run
      expect(
        (await invoke(run, token, 'state.get', { key: 'notes/a' })).result?.data,
      ).toMatchObject({ value: odd })
      expect((await stat(run, token)).result?.success).toBe(true)
      expect((await stat(run, token)).error?.message).toContain('Rate limit exceeded')
      const { approvals } = await ask<{ approvals: [{ id: string }] }>(gate, 'GET', 'approvals')
      await ask(gate, 'POST', `approvals/${approvals[0].id}/approve`)
      const [begins] = await query(
        database.url,
        `select from meta where key like 'audit.removal.%'`,
      )
      expect(begins?.rowCount).toBe(1)
      const made = join(workspace, 'made.txt')
      await expect.poll(() => existsSync(made)).toBe(true)
      expect(await ask(gate, 'POST', 'audit/verify')).toMatchObject({ integrity: 'verified' })
      await gate.stop()

      // Others may have begun to use the database.
      const node = `node-${'0'.repeat(12)}`
      const seen = `extract(epoch from clock_timestamp() + interval '1 hour') * 1000`
      await query(
        database.url,
        `insert into nodes values ('${node}', 'other:/x', '1', null, 'active', 0, ${seen}, '{}')`,
      )
      expect(await move(['--back', '--yes'])).toMatchObject(saying(`${node} (other:/x) runs on`))
      await query(database.url, `update nodes set state = 'stopped' where name = '${node}'`)

      await killed(dataDir, ['--back'], 'agents:')
      expect(storeOf(dataDir).engine).toBe('postgres')
      expect(await startRefusal(gate, [])).toContain('its data was moved to SQLite in')
      const back = await gate.json<{ tables: Record<string, number> }>([
        'migrate',
        '--back',
        '--yes',
      ])
      expect(back.tables).toMatchObject({ agents: 2, approvals: 1, state: 1 })
      await expect(openPostgres({ url: database.url })).rejects.toThrow('was moved to SQLite')
      expect(readFileSync(config, 'utf8')).not.toContain('database_url')

      await gate.start()
      expect((await stat(gate.run as Run, token)).error?.message).toContain('Rate limit exceeded')
      expect(await ask(gate, 'POST', 'audit/verify')).toMatchObject({ integrity: 'verified' })
      const moved = await ask<{ entries: { detail: { tables: object } }[] }>(
        gate,
        'GET',
        'audit?capability=store.moved',
      )
      expect(moved.entries).toHaveLength(2)
      expect(moved.entries[1]?.detail.tables).toMatchObject({
        agents: expect.stringMatching(/^2 [0-9a-f]{64}$/) as string,
      })
    })
  },
)
