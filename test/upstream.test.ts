import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePorts } from '@gatehouse/testkit/free-ports'
import { hasProgram } from '@gatehouse/testkit/programs'
import { until } from '@gatehouse/testkit/until'
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client'
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { describe, expect, test } from 'vitest'
import { Installation } from './support/server.ts'
import { survivors } from './support/survivors.ts'

type Review = {
  readonly upstream: { readonly status: string; readonly offered: number }
  readonly tools: readonly { readonly capability: string; readonly state: string }[]
}
type Called = {
  readonly isError?: boolean
  readonly content: readonly { readonly type: string; readonly text?: string }[]
  readonly structuredContent?: unknown
  readonly _meta?: Readonly<Record<string, unknown>>
}

const packages = realpathSync(new URL('../node_modules', import.meta.url).pathname)
const program = (name: string) =>
  join(packages, `@modelcontextprotocol/server-${name}/dist/index.js`)
const info = { name: 'upstream-test', version: '1.0.0' }

const clients = {
  async modern(url: string, token: string) {
    const client = new ModernClient(info, { versionNegotiation: { mode: 'auto' } })
    const requestInit = { headers: { Authorization: `Bearer ${token}` } }
    await client.connect(new ModernTransport(new URL(url), { requestInit }))
    return client
  },
  async legacy(url: string, token: string) {
    const client = new LegacyClient(info)
    const requestInit = { headers: { Authorization: `Bearer ${token}` } }
    await client.connect(new LegacyTransport(new URL(url), { requestInit }) as never)
    return client
  },
}

const connect = async (kind: keyof typeof clients, gate: Installation, token: string) => {
  const client = await clients[kind](`${gate.run?.gateway_url}/mcp`, token)
  return {
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name: string, args: Record<string, unknown> = {}) =>
      (await client.callTool({ name, arguments: args })) as Called,
    close: () => client.close(),
  }
}

const add = (
  gate: Installation,
  name: string,
  args: readonly string[],
  flags: readonly string[] = [],
) =>
  gate.json<Review>([
    ...['upstream', 'add', name, '--yes', '--folder', packages, ...flags, '--'],
    ...[process.execPath, program(name), ...args],
  ])

const allow = async (gate: Installation, ...patterns: readonly string[]) => {
  const rules = patterns.map((match) => `  - {match: "${match}", tier: autonomous}`)
  const file = join(gate.dataDir, 'organisation.draft.yaml')
  writeFileSync(file, ['version: 1', 'rules:', ...rules, ''].join('\n'))
  await gate.json(['policy', 'set', file, '--yes'])
}

describe.skipIf(!hasProgram('bwrap'))('servers that people use, behind the gate', () => {
  test.each(['modern', 'legacy'] as const)(
    'are added, called, held, approved, limited and recorded: %s',
    async (kind) => {
      await using gate = new Installation()
      const shown = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-shown-')))
      // Programs run as a user of their own where the service is root.
      chmodSync(shown, 0o777)
      writeFileSync(join(shown, 'notes.txt'), 'hello')
      await gate.start()
      const { token } = await gate.createAgent('coder')
      const before = await connect(kind, gate, token)
      expect((await before.names()).filter((name) => name.startsWith('everything'))).toEqual([])
      await before.close()
      for (const [name, args, flags] of [
        ['everything', ['stdio'], []],
        ['filesystem', [shown], ['--folder', shown]],
        [
          'memory',
          [],
          ['--folder', `${shown}:rw`, '--env', `MEMORY_FILE_PATH=${shown}/memory.jsonl`],
        ],
        ['sequential-thinking', [], []],
      ] as const) {
        if (name === 'filesystem') {
          // A group of our own has that name.
          await expect(add(gate, name, args, flags)).rejects.toThrow(/choose another name/)
          continue
        }
        expect((await add(gate, name, args, flags)).upstream).toMatchObject({ status: 'ready' })
      }
      await gate.json([
        ...['upstream', 'add', 'files', '--yes', '--folder', `${packages},${shown}`, '--'],
        ...[process.execPath, program('filesystem'), shown],
      ])
      // A new one: a client may keep a list for as long as it is told to.
      const client = await connect(kind, gate, token)
      const names = await client.names()
      for (const name of ['everything__echo', 'files__read_text_file', 'memory__read_graph'])
        expect(names).toContain(name)

      await allow(gate, 'everything.*', 'files.*', 'memory.read_graph')
      const image = await client.call('everything__get-tiny-image')
      expect(image.content.map(({ type }) => type)).toContain('image')
      expect(image._meta).toMatchObject({ 'gatehouse/upstream': 'everything' })
      const read = await client.call('files__read_text_file', { path: join(shown, 'notes.txt') })
      expect(read.content[0]?.text).toBe('hello')
      const outside = await client.call('files__read_text_file', {
        path: join(gate.dataDir, 'vault.key'),
      })
      expect(outside.isError).toBe(true)

      const entities = [{ name: 'Ana', entityType: 'person', observations: ['likes tea'] }]
      const held = await client.call('memory__create_entities', { entities })
      expect(held.structuredContent).toMatchObject({ status: 'pending_approval' })
      const { approval_id } = held.structuredContent as { approval_id: string }
      await gate.json(['approvals', 'approve', approval_id, '--yes'])
      const told = await client.call('approvals__wait', { approval_id, timeout_seconds: 30 })
      expect(told.structuredContent).toMatchObject({
        status: 'approved',
        result: { success: true, data: { content: [{ text: expect.stringContaining('Ana') }] } },
      })
      expect((await client.call('memory__read_graph')).content[0]?.text).toContain('likes tea')
      const { entries } = await gate.json<{ entries: readonly { capability: string }[] }>([
        ...['audit', 'query', '--agent', 'coder', '--capability', 'memory.create_entities'],
      ])
      expect(entries.length).toBeGreaterThan(0)
      await client.close()
      rmSync(shown, { recursive: true })
    },
  )

  test('leave no process behind, however the service ends, and are there again after it', async () => {
    await using gate = new Installation()
    await gate.start()
    const { token } = await gate.createAgent('coder')
    // The server has no use for its second argument, by which its processes are found.
    const mark = `--mark=${gate.dataDir}`
    await add(gate, 'everything', ['stdio', mark])
    await allow(gate, 'everything.*')
    for (const end of ['kill', 'stop', 'kill'] as const) {
      const client = await connect('modern', gate, token)
      const echoed = await client.call('everything__echo', { message: end })
      expect(echoed.content[0]?.text).toBe(`Echo: ${end}`)
      expect(survivors(mark).length).toBeGreaterThan(0)
      await gate[end]()
      await until(async () => survivors(mark).length === 0)
      await gate.start()
    }
    const { entries } = await gate.json<{ entries: readonly { result: string }[] }>([
      ...['audit', 'query', '--capability', 'everything.echo', '--result', 'success'],
    ])
    expect(entries).toHaveLength(3)
  })
})

describe.skipIf(!hasProgram('bwrap'))('a question that waits when the service is killed', () => {
  test('is withdrawn by the next start, which says so to whoever answers it', async () => {
    await using gate = new Installation()
    await gate.start()
    const { token } = await gate.createAgent('coder')
    await add(gate, 'everything', ['stdio'])
    await allow(gate, 'everything.*')
    const client = await connect('modern', gate, token)
    const call = client.call('everything__trigger-elicitation-request').catch(() => 'no answer')
    type Asked = { readonly questions: readonly { readonly id: string }[] }
    const waiting = () => gate.json<Asked>(['upstream', 'questions'])
    await until(async () => (await waiting()).questions.length === 1)
    const [question] = (await waiting()).questions
    await gate.kill()
    expect(await call).toBe('no answer')
    await gate.start()
    expect((await waiting()).questions).toEqual([])
    const late = await gate.cli(['upstream', 'answer', question?.id ?? '', '--decline'])
    expect(late.code).toBe(1)
    expect(late.stderr).toContain('the service ended while it waited, and its call with it')
    const { entries } = await gate.json<{ entries: readonly { arguments: object }[] }>([
      ...['audit', 'query', '--capability', 'upstream.question_withdrawn'],
    ])
    expect(entries).toMatchObject([{ arguments: { question_id: question?.id } }])
    // Said once.
    await gate.stop()
    await gate.start()
    const again = await gate.json<{ entries: readonly object[] }>([
      ...['audit', 'query', '--capability', 'upstream.question_withdrawn'],
    ])
    expect(again.entries).toHaveLength(1)
  })
})

/** The official server over HTTP, at a port of this machine. */
const openRemote = async (
  way: 'streamableHttp' | 'sse',
): Promise<AsyncDisposable & { url: string }> => {
  const [port = 0] = await freePorts(1)
  const child: ChildProcess = spawn(process.execPath, [program('everything'), way], {
    env: { ...process.env, PORT: String(port) },
    stdio: 'ignore',
  })
  const origin = `http://127.0.0.1:${port}`
  await until(async () =>
    fetch(origin).then(
      () => true,
      () => false,
    ),
  )
  return {
    url: `${origin}${way === 'sse' ? '/sse' : '/mcp'}`,
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    },
  }
}

describe('a server over HTTP', () => {
  test.each(['streamableHttp', 'sse'] as const)(
    '%s: is reached where the operator lists it',
    async (way) => {
      await using remote = await openRemote(way)
      await using gate = new Installation()
      await gate.start()
      const line = ['upstream', 'add', 'remote', '--yes', '--url', remote.url]
      const refused = await gate.cli(line)
      expect([refused.code, refused.stderr]).toEqual([
        1,
        expect.stringContaining('private_targets'),
      ])
      await gate.stop()
      await gate.start(['--outbound-private-targets', new URL(remote.url).host])
      const { token } = await gate.createAgent('coder')
      expect((await gate.json<Review>(line)).upstream).toMatchObject({ status: 'ready' })
      await allow(gate, 'remote.*')
      const client = await connect('modern', gate, token)
      const called = await client.call('remote__get-sum', { a: 2, b: 3 })
      expect(called.content[0]?.text).toBe('The sum of 2 and 3 is 5.')
      const image = await client.call('remote__get-tiny-image')
      expect(image.content.map(({ type }) => type)).toContain('image')
      await client.close()
    },
  )
})
