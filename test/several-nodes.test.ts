import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '@gatehouse/testkit'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { createDatabase, query } from '../packages/server/src/storage/postgres/testing.ts'
import { Installation } from './support/server.ts'

const server = await startPostgres()
const missing = 'missing' in server ? server.missing : null
const serverUrl = 'url' in server ? server.url : ''
afterAll(async () => {
  if ('stop' in server) await server.stop()
})

type Listed = {
  readonly nodes: readonly {
    readonly name: string
    readonly status: string
    readonly answering: boolean
    readonly address: string | null
    readonly policy_version: string | null
  }[]
}

const refusal = (node: Installation, flags: readonly string[]): Promise<string> =>
  node.start(flags).then(
    () => 'it started',
    (cause: unknown) => String(cause),
  )

/** What makes a node one of the installation. */
const shareKeys = (from: Installation, to: Installation): void => {
  for (const file of ['vault.key', 'tls/ca.pem', 'tls/ca-key.pem'])
    cpSync(join(from.dataDir, file), join(to.dataDir, file), { recursive: true })
}

/** A machine whose clock is wrong. */
const laterClock = 'const { now } = Date; Date.now = () => now() + 5000'

const ready = async ({ run }: Installation): Promise<number> =>
  (await fetch(`${run?.user_api_url}/readyz`)).status

describe.skipIf(missing !== null)(
  `nodes on one PostgreSQL${missing === null ? '' : ` (skipped: ${missing})`}`,
  () => {
    test('a second one starts with the keys of the first alone, and both are seen, drained and forgotten', async () => {
      await using database = await createDatabase(serverUrl)
      const flags = ['--database-url', database.url]
      await using one = new Installation()
      await using two = new Installation()
      await one.start(flags)

      expect(await refusal(two, flags)).toContain(
        `it cannot open the vault that the nodes share: there is no ${join(two.dataDir, 'vault.key')}`,
      )
      cpSync(join(one.dataDir, 'vault.key'), join(two.dataDir, 'vault.key'))
      expect(await refusal(two, flags)).toContain(
        'is not the certificate authority that the nodes share: it is missing',
      )
      shareKeys(one, two)
      two.nodeFlags = ['--import', `data:text/javascript,${encodeURIComponent(laterClock)}`]
      expect(await refusal(two, flags)).toMatch(
        /its clock is 5\.\d s ahead of the database's, and at most 1\.0 s is allowed/,
      )
      two.nodeFlags = []
      await two.start(flags)
      expect(await two.json(['agent', 'list'])).toMatchObject({ agents: [{ name: 'first-agent' }] })

      const list = () => one.json<Listed>(['nodes', 'list'])
      const { nodes } = await list()
      expect(nodes.map(({ status }) => status)).toEqual(['active', 'active'])
      expect(new Set(nodes.map(({ policy_version }) => policy_version)).size).toBe(1)
      const other = nodes.find(({ answering }) => !answering)
      expect(other?.address).toBe(two.run?.gateway_url)
      const name = other?.name ?? ''
      const statusOf = async () => (await list()).nodes.find((node) => node.name === name)?.status

      expect(await ready(two)).toBe(200)
      const running = await one.cli(['nodes', 'forget', name])
      expect([running.code, running.stderr]).toEqual([1, expect.stringContaining('is running')])
      await one.json(['nodes', 'drain', name])
      await expect.poll(() => ready(two), { timeout: 10_000 }).toBe(503)
      expect(await statusOf()).toBe('draining')
      expect(await ready(one)).toBe(200)
      await one.json(['nodes', 'resume', name])
      await expect.poll(() => ready(two), { timeout: 10_000 }).toBe(200)

      await two.kill()
      await query(database.url, `update nodes set seen_ms = 0 where name = '${name}'`)
      expect(await statusOf()).toBe('missing')
      const reasons = async () =>
        (await one.json<{ health_reasons: string[] }>(['status'])).health_reasons
      await expect
        .poll(reasons, { timeout: 10_000 })
        .toEqual([expect.stringContaining(`gatehouse nodes forget ${name}`)])
      await one.json(['nodes', 'forget', name])
      await expect.poll(reasons, { timeout: 10_000 }).toEqual([])
      const unknown = await one.cli(['nodes', 'forget', name])
      expect([unknown.code, unknown.stderr]).toEqual([5, expect.stringContaining(name)])

      await two.start(flags)
      expect(await statusOf()).toBe('active')
      expect(await two.stop()).toBe(0)
      expect(await statusOf()).toBe('stopped')
      const acts = await one.json<{ entries: { capability: string }[] }>(['audit', 'query'])
      expect(acts.entries.map(({ capability }) => capability)).toEqual(
        expect.arrayContaining(['node.drained', 'node.resumed', 'node.forgotten']),
      )
    })

    test('a copy of a data directory does not start beside the original, and nothing is written for it', async () => {
      await using database = await createDatabase(serverUrl)
      const flags = ['--database-url', database.url]
      await using one = new Installation()
      await one.start(flags)
      const folder = mkdtempSync(join(tmpdir(), 'gatehouse-copy-'))
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
      const data = join(folder, 'data')
      cpSync(one.dataDir, data, {
        recursive: true,
        filter: (file) => !/(lock\.pid|run\.json|\.lock)$/.test(file),
      })
      await using copy = new Installation(data)
      expect(await refusal(copy, flags)).toMatch(
        /node-\w+ runs at .*and this data directory is a copy/,
      )
      await one.stop()
      await copy.start(flags)
      expect(await copy.json(['audit', 'verify'])).toMatchObject({ integrity: 'verified' })
    })
  },
)
