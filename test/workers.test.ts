import { createSocket } from 'node:dgram'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { startPostgres } from '@gatehouse/testkit'
import { hasProgram } from '@gatehouse/testkit/programs'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { LogReader } from '../packages/server/src/log/log-files.ts'
import { createDatabase } from '../packages/server/src/storage/postgres/testing.ts'
import { api, createBoth, flags, type Page, secondPid, startGate } from './support/gates.ts'
import { homes } from './support/homes.ts'
import { openSocket } from './support/mcp-socket.ts'
import { OwnConnection } from './support/own-connection.ts'
import { Installation, type Run } from './support/server.ts'

const [first] = homes()
const scriptedServer = new URL(
  '../packages/server/test/upstream/scripted-server.mjs',
  import.meta.url,
).pathname

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`)

const entriesIn = (folder: string): number => new LogReader(join(folder, 'audit')).end

test('an agent is served by its process, with one audit log to read', async () => {
  await using here = await startGate(['--audit-retention-max-bytes', '2097152'])
  const { a, b, tokenA, tokenB } = await createBoth(here)
  using ofA = new OwnConnection(here.run)
  using ofB = new OwnConnection(here.run)
  const before = entriesIn(join(here.gate.dataDir, 'gates/1'))
  for (const [connection, token] of [
    [ofA, tokenA],
    [ofB, tokenB],
  ] as const) {
    const wrote = await connection.invoke(token, 'filesystem.write', {
      path: 'x.txt',
      content: 'hi',
    })
    expect(wrote.result).toMatchObject({ success: true })
    const read = await connection.invoke(token, 'filesystem.read', { path: 'x.txt' })
    expect(read.result?.data).toMatchObject({ content: 'hi' })
  }
  // An intent and an outcome of the write, and the read.
  expect(entriesIn(join(here.gate.dataDir, 'gates/1')) - before).toBe(3)
  for (const agent of [a, b]) {
    const page = await api<Page>(
      here,
      'GET',
      `/api/audit?agent=${agent}&capability=filesystem.read`,
    )
    expect(page).toMatchObject({
      total: 1,
      integrity: 'verified',
      entries: [{ agent, result: 'success' }],
    })
  }
  expect(await api(here, 'POST', '/api/audit/verify')).toMatchObject({ integrity: 'verified' })
  expect(await api(here, 'GET', '/api/status')).toMatchObject({ capabilities_invoked_24h: 4 })
  const metrics = await (
    await fetch(`${here.run.user_api_url}/metrics`, {
      headers: {
        authorization: `Bearer ${readFileSync(join(here.gate.dataDir, 'cli-token'), 'utf8').trim()}`,
      },
    })
  ).text()
  expect(metrics).toContain(
    'gatehouse_calls_total{capability="filesystem.read",outcome="success"} 2',
  )
  const ends = [here.gate.dataDir, join(here.gate.dataDir, 'gates/1')].map(entriesIn)
  const retention = JSON.parse((await here.gate.cli(['audit', 'retention', '--json'])).stdout)
  expect(retention).toMatchObject({ max_bytes: 2_097_152, due_entries: 0 })
  expect(retention.entries).toBeGreaterThanOrEqual((ends[0] ?? 0) + (ends[1] ?? 0))
  // An entry of the other process is proved as soon as it is there.
  const [of] = (await api<Page>(here, 'GET', `/api/audit?agent=${b}&limit=1`)).entries
  const told = await api(here, 'GET', `/api/audit/${of?.id}/proof`)
  expect(told).toMatchObject({ body: expect.stringContaining(`"agent":"${b}"`) as string })
  const exported = (await here.gate.cli(['audit', 'export'])).stdout.split('\n')
  expect(JSON.parse(exported[0] ?? '')).toMatchObject({ chains: [{}, {}] })

  // What a person does in one process holds in the other at once.
  using socket = await connect(here.run, tokenB)
  const saved = await api<{ version: string }>(here, 'PUT', '/api/policies/organisation', {
    text: 'version: 1\nrules:\n  - match: filesystem.read\n    tier: blocked\n',
  })
  expect(saved).toMatchObject({ version: expect.stringContaining('sha256:') })
  expect(
    (await ofB.invoke(tokenB, 'filesystem.read', { path: 'x.txt' })).error?.data,
  ).toMatchObject({
    reason: 'blocked',
  })
  await api(here, 'POST', `/api/agents/${b}/rotate`, {})
  await socket.closed
  await expect
    .poll(
      async () => (await ofB.invoke(tokenB, 'filesystem.read', { path: 'x.txt' })).error?.message,
    )
    .toContain('token')
})

/** Connection of an MCP client that says nothing more than hello. */
const connect = async (run: Run, token: string) => {
  const socket = await openSocket(run.mcp_url, token)
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  return { closed, [Symbol.dispose]: () => socket.terminate() }
}

test('limits are exact whichever process a call comes to', async () => {
  await using here = await startGate()
  const { tokenA, tokenB } = await createBoth(here)
  await api(here, 'PUT', '/api/policies/organisation', {
    text: 'version: 1\nlimits:\n  - match: state.list\n    limit: 20\n    window: 1h\n',
  })
  using ofA = new OwnConnection(here.run)
  using ofB = new OwnConnection(here.run)
  // Each connection goes where its first agent is at home, and then serves the other one, too.
  await ofA.invoke(tokenA, 'agent.whoami')
  await ofB.invoke(tokenB, 'agent.whoami')
  const calls = Array.from({ length: 15 }, () =>
    [ofA, ofB].flatMap((connection) =>
      [tokenA, tokenB].map(async (token) => ({
        token,
        allowed: (await connection.invoke(token, 'state.list')).result?.['success'] === true,
      })),
    ),
  ).flat()
  const answered = await Promise.all(calls)
  for (const token of [tokenA, tokenB])
    expect(answered.filter((one) => one.token === token && one.allowed)).toHaveLength(20)
  // They outlast a crash of everything, wherever they were counted.
  await here.gate.kill()
  const run = await here.gate.start(flags)
  using again = new OwnConnection(run)
  for (const token of [tokenA, tokenB])
    expect((await again.invoke(token, 'state.list')).error?.code).toBe(-32000)
})

test('a request made in one process is decided in another, and its caller is answered', async () => {
  await using here = await startGate()
  const { b, tokenB } = await createBoth(here)
  await api(here, 'PUT', '/api/policies/organisation', {
    text: 'version: 1\nrules:\n  - match: filesystem.write\n    tier: approval_required\n',
  })
  using ofB = new OwnConnection(here.run)
  const asked = await ofB.invoke(tokenB, 'filesystem.write', { path: 'y.txt', content: 'yes' })
  const approval_id = String(asked.error?.data?.['approval_id'])
  const waiting = ofB.rpc(tokenB, 'approvals.wait', { approval_id, timeout_seconds: 60 })
  await api(here, 'POST', `/api/approvals/${approval_id}/approve`, {})
  expect(JSON.stringify(await waiting)).toContain('"success":true')
  expect(readFileSync(join(here.gate.dataDir, 'workspaces', b, 'y.txt'), 'utf8')).toBe('yes')
})

test.skipIf(!hasProgram('bwrap'))(
  'programs of one process go on when another one starts',
  async () => {
    await using here = await startGate()
    const { tokenA } = await createBoth(here)
    await api(here, 'PUT', '/api/policies/organisation', {
      text: 'version: 1\nrules:\n  - match: process.run\n    tier: autonomous\n',
    })
    using ofA = new OwnConnection(here.run)
    // Its size, since a file is there before its text is.
    const script = 'while [ ! -s go ]; do sleep 0.05; done; cat go'
    const args = { command: 'sh', args: ['-c', script] }
    const running = ofA.invoke(tokenA, 'process.run', args)
    await expect
      .poll(() => api(here, 'GET', '/api/processes').then((all) => JSON.stringify(all)))
      .toContain('running')
    const died = secondPid(here)
    process.kill(died, 'SIGKILL')
    await expect
      .poll(() => api<{ status: string }>(here, 'GET', '/api/health').then(({ status }) => status))
      .toBe('degraded')
    await expect
      .poll(() => api<{ status: string }>(here, 'GET', '/api/health').then(({ status }) => status))
      .toBe('healthy')
    writeFileSync(join(here.gate.dataDir, 'workspaces', first[0] ?? '', 'go'), 'gone on')
    expect((await running).result?.data).toMatchObject({ stdout: 'gone on', exit_code: 0 })
    // Tools of the sandbox are still there for the next one.
    const again = await ofA.invoke(tokenA, 'process.run', { command: 'true', args: [] })
    expect(again.result?.data).toMatchObject({ exit_code: 0 })
  },
)

test.skipIf(!hasProgram('bwrap'))(
  'programs of every process are seen, read and ended from each',
  async () => {
    await using here = await startGate()
    const { b, tokenB } = await createBoth(here)
    const tier = (name: string) =>
      api(here, 'PUT', '/api/policies/organisation', {
        text: `version: 1\nrules:\n  - match: process.run\n    tier: ${name}\nlimits:\n  - { match: "process.*", limit: 100000, window: 1m }\n`,
      })
    await tier('autonomous')
    using ofB = new OwnConnection(here.run)
    type Program = { readonly process_id: string; readonly background: boolean }
    const listed = async () =>
      (await api<{ processes: readonly Program[] }>(here, 'GET', '/api/processes?state=running'))
        .processes
    const program = { command: 'sh', args: ['-c', 'echo begun; sleep 600'] }

    // One that its caller waits for, which is in no store.
    const waited = ofB.invoke(tokenB, 'process.run', program)
    // It is there from its start, before it has written.
    await expect
      .poll(listed)
      .toMatchObject([{ background: false, agent: b, stdout_bytes: 'begun\n'.length }])
    const [{ process_id: id } = { process_id: '' }] = await listed()
    const ended = await api(here, 'POST', `/api/processes/${id}/kill`, { signal: 'SIGKILL' })
    expect(ended).toMatchObject({ state: 'killed' })
    expect((await waited).result?.data).toMatchObject({ stdout: 'begun\n', signal: 'SIGKILL' })

    // One in the background of the second process, from the first.
    const left = await ofB.invoke(tokenB, 'process.run', { ...program, background: true })
    const of = `/api/processes/${String(left.result?.data?.['process_id'])}`
    await expect.poll(() => api(here, 'GET', `${of}/logs`)).toMatchObject({ content: 'begun\n' })
    expect(await api(here, 'GET', of)).toMatchObject({ state: 'running', stdout_bytes: 6 })
    await api(here, 'POST', `${of}/kill`, { signal: 'SIGKILL' })
    await expect.poll(() => api(here, 'GET', of)).toMatchObject({ state: 'killed' })
    expect(await api(here, 'GET', `${of}/logs`)).toMatchObject({ content: 'begun\n' })

    // One that a person approved runs in the first, and is its agent's all the same.
    await tier('approval_required')
    const asked = await ofB.invoke(tokenB, 'process.run', { ...program, background: true })
    const approval_id = String(asked.error?.data?.['approval_id'])
    await api(here, 'POST', `/api/approvals/${approval_id}/approve`, {})
    const outcome = await ofB.rpc(tokenB, 'approvals.wait', { approval_id, timeout_seconds: 60 })
    const process_id = /proc-\w+/.exec(JSON.stringify(outcome))?.[0]
    const logs = async () => (await ofB.invoke(tokenB, 'process.logs', { process_id })).result?.data
    await expect.poll(logs).toMatchObject({ content: 'begun\n' })
    const now = await ofB.invoke(tokenB, 'process.monitor', { process_id })
    expect(now.result?.data).toMatchObject({ now: { processes: expect.any(Number) as number } })
    const killed = await ofB.invoke(tokenB, 'process.kill', { process_id, signal: 'SIGKILL' })
    expect(killed.result?.data).toMatchObject({ state: 'killed' })
  },
)

/** What the server of the test does, and where it notes what it was asked. */
const scripted = () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-scripted-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  chmodSync(folder, 0o777)
  const script = join(folder, 'script.json')
  const notes = join(folder, 'notes.txt')
  const inputSchema = { type: 'object', properties: { text: { type: 'string' } } }
  const tools = ['say', 'ask', 'log', 'silent'].map((name) => ({
    ...{ name, description: `Does ${name}.`, inputSchema },
  }))
  const requestedSchema = { type: 'object', properties: { city: { type: 'string' } } }
  const ask = { message: 'Where to?', requestedSchema }
  const misbehave = { silent: 'silent' }
  writeFileSync(script, JSON.stringify({ tools, ask, misbehave, logs: [['info', 'written']] }))
  return { folder, command: [process.execPath, scriptedServer, script, notes], notes }
}

test.skipIf(!hasProgram('bwrap'))(
  'a server that all agents share is one program, whichever process a call comes to',
  async () => {
    await using here = await startGate()
    const { gate, run } = here
    const { tokenA, tokenB, b } = await createBoth(here)
    const { folder, command, notes } = scripted()
    const folders = ['--folder', dirname(scriptedServer), '--folder', `${folder}:rw`]
    const add = ['upstream', 'add', 'scripted', '--yes', '--shared', ...folders, '--', ...command]
    expect((await gate.cli(add)).code).toBe(0)
    await api(here, 'PUT', '/api/policies/organisation', {
      text: 'version: 1\nrules:\n  - match: scripted.*\n    tier: autonomous\n',
    })
    using ofA = new OwnConnection(run)
    using ofB = new OwnConnection(run)
    const starts = () => readFileSync(notes, 'utf8').split(/^start /m).length
    const looked = starts()
    const say = async (connection: OwnConnection, token: string) =>
      JSON.stringify(
        (await connection.invoke(token, 'scripted.say', { text: 'hello' })).result?.data,
      )
    for (const [connection, token] of [
      [ofA, tokenA],
      [ofB, tokenB],
    ] as const)
      expect(await say(connection, token)).toContain('hello')
    expect(starts()).toBe(looked + 1)

    // Progress and log messages reach the caller.
    const client = new Client({ name: 'workers', version: '1.0.0' })
    const messages: unknown[] = []
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
      messages.push(params.data)
    })
    const headers = { authorization: `Bearer ${tokenB}` }
    const transport = new StreamableHTTPClientTransport(new URL(`${run.gateway_url}/mcp`), {
      requestInit: { headers },
    })
    await client.connect(transport as never)
    await client.setLoggingLevel('info')
    const told: unknown[] = []
    const onprogress = ({ message }: { message?: string | undefined }) => void told.push(message)
    await client.callTool({ name: 'scripted__log', arguments: {} }, undefined, { onprogress })
    expect(told).toEqual(['half'])
    expect(messages).toEqual(['written'])

    // A person answers what it asks, in the one place where people are.
    const asked = ofB.invoke(tokenB, 'scripted.ask')
    type Questions = {
      readonly questions: readonly { readonly id: string; readonly agent: string }[]
    }
    const open = () => api<Questions>(here, 'GET', '/api/questions')
    await expect.poll(async () => (await open()).questions).toMatchObject([{ agent: b }])
    const id = (await open()).questions[0]?.id
    const answer = { action: 'accept', values: { city: 'Oslo' } }
    await api(here, 'POST', `/api/questions/${id}/answer`, answer)
    expect(JSON.stringify((await asked).result?.data)).toContain('Oslo')

    // A call that is given up is given up at the server, too.
    const leaving = new AbortController()
    const options = { signal: leaving.signal }
    const noted = (line: string) =>
      readFileSync(notes, 'utf8')
        .split('\n')
        .filter((found) => found === line).length
    const callsBefore = noted('tools/call')
    const silent = client.callTool({ name: 'scripted__silent', arguments: {} }, undefined, options)
    silent.catch(() => {})
    await expect.poll(() => noted('tools/call')).toBe(callsBefore + 1)
    leaving.abort('no more')
    await expect.poll(() => noted('notifications/cancelled')).toBe(1)
    await client.close()

    // Ended by a person, it is started once more for all of them.
    expect((await gate.cli(['upstream', 'restart', 'scripted'])).code).toBe(0)
    expect(await say(ofB, tokenB)).toContain('hello')
    expect(await say(ofA, tokenA)).toContain('hello')
    expect(starts()).toBe(looked + 2)
    const page = await api<Page>(here, 'GET', '/api/audit?capability=scripted.ask')
    expect(page).toMatchObject({ integrity: 'verified', entries: [{ agent: b }, { agent: b }] })
    expect(await gate.stop()).toBe(0)
  },
)

test('wakes reach an agent, and the vault is open or locked, in every process', async () => {
  await using here = await startGate(['--workers', '3'])
  const { b, tokenB } = await createBoth(here)
  using ofB = new OwnConnection(here.run)
  const polled = ofB.rpc(tokenB, 'events.poll', { timeout_seconds: 60 })
  const udp = createSocket('udp4')
  onTestFinished(() => void udp.close())
  udp.send(JSON.stringify({ agent: b, reason: 'news' }), here.run.wake_port, '127.0.0.1')
  expect(JSON.stringify(await polled)).toContain('"type":"wake"')

  const pass = join(here.gate.dataDir, 'passphrase')
  writeFileSync(pass, 'correct horse battery staple\n')
  const set = { passphrase: 'correct horse battery staple' }
  expect(await api(here, 'POST', '/api/vault/passphrase', set)).toMatchObject({ locked: false })
  expect(await here.gate.stop()).toBe(0)
  const run = await here.gate.start([
    '--workers',
    '3',
    '--no-first-agent',
    '--vault-passphrase-file',
    pass,
  ])
  const unlocked = await api<Page>(
    { gate: here.gate, run },
    'GET',
    '/api/audit?capability=vault.unlocked',
  )
  expect(unlocked.total).toBe(3)
  // Each is told by the first, and tells nobody: once each, and nothing more comes.
  const again = { gate: here.gate, run }
  await api(again, 'POST', '/api/vault/lock')
  const locked = () => api<Page>(again, 'GET', '/api/audit?capability=vault.locked')
  expect((await locked()).total).toBe(3)
  await api(again, 'POST', '/api/vault/unlock', set)
  await expect
    .poll(() =>
      api<Page>(again, 'GET', '/api/audit?capability=vault.unlocked').then((all) => all.total),
    )
    .toBe(6)
  expect((await locked()).total).toBe(3)
})

test('a process that dies is replaced, and its agents go on', async () => {
  await using here = await startGate()
  const { tokenB } = await createBoth(here)
  using ofB = new OwnConnection(here.run)
  for (let at = 0; at < 20; at += 1)
    expect((await ofB.invoke(tokenB, 'agent.whoami')).result).toMatchObject({ success: true })
  const died = secondPid(here)
  process.kill(died, 'SIGKILL')
  await expect
    .poll(() =>
      api<{ reasons: string[] }>(here, 'GET', '/api/health').then(({ reasons }) => reasons.join()),
    )
    .toContain('gate process 2 does not serve: it ended with SIGKILL')
  // A call in between waits for the place where its limits are counted.
  using again = new OwnConnection(here.run)
  expect((await again.invoke(tokenB, 'agent.whoami')).result).toMatchObject({ success: true })
  await expect
    .poll(() => api<{ status: string }>(here, 'GET', '/api/health').then(({ status }) => status))
    .toBe('healthy')
  expect(secondPid(here)).not.toBe(died)
  const page = await api<Page>(here, 'GET', '/api/audit?capability=agent.whoami')
  expect(page.total).toBeGreaterThanOrEqual(21)
  expect(page.integrity).toBe('verified')

  // One that is left alone ends, so that the next service finds its log free.
  const left = secondPid(here)
  await here.gate.kill()
  await expect.poll(() => isAlive(left)).toBe(false)
  await here.gate.start(flags)
  expect(await here.gate.stop()).toBe(0)
})

test('with fewer processes nothing is lost, and a backup has every log', async () => {
  await using here = await startGate()
  const { tokenB } = await createBoth(here)
  using ofB = new OwnConnection(here.run)
  await ofB.invoke(tokenB, 'agent.whoami')
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-workers-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'all.backup')
  writeFileSync(join(folder, 'pass'), 'correct horse battery staple\n')
  const made = await here.gate.cli(['backup', file, '--passphrase-file', join(folder, 'pass')])
  expect(made.stderr + made.stdout).toContain('all.backup')
  expect(await here.gate.stop()).toBe(0)
  expect(readdirSync(join(here.gate.dataDir, 'gates'))).toEqual(['1'])

  const run = await here.gate.start(['--no-first-agent'])
  const whoami = '/api/audit?capability=agent.whoami'
  expect(await api<Page>({ gate: here.gate, run }, 'GET', whoami)).toMatchObject({
    total: 1,
    integrity: 'verified',
  })
  await here.gate.stop()

  await using restored = new Installation(join(folder, 'restored'))
  const back = await restored.cli([
    'restore',
    file,
    '--yes',
    '--passphrase-file',
    join(folder, 'pass'),
  ])
  expect(back).toMatchObject({ code: 0 })
  const other = await restored.start(flags)
  expect(await api<Page>({ gate: restored, run: other }, 'GET', whoami)).toMatchObject({
    total: 1,
    integrity: 'verified',
  })
})

const server = await startPostgres()
const missing = 'missing' in server ? server.missing : null
afterAll(async () => {
  if ('stop' in server) await server.stop()
})

test.skipIf(missing !== null)('they share a PostgreSQL, where limits are counted', async () => {
  await using database = await createDatabase('url' in server ? server.url : '')
  await using here = await startGate(['--database-url', database.url])
  const { tokenA, tokenB } = await createBoth(here)
  await api(here, 'PUT', '/api/policies/organisation', {
    text: 'version: 1\nlimits:\n  - match: state.list\n    limit: 5\n    window: 1h\n',
  })
  using ofA = new OwnConnection(here.run)
  using ofB = new OwnConnection(here.run)
  await ofA.invoke(tokenA, 'agent.whoami')
  await ofB.invoke(tokenB, 'agent.whoami')
  const answered = await Promise.all(
    Array.from({ length: 8 }, (_, at) => (at % 2 === 0 ? ofA : ofB).invoke(tokenB, 'state.list')),
  )
  expect(answered.filter(({ result }) => result?.['success'] === true)).toHaveLength(5)
  for (const [capability, total] of [
    ['agent.whoami', 2],
    ['state.list', 8],
  ] as const)
    expect(await api<Page>(here, 'GET', `/api/audit?capability=${capability}`)).toMatchObject({
      total,
      integrity: 'verified',
    })
  expect(await api(here, 'POST', '/api/audit/verify')).toMatchObject({ integrity: 'verified' })
  expect(await api(here, 'GET', '/api/nodes')).toMatchObject({ nodes: [{}] })
})
