import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Invite, inviteText, parseInvite } from '@gatehouse/contract/node-invite'
import { startPostgres } from '@gatehouse/testkit'
import { hasProgram } from '@gatehouse/testkit/programs'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { createDatabase, query } from '../packages/server/src/storage/postgres/testing.ts'
import { Dashboard } from './support/dashboard.ts'
import { Keyboard } from './support/keyboard.ts'
import { Installation, invoke, type Run } from './support/server.ts'

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
    readonly log_finding: { readonly kind: string } | null
    readonly unreachable: string | null
  }[]
}

// The SDK takes the WebSocket of the platform, which Node 20 has none of.
Object.assign(globalThis, { WebSocket })

const gatewayOf = ({ run }: Installation): string | undefined => run?.gateway_url

const bearerOf = (token: string) => ({ Authorization: `Bearer ${token}` })

const overHttp = ({ run }: Installation, token: string): Transport =>
  new StreamableHTTPClientTransport(new URL(`${run?.gateway_url}/mcp`), {
    requestInit: { headers: bearerOf(token) },
  }) as Transport

const overWebSocket = ({ run }: Installation, token: string): Transport =>
  new WebSocketClientTransport(new URL(`${run?.mcp_url}?token=${token}`))

const connected = async (transport: Transport) => {
  const client = new Client({ name: 'probe', version: '1' })
  await client.connect(transport)
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() })
}

const refusal = (node: Installation, flags: readonly string[]): Promise<string> =>
  node.start(flags).then(
    () => 'it started',
    (cause: unknown) => String(cause),
  )

/** What makes a node one of the installation. */
const shareKeys = (from: Installation, to: Installation): void => {
  for (const file of ['vault.key', 'policy.key', 'tls/ca.pem', 'tls/ca-key.pem'])
    cpSync(join(from.dataDir, file), join(to.dataDir, file), { recursive: true })
}

/** The User API, as the command of this machine asks it. */
const ask = async <T>(node: Installation, method: string, path: string): Promise<T> => {
  const token = readFileSync(join(node.dataDir, 'cli-token'), 'utf8').trim()
  const answer = await fetch(`${node.run?.user_api_url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
  })
  return { ...((await answer.json()) as T), http: answer.status }
}

const moveIsReady = async (node: Installation, agent: string): Promise<boolean | undefined> =>
  (await ask<{ move: { ready: boolean } | null }>(node, 'GET', `/api/agents/${agent}`)).move?.ready

/** Changes an entry in the files of a node's log, as somebody with its disk may. */
const changeLog = ({ dataDir }: Installation): void => {
  const file = join(dataDir, 'audit/segments/0000000000000000.log')
  const bytes = readFileSync(file)
  bytes.write('b', bytes.indexOf('"actor":"') + '"actor":"'.length)
  writeFileSync(file, bytes)
}

/** A machine whose clock is wrong. */
const laterClock = 'const { now } = Date; Date.now = () => now() + 60_000'

const ready = async ({ run }: Installation): Promise<number> =>
  (await fetch(`${run?.user_api_url}/readyz`)).status

/** Somebody at the page of a node who looks at another one; nobody where there is no browser. */
const personOf = async (node: Installation, other: string) => {
  if (!hasProgram('chromium')) return null
  const dashboard = await Dashboard.at(node, 'ana')
  const { page } = dashboard
  await dashboard.goTo('/settings?tab=nodes')
  const row = page.getByRole('row').filter({ hasText: other })
  await row.waitFor()
  expect(await page.getByRole('table', { name: 'Nodes' }).getByRole('row').count()).toBe(3)
  expect(await page.getByText('differs from this node').count()).toBe(0)
  expect(await dashboard.axeFindings()).toEqual([])
  expect(await dashboard.overhang()).toBe(0)
  // By keyboard alone, as every action: keyboard-actions.test.ts has no second node.
  const keys = new Keyboard(page)
  await page.locator('#content').focus()
  await keys.press('Invite a node')
  await keys.press('Make the token')
  const token = await page.getByRole('group', { name: 'Token', exact: true }).innerText()
  expect(parseInvite(token)).toMatchObject({ url: dashboard.run.dashboard_url })
  await keys.press('Done')
  return {
    choose: async (act: 'Drain' | 'Resume') => {
      await keys.choose(`Actions for ${other}`, act)
      await row.getByText(act === 'Drain' ? 'Draining' : 'Active', { exact: true }).waitFor()
    },
    /** Moves the agent, which is paused, and reads what is to be done next. */
    moves: async (agent: string, folder: string) => {
      await dashboard.goTo(`/agents/${agent}`)
      await dashboard.loaded()
      await keys.choose(`Actions for ${agent}`, 'Move to another node')
      await keys.press('Move to another node')
      await expect.poll(() => moveIsReady(node, agent)).toBe(true)
      await page.reload()
      await page.getByText(`Then resume the agent on ${other}.`).waitFor()
      await page.getByText(folder, { exact: true }).waitFor()
      expect(await dashboard.axeFindings()).toEqual([])
      expect(await dashboard.overhang()).toBe(0)
      await dashboard.goTo('/settings?tab=nodes')
      await row.waitFor()
    },
    sees: async (found: RegExp) => {
      await page.reload()
      await row.getByText(found).waitFor()
      expect(await dashboard.axeFindings()).toEqual([])
      expect(await dashboard.overhang()).toBe(0)
    },
    /** The audit page names where the finding is acknowledged, and offers nothing that would have no effect. */
    readsOfFinding: async (remedy: string) => {
      await dashboard.goTo('/audit')
      await page.getByText(remedy).waitFor()
      expect(await page.getByRole('button', { name: 'Acknowledge…' }).count()).toBe(0)
    },
    [Symbol.asyncDispose]: () => dashboard[Symbol.asyncDispose](),
  }
}

/** Id of the request that a call leaves, once policy asks about it. */
const heldAs = async (ask: () => ReturnType<typeof invoke>): Promise<string> => {
  const idOf = async () => (await ask()).error?.data?.['approval_id']
  await expect.poll(idOf).toBeDefined()
  return String(await idOf())
}

describe.skipIf(missing !== null)(
  `nodes on one PostgreSQL${missing === null ? '' : ` (skipped: ${missing})`}`,
  () => {
    test('start with the keys of the first alone, and are seen, drained and forgotten', async () => {
      await using database = await createDatabase(serverUrl)
      const flags = ['--database-url', database.url]
      await using one = new Installation()
      await using two = new Installation()
      await one.start(flags)

      expect(await refusal(two, flags)).toContain(
        `it cannot open the vault that the nodes share: there is no ${join(two.dataDir, 'vault.key')}`,
      )
      cpSync(join(one.dataDir, 'vault.key'), join(two.dataDir, 'vault.key'))
      expect(await refusal(two, flags)).toContain('it has no policy.key')
      cpSync(join(one.dataDir, 'policy.key'), join(two.dataDir, 'policy.key'))
      expect(await refusal(two, flags)).toContain(
        'is not the certificate authority that the nodes share: it is missing',
      )
      shareKeys(one, two)
      two.nodeFlags = ['--import', `data:text/javascript,${encodeURIComponent(laterClock)}`]
      expect(await refusal(two, flags)).toMatch(
        // By as little as the time of the question allows, which a busy machine takes long for.
        /its clock is [3-6]\d\.\d s ahead of the database's, and at most 1\.0 s is allowed/,
      )
      two.nodeFlags = []
      await two.start(flags)
      expect(await ask(two, 'GET', '/api/agents')).toMatchObject({
        agents: [{ name: 'first-agent' }],
      })

      const list = () => ask<Listed>(one, 'GET', '/api/nodes')
      const { nodes } = await list()
      expect(nodes.map(({ status }) => status)).toEqual(['active', 'active'])
      expect(new Set(nodes.map(({ policy_version }) => policy_version)).size).toBe(1)
      const other = nodes.find(({ answering }) => !answering)
      expect(other?.address).toBe(two.run?.gateway_url)
      const name = other?.name ?? ''
      const statusOf = async () => (await list()).nodes.find((node) => node.name === name)?.status
      expect((await one.cli(['nodes', 'list'])).stdout).toContain(name)

      expect(await ready(two)).toBe(200)
      expect(await ask(one, 'DELETE', `/api/nodes/${name}`)).toMatchObject({ http: 409 })
      await using person = await personOf(one, name)
      await person?.choose('Drain')
      if (!person) await ask(one, 'POST', `/api/nodes/${name}/drain`)
      await expect.poll(() => ready(two)).toBe(503)
      expect(await statusOf()).toBe('draining')
      expect(await ready(one)).toBe(200)
      await person?.choose('Resume')
      if (!person) await ask(one, 'POST', `/api/nodes/${name}/resume`)
      await expect.poll(() => ready(two)).toBe(200)
      const home = nodes.find(({ answering }) => answering)?.name ?? ''
      expect(await one.cli(['agent', 'pause', 'first-agent'])).toMatchObject({ code: 0 })
      await person?.moves('first-agent', join(two.dataDir, 'workspaces/first-agent'))
      if (!person) await one.cli(['agent', 'move', 'first-agent', '--to', name])
      // Called back before anything was copied.
      expect(await two.cli(['agent', 'move', 'first-agent', '--to', home])).toMatchObject({
        stdout: expect.stringContaining('first-agent is back where its workspace is') as string,
      })
      expect(await one.cli(['agent', 'resume', 'first-agent'])).toMatchObject({ code: 0 })

      await two.kill()
      await query(database.url, `update nodes set seen_ms = 0 where name = '${name}'`)
      expect(await statusOf()).toBe('missing')
      const reasons = async () =>
        (await ask<{ reasons: string[] }>(one, 'GET', '/api/health')).reasons
      await expect
        .poll(reasons)
        .toEqual([expect.stringContaining(`gatehouse nodes forget ${name}`)])
      // Its copies are verified, and nobody compares them with its log.
      const audit = () => ask<object>(one, 'GET', '/api/audit?limit=1')
      expect(await audit()).toMatchObject({ integrity: 'incomplete', unchecked: [{ log: name }] })
      expect((await one.cli(['audit', 'query'])).stdout).toContain(`the log of ${name}`)
      expect(await ask(one, 'DELETE', `/api/nodes/${name}`)).toMatchObject({ http: 200 })
      await expect.poll(reasons).toEqual([])
      expect(await audit()).toMatchObject({ integrity: 'verified' })
      expect(await ask(one, 'DELETE', `/api/nodes/${name}`)).toMatchObject({ http: 404 })

      await two.start(flags)
      expect(await statusOf()).toBe('active')
      // Of its own files it alone can tell that they were changed, and the others pass it on.
      changeLog(two)
      expect(await two.cli(['audit', 'verify'])).not.toMatchObject({ code: 0 })
      await expect
        .poll(async () => (await reasons()).join())
        .toMatch(
          new RegExp(
            `in the audit log \\(modified\\) ${name} \\(.*\\) found: .*on ${name}, run: gatehouse audit acknowledge --reason TEXT --data-dir ${two.dataDir}`,
          ),
        )
      const findings = (await list()).nodes.map(({ log_finding }) => log_finding?.kind)
      expect(findings.filter((kind) => kind !== undefined)).toEqual(['modified'])
      const listed = (await one.cli(['nodes', 'list'])).stdout
      expect(listed).toContain(`${name} found in the audit log: modified: `)
      expect(listed).toContain(
        `Next step: once the cause is known, on ${name}, run: gatehouse audit acknowledge --reason TEXT --data-dir ${two.dataDir}`,
      )
      await person?.sees(/^Found in the audit log: modified: /)
      expect(await audit()).toMatchObject({
        ...{ integrity: 'failed', kind: 'modified', found_by: name },
        remedy: expect.stringContaining(`--data-dir ${two.dataDir}`) as string,
      })
      // No command is named that does nothing where it is read.
      const there = `on ${name}, run: gatehouse audit acknowledge --reason TEXT --data-dir ${two.dataDir}`
      const verified = await one.cli(['audit', 'verify'])
      expect([verified.code, verified.stdout]).toEqual([1, expect.stringContaining(there)])
      await person?.readsOfFinding(there)
      const refused = await one.cli(['audit', 'acknowledge', '--reason', 'known', '--yes'])
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(there)])
      expect(await two.stop()).toBe(0)
      expect(await statusOf()).toBe('stopped')
      const acts = await ask<{ entries: { capability: string }[] }>(one, 'GET', '/api/audit')
      expect(acts.entries.map(({ capability }) => capability)).toEqual(
        expect.arrayContaining(['node.drained', 'node.resumed', 'node.forgotten']),
      )
    })

    test('join with a token of one that serves, once, and by no other certificate than its own', async () => {
      await using database = await createDatabase(serverUrl)
      await using one = new Installation()
      await using two = new Installation()
      await one.start(['--database-url', database.url])
      const { token } = await one.json<{ token: string }>(['nodes', 'invite'])
      const joined = (text: string) => two.cli(['join'], `${text}\n`)
      const saying = (text: string) => ({ stderr: expect.stringContaining(text) as string })

      const { url, fingerprint, secret } = parseInvite(token) as Invite
      const another = fingerprint.replace(/^../, (byte) => (byte === '00' ? '11' : '00'))
      const elsewhere = inviteText({ url, fingerprint: another, secret })
      expect(await joined(elsewhere)).toMatchObject(saying('has another certificate'))
      expect(await joined('none')).toMatchObject({ code: 2 })
      expect(readdirSync(two.dataDir)).toEqual([])

      expect(await joined(token)).toMatchObject({ code: 0 })
      for (const file of ['vault.key', 'policy.key', 'tls/ca.pem', 'tls/ca-key.pem'])
        expect(readFileSync(join(two.dataDir, file))).toEqual(readFileSync(join(one.dataDir, file)))
      expect(await joined(token)).toMatchObject(saying('is not empty'))
      // The database is where the other node has it.
      await two.start()
      expect((await ask<Listed>(two, 'GET', '/api/nodes')).nodes).toHaveLength(2)
      await using three = new Installation()
      expect(await three.cli(['join'], token)).toMatchObject({
        code: 4,
        ...saying('This invitation is not valid'),
      })
    })

    test('one policy holds on all nodes, whichever of them it is changed on', async () => {
      await using database = await createDatabase(serverUrl)
      const flags = ['--database-url', database.url]
      await using one = new Installation()
      await using two = new Installation()
      const rule = (match: string) => `version: 1\nrules:\n  - { match: ${match}, tier: blocked }\n`
      const fileOf = (node: Installation) => join(node.dataDir, 'policies', 'organisation.yaml')
      const versions = async () => {
        const { nodes } = await ask<Listed>(one, 'GET', '/api/nodes')
        return new Set(nodes.map(({ policy_version }) => policy_version)).size
      }
      await one.start(flags)
      writeFileSync(fileOf(one), rule('git.push'))
      const shared = async () =>
        (await query(database.url, "select value from meta where key = 'policy'"))[0]?.rows[0]
          ?.value
      await expect.poll(shared).toContain('git.push')
      shareKeys(one, two)
      await two.start(flags)
      await expect.poll(() => readFileSync(fileOf(two), 'utf8')).toBe(rule('git.push'))

      const draft = join(two.dataDir, 'draft.yaml')
      writeFileSync(draft, rule('git.commit'))
      expect(await two.cli(['policy', 'set', draft])).toMatchObject({ code: 0 })
      await expect.poll(() => readFileSync(fileOf(one), 'utf8')).toBe(rule('git.commit'))
      await expect.poll(versions).toBe(1)
      const { entries } = await ask<{ entries: { capability: string; arguments: object }[] }>(
        one,
        'GET',
        '/api/audit?capability=policy.followed',
      )
      expect(entries.slice(0, 1)).toMatchObject([
        { arguments: { author: 'user:cli', files: ['organisation.yaml'] } },
      ])

      await query(database.url, "update meta set value = 'x' where key = 'policy'")
      const reasons = async () =>
        (await ask<{ reasons: string[] }>(one, 'GET', '/api/health')).reasons.join()
      await expect.poll(reasons).toContain('was not written by a node of this installation')
      expect(readFileSync(fileOf(one), 'utf8')).toBe(rule('git.commit'))
    })

    test('an agent is served where its folder is, or on every node that sees it', async () => {
      await using database = await createDatabase(serverUrl)
      const flags = ['--database-url', database.url]
      await using one = new Installation()
      await using two = new Installation()
      await one.start(flags)
      shareKeys(one, two)
      // Each of its processes forwards.
      await two.start([...flags, '--workers', '2'])
      writeFileSync(
        join(one.dataDir, 'policies/organisation.yaml'),
        'version: 1\nrules:\n  - { match: filesystem.append, tier: approval_required }\n',
      )
      const { token } = await one.createAgent('mailbot')
      const call = (node: Installation, capability: string, args: object) =>
        invoke(node.run as Run, token, capability, args)
      const file = { path: 'a.txt' }
      const list = () => ask<Listed>(two, 'GET', '/api/nodes')

      // Separate folders.
      expect(await list()).toMatchObject({ workspaces: 'separate' })
      expect((await two.cli(['nodes', 'list'])).stdout).toContain(
        'folders of workspaces of their own',
      )
      await call(one, 'filesystem.write', { ...file, content: 'one' })
      expect(await call(two, 'state.set', { key: 'k', value: 1 })).toMatchObject({
        result: { success: true },
      })
      const firstOf = async () => (await list()).nodes.find(({ answering }) => !answering)
      // A way that takes five seconds counts as none, until it is tried again.
      await expect.poll(firstOf).toMatchObject({ unreachable: null })
      const first = await firstOf()

      // A call at the other node is forwarded to the one that has the folder, whatever carries it.
      await expect
        .poll(() => call(two, 'filesystem.read', file))
        .toMatchObject({ result: { data: { content: 'one' } } })
      for (const transport of [overHttp(two, token), overWebSocket(two, token)]) {
        await using client = await connected(transport)
        const read = await client.callTool({ name: 'filesystem__read', arguments: file })
        expect(read.structuredContent).toMatchObject({ content: 'one' })
      }
      const logged = await ask<{ entries: { source?: string }[] }>(
        two,
        'GET',
        '/api/audit?capability=filesystem.read',
      )
      expect(logged.entries).toHaveLength(3)
      const id = await heldAs(() => call(two, 'filesystem.append', { ...file, content: ' two' }))
      expect(await two.cli(['approvals', 'approve', id])).toMatchObject({ code: 0 })
      const text = (node: Installation) =>
        readFileSync(join(node.dataDir, 'workspaces/mailbot/a.txt'), 'utf8')
      await expect.poll(() => text(one)).toBe('one two')
      const rows = "select workspace, folder, site from agents where name = 'mailbot'"
      expect((await query(database.url, rows))[0]?.rows).toEqual([
        { workspace: 'mailbot', folder: 'mailbot', site: expect.stringMatching(/^site-/) },
      ])

      // Held before a move, a request runs where the agent is by then: both nodes see this folder.
      const mount = mkdtempSync(join(tmpdir(), 'gatehouse-mount-'))
      onTestFinished(() => rmSync(mount, { recursive: true, force: true }))
      const noted = join(mount, 'noted.txt')
      writeFileSync(noted, 'begun')
      expect(await one.cli(['agent', 'edit', 'mailbot', '--mount', `${mount}:rw`])).toMatchObject({
        code: 0,
      })
      const early = await heldAs(() =>
        call(one, 'filesystem.append', { path: noted, content: ' here' }),
      )

      // To the other node and back: each time the folder is copied, and what is left of it is set aside.
      const second = (await list()).nodes.find(({ answering }) => answering)
      const workspaceOf = ({ dataDir }: Installation) => join(dataDir, 'workspaces/mailbot')
      const moved = async (from: Installation, to: Installation, name: string | undefined) => {
        const [left, come] = [workspaceOf(from), workspaceOf(to)]
        expect(await to.cli(['agent', 'pause', 'mailbot'])).toMatchObject({ code: 0 })
        expect(await from.cli(['agent', 'move', 'mailbot', '--to', name ?? ''])).toMatchObject({
          code: 0,
        })
        await expect.poll(() => moveIsReady(from, 'mailbot')).toBe(true)
        expect(existsSync(come)).toBe(false)
        const refusals = {
          here: (await from.cli(['agent', 'resume', 'mailbot'])).stderr,
          there: (await to.cli(['agent', 'resume', 'mailbot'])).stderr,
          shown: (await to.cli(['agent', 'show', 'mailbot'])).stdout,
        }
        cpSync(left, come, { recursive: true })
        expect(await to.cli(['agent', 'resume', 'mailbot'])).toMatchObject({ code: 0 })
        await expect
          .poll(async () => (await call(to, 'filesystem.read', file)).result)
          .toMatchObject({ data: { content: 'one two' } })
        await expect
          .poll(async () => (await call(from, 'filesystem.read', file)).result)
          .toMatchObject({ data: { content: 'one two' } })
        await expect.poll(() => existsSync(left)).toBe(false)
        expect(readdirSync(join(from.dataDir, 'workspaces')).join()).toContain('mailbot.before-')
        return refusals
      }
      const move = (name = '') => one.cli(['agent', 'move', 'mailbot', '--to', name])
      expect((await move('node-x')).stderr).toContain('There is no node node-x')
      expect((await move(second?.name)).stderr).toContain('mailbot is active: pause it first')
      const { here, there, shown } = await moved(one, two, second?.name)
      expect(here).toContain(`it moves to ${second?.name}; resume it there`)
      expect(there).toContain('its folder is not here yet; copy workspaces/mailbot from')
      expect(await one.cli(['approvals', 'approve', early])).toMatchObject({ code: 0 })
      await expect.poll(() => readFileSync(noted, 'utf8')).toBe('begun here')
      const ran = `select exec_id from approvals where id = '${early}'`
      expect((await query(database.url, ran))[0]?.rows).toEqual([
        { exec_id: expect.stringContaining(`${second?.name}:`) },
      ])
      expect(shown).toContain(`Copy ${workspaceOf(one)} of ${first?.name} to ${workspaceOf(two)}`)
      await moved(two, one, first?.name)

      // Without the node that has the folder, the others do what needs none.
      await one.kill()
      expect((await call(two, 'filesystem.read', file)).result?.error).toMatchObject({
        type: 'WorkspaceElsewhere',
        // A connection that was open is reset, and one that was being opened is closed.
        message: expect.stringMatching(
          new RegExp(
            `^The workspace of mailbot is not on this node: ${first?.name} has it, at ${gatewayOf(one)}, and this node can't reach it \\(${gatewayOf(one)}: (ECONN(REFUSED|RESET)|the connection was closed)\\)\\.$`,
          ),
        ) as string,
      })
      await using left = await connected(overWebSocket(two, token))
      const value = await left.callTool({ name: 'state__get', arguments: { key: 'k' } })
      expect(value.structuredContent).toMatchObject({ value: 1 })
      await one.start(flags)
      await expect
        .poll(async () => (await call(two, 'filesystem.read', file)).result)
        .toMatchObject({ data: { content: 'one two' } })

      // A copy, and the folder itself: a link is a mount as far as a node can see.
      const workspaces = join(two.dataDir, 'workspaces')
      await two.stop()
      rmSync(workspaces, { recursive: true })
      cpSync(join(one.dataDir, 'workspaces'), workspaces, { recursive: true })
      // Agents would see other paths there; sites.test.ts has a copy at the same path.
      expect(await refusal(two, flags)).toContain(
        `at ${workspaces}, where that node has it at ${join(one.dataDir, 'workspaces')}`,
      )
      rmSync(workspaces, { recursive: true })
      symlinkSync(join(one.dataDir, 'workspaces'), workspaces)
      await two.start(flags)
      expect(await list()).toMatchObject({ workspaces: 'shared' })
      expect(await call(two, 'filesystem.read', file)).toMatchObject({
        result: { success: true, data: { content: 'one two' } },
      })
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
