import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { until } from '@gatehouse/testkit/until'
import { Client as ModernClient } from '@modelcontextprotocol/client'
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio'
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as LegacyStdio } from '@modelcontextprotocol/sdk/client/stdio.js'
import { expect, test } from 'vitest'
import { personAt } from './support/person.ts'
import { bin, Installation, pause } from './support/server.ts'
import { survivors } from './support/survivors.ts'

type Told = { method: string; params?: Record<string, unknown> }
type Progress = { message?: string | undefined }
type Called = { isError?: boolean; structuredContent?: unknown; content: unknown }

/** The same few things, said by both generations of the official SDK. */
type Speaker = {
  readonly pid: number | null
  list(): Promise<string[]>
  call(
    name: string,
    args: object,
    options?: { signal?: AbortSignal; onprogress?: (progress: Progress) => void },
  ): Promise<Called>
  /** Notifications that arrived, in order. */
  readonly heard: Told[]
  close(): Promise<void>
}

const info = { name: 'bridge-test', version: '1.0.0' }

const launched = (gate: Installation, tokenFile: string, flags: readonly string[] = []) => ({
  command: process.execPath,
  args: [bin, 'mcp', '--data-dir', gate.dataDir, '--token-file', tokenFile, ...flags],
  stderr: 'ignore' as const,
})

async function speakModern(gate: Installation, tokenFile: string): Promise<Speaker> {
  const heard: Told[] = []
  const transport = new ModernStdio(launched(gate, tokenFile))
  const client = new ModernClient(info, {
    versionNegotiation: { mode: 'auto' },
    listChanged: {
      tools: {
        autoRefresh: false,
        debounceMs: 0,
        onChanged: () => heard.push({ method: 'notifications/tools/list_changed' }),
      },
    },
  })
  await client.connect(transport)
  expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28')
  return {
    pid: transport.pid,
    heard,
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args, options) =>
      (await client.callTool(
        { name, arguments: args as Record<string, unknown> },
        options,
      )) as Called,
    close: () => client.close(),
  }
}

async function speakLegacy(gate: Installation, tokenFile: string): Promise<Speaker> {
  const heard: Told[] = []
  const transport = new LegacyStdio(launched(gate, tokenFile))
  const client = new LegacyClient(info)
  client.fallbackNotificationHandler = async (told) => void heard.push(told as Told)
  await client.connect(transport)
  return {
    pid: transport.pid,
    heard,
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args, options) =>
      (await client.callTool(
        { name, arguments: args as Record<string, unknown> },
        undefined,
        options,
      )) as Called,
    close: () => client.close(),
  }
}

const eras = [
  ['the era without a handshake', speakModern],
  ['the era that opens with initialize', speakLegacy],
] as const

async function agentOf(gate: Installation, name = 'coder', flags: readonly string[] = []) {
  const tokenFile = join(gate.dataDir, `${name}.token`)
  const { agent } = await gate.json<{ agent: { workspace: string } }>([
    'agent',
    'create',
    name,
    '--approvals',
    'hold',
    '--token-file',
    tokenFile,
    ...flags,
  ])
  mkdirSync(agent.workspace, { recursive: true })
  writeFileSync(join(agent.workspace, 'notes.txt'), 'hello\n')
  return { tokenFile, workspace: agent.workspace }
}

const pendingId = async (gate: Installation): Promise<string> => {
  let id = ''
  await until(async () => {
    const [first] = (await personAt(gate).api.listApprovals({})).approvals
    id = first?.id ?? ''
    return id !== ''
  })
  return id
}

const noneWaits = (gate: Installation) =>
  until(async () => (await personAt(gate).api.listApprovals({})).approvals.length === 0)

test.each(eras)(
  'lists, calls, holds a call with progress until it is approved, and cancels: %s',
  async (_era, speak) => {
    await using gate = new Installation()
    await gate.start()
    const { tokenFile } = await agentOf(gate)
    const client = await speak(gate, tokenFile)
    expect(await client.list()).toContain('filesystem__read')
    const read = await client.call('filesystem__read', { path: 'notes.txt' })
    expect(read.content).toEqual([{ type: 'text', text: 'hello\n' }])

    const progress: Progress[] = []
    const held = client.call(
      'filesystem__delete',
      { path: 'notes.txt' },
      { onprogress: (one) => progress.push(one) },
    )
    const id = await pendingId(gate)
    await until(async () => progress.length > 0)
    expect(progress[0]?.message).toContain(id)
    expect((await gate.cli(['approvals', 'approve', id, '--yes'])).code).toBe(0)
    expect((await held).structuredContent).toMatchObject({ path: expect.stringContaining('notes') })

    const cancelled = new AbortController()
    const dropped = client.call(
      'filesystem__delete',
      { path: 'other' },
      { signal: cancelled.signal },
    )
    await pendingId(gate)
    cancelled.abort('no longer needed')
    await expect(dropped).rejects.toThrow('no longer needed')
    await noneWaits(gate)

    writeFileSync(
      join(gate.dataDir, 'policies', 'organisation.yaml'),
      'version: 1\nrules:\n  - { match: filesystem.read, tier: blocked }\n',
    )
    await until(async () => client.heard.some(({ method }) => method.endsWith('list_changed')))
    expect(await client.list()).not.toContain('filesystem__read')
    await client.close()
    // The client does not wait for one that it had to kill.
    await until(async () => survivors(tokenFile).length === 0)
  },
)

test.each(eras)(
  'goes on after the service was restarted and killed, and answers a call that was lost: %s',
  async (_era, speak) => {
    await using gate = new Installation()
    await gate.start()
    const { tokenFile } = await agentOf(gate)
    const client = await speak(gate, tokenFile)
    await client.list()
    expect(await gate.stop()).toBe(0)
    // Said while the service is away, at another address when it is back.
    const early = client.call('filesystem__read', { path: 'notes.txt' })
    await gate.start()
    expect((await early).content).toEqual([{ type: 'text', text: 'hello\n' }])
    await until(async () => client.heard.some(({ method }) => method.endsWith('list_changed')))

    const held = client.call('filesystem__delete', { path: 'notes.txt' })
    await pendingId(gate)
    const lost = held.catch((error: Error) => error.message)
    await gate.kill()
    expect(await lost).toContain('It may have run')
    client.heard.length = 0
    await gate.start()
    await until(async () => client.heard.some(({ method }) => method.endsWith('list_changed')))
    expect((await client.call('filesystem__read', { path: 'notes.txt' })).isError).toBeFalsy()
    // The request of the lost call still waits, and the same call finds it.
    const again = client.call('filesystem__delete', { path: 'notes.txt' })
    const id = await pendingId(gate)
    expect((await gate.cli(['approvals', 'approve', id, '--yes'])).code).toBe(0)
    expect((await again).isError).toBeFalsy()
    await client.close()
  },
)

type Bridge = {
  readonly child: ChildProcess
  send(text: string): void
  next(): Promise<Record<string, unknown>>
  errors: string
}

function openBridge(args: readonly string[], env: Record<string, string> = {}): Bridge {
  const child = spawn(process.execPath, [bin, 'mcp', ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1', ...env },
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const bridge: Bridge = {
    child,
    send: (text) => void child.stdin.write(text),
    next: async () => JSON.parse(String((await lines.next()).value)) as Record<string, unknown>,
    errors: '',
  }
  child.stderr.on('data', (chunk) => {
    bridge.errors += chunk
  })
  return bridge
}

const exitOf = async ({ child }: Bridge): Promise<number | null> => {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return child.exitCode
}

const initialize = (id: number) =>
  `${JSON.stringify({
    jsonrpc: '2.0',
    id,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: info },
  })}\n`

test('answers lines that are no message, takes CRLF, and ends with its input', async () => {
  await using gate = new Installation()
  await gate.start()
  const { tokenFile } = await agentOf(gate)
  const bridge = openBridge(['--data-dir', gate.dataDir, '--token-file', tokenFile])
  const refusals = [
    ['{oops', -32700],
    ['{"jsonrpc":"2.0","id":1,"method":"ping"} {}', -32700],
    ['"text"', -32600],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
    ['{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}', -32600],
    ['[]', -32600],
  ] as const
  for (const [line, code] of refusals) {
    bridge.send(`${line}\n`)
    expect(await bridge.next()).toMatchObject({ id: null, error: { code } })
  }
  bridge.child.stdin?.write(Buffer.from([0x22, 0xff, 0x22, 0x0a]))
  expect(await bridge.next()).toMatchObject({ id: null, error: { code: -32700 } })
  bridge.send(`\r\n\n${initialize(7).trim()}\r\n`)
  expect(await bridge.next()).toMatchObject({
    id: 7,
    result: { serverInfo: { name: 'gatehouse' } },
  })
  // Refused by the service as a whole, and still answered under the id that was asked.
  bridge.send('{"jsonrpc":"2.0","id":8,"id":8,"method":"ping"}\n')
  expect(await bridge.next()).toMatchObject({ id: 8, error: {} })
  bridge.child.stdin?.end()
  expect(await exitOf(bridge)).toBe(0)
  const { sessions } = await gate.json<{ sessions: { ended_at: string | null }[] }>([
    'agent',
    'show',
    'coder',
  ])
  expect(sessions).toHaveLength(1)
  expect(sessions[0]?.ended_at).not.toBeNull()
  // In pieces, and without an end of its last line: no longer waited for than a client waits, so it may take another one.
  const answerOfLast = async () => {
    const last = openBridge(['--data-dir', gate.dataDir, '--token-file', tokenFile])
    last.send('{"jsonrpc":"2.0",')
    await pause(50)
    last.send('"id":"last","method":"ping"}')
    last.child.stdin?.end()
    expect(await exitOf(last)).toBe(0)
    return last.next().catch(() => null)
  }
  await expect.poll(answerOfLast).toEqual({ jsonrpc: '2.0', id: 'last', result: {} })
})

test('ends on SIGTERM and when nobody reads it, while a call waits for a person', async () => {
  await using gate = new Installation()
  await gate.start()
  const { tokenFile } = await agentOf(gate)
  for (const end of [
    (bridge: Bridge) => void bridge.child.kill('SIGTERM'),
    (bridge: Bridge) => {
      bridge.child.stdout?.destroy()
      bridge.send('{"jsonrpc":"2.0","id":3,"method":"ping"}\n')
    },
  ]) {
    const bridge = openBridge(['--data-dir', gate.dataDir, '--token-file', tokenFile])
    bridge.send(initialize(1))
    await bridge.next()
    bridge.send(
      '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"filesystem__delete","arguments":{"path":"notes.txt"}}}\n',
    )
    await pendingId(gate)
    end(bridge)
    expect(await exitOf(bridge)).toBe(0)
  }
  // Only the client's word withdraws a request.
  expect((await personAt(gate).api.listApprovals({})).approvals).toHaveLength(1)
})

test('refuses a token that others can read, that is none, or that is not there', async () => {
  await using gate = new Installation()
  await gate.start()
  const { tokenFile } = await agentOf(gate)
  const run = (flags: readonly string[]) => gate.cli(['mcp', ...flags])
  chmodSync(tokenFile, 0o644)
  const open = await run(['--token-file', tokenFile])
  expect([open.code, open.stdout]).toEqual([4, ''])
  expect(open.stderr).toContain('chmod 600')
  const cli = await run(['--token-file', join(gate.dataDir, 'cli-token')])
  expect([cli.code, cli.stdout]).toEqual([4, ''])
  expect((await run(['--token-file', join(gate.dataDir, 'none')])).code).toBe(5)
  const none = await run([])
  expect(none.code).toBe(4)
  expect(none.stderr).toContain('GATEHOUSE_AGENT_TOKEN')
  expect((await run(['--url', 'ftp://x', '--token-file', tokenFile])).code).toBe(2)
})

test('takes the token from the environment, and a new one from its file once the old one is refused', async () => {
  await using gate = new Installation()
  const { gateway_url } = await gate.start()
  const { token } = await gate.createAgent('other')
  const byUrl = openBridge(['--url', gateway_url], { GATEHOUSE_AGENT_TOKEN: token })
  byUrl.send(initialize(1))
  expect(await byUrl.next()).toMatchObject({ id: 1, result: {} })
  expect((await gate.cli(['agent', 'revoke', 'other', '--yes'])).code).toBe(0)
  byUrl.send('{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n')
  expect(await byUrl.next()).toMatchObject({ id: 2, error: { code: -32003 } })
  byUrl.child.stdin?.end()
  expect(await exitOf(byUrl)).toBe(0)

  const { tokenFile } = await agentOf(gate)
  const bridge = openBridge(['--data-dir', gate.dataDir, '--token-file', tokenFile])
  bridge.send(initialize(1))
  await bridge.next()
  const fresh = await gate.json<{ token: string }>(['agent', 'rotate', 'coder', '--yes'])
  writeFileSync(tokenFile, fresh.token)
  bridge.send('{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n')
  expect(await bridge.next()).toMatchObject({ id: 2, result: {} })
  bridge.child.kill('SIGTERM')
  expect(await exitOf(bridge)).toBe(0)
})

test('says that no service runs, and with --start starts one that outlives it', async () => {
  await using gate = new Installation()
  const { tokenFile } = await agentOf(gate)
  const args = ['--data-dir', gate.dataDir, '--token-file', tokenFile]
  const lonely = openBridge(args)
  lonely.send(initialize(1))

  const elsewhere = openBridge([...args, '--url', 'http://127.0.0.1:1'])
  elsewhere.send(initialize(1))
  for (const bridge of [lonely, elsewhere]) {
    expect(await bridge.next()).toMatchObject({
      id: 1,
      error: {
        message: expect.stringContaining('Nothing was run'),
        data: { type: 'NotReachable' },
      },
    })
    bridge.child.stdin?.end()
    expect(await exitOf(bridge)).toBe(0)
  }
  const config = join(gate.dataDir, 'gatehouse.yaml')
  const ports = ['gateway_port', 'user_api_port', 'dashboard_port', 'wake_port']
  writeFileSync(config, ports.map((name) => `${name}: 0\n`).join(''))
  const starting = [1, 2].map(() => openBridge([...args, '--start', '--config', config]))
  try {
    for (const bridge of starting) bridge.send(initialize(1))
    for (const bridge of starting) {
      expect(await bridge.next(), bridge.errors).toMatchObject({ id: 1, result: {} })
      bridge.child.stdin?.end()
      expect(await exitOf(bridge)).toBe(0)
    }
    expect((await gate.cli(['status'])).code).toBe(0)
  } finally {
    for (const pid of survivors(gate.dataDir)) process.kill(pid, 'SIGTERM')
    await until(async () => survivors(gate.dataDir).length === 0)
  }
})
