import { readFileSync } from 'node:fs'
import { createKit, type Kit } from '@gatehouse/testkit'
import { until } from '@gatehouse/testkit/until'
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { standardCapabilities } from '../../src/capabilities/standard.ts'
import type { Sandbox, SandboxState } from '../../src/ports/sandbox.ts'
import { type Gateway, openGateway } from '../../src/transport/gateway/open-gateway.ts'
import { KeptLog } from '../kit/kept-log.ts'

type Tool = { readonly name: string; readonly description?: string | undefined }

const usable: SandboxState = { usable: true, backend: 'bubblewrap', detail: 'as far as is told' }
const clientInfo = { name: 'probe', version: '1' }

const nothing = () => Promise.reject(new Error('nothing runs in these tests'))

let state: SandboxState
let kit: Kit
let gateway: Gateway
let token: string

beforeEach(async () => {
  state = usable
  const sandbox: Sandbox = {
    state: () => state,
    probe: async () => state,
    ready: async () => {},
    spawn: nothing,
    run: nothing,
  }
  kit = await createKit({ sandbox })
  token = await kit.agent('alpha')
  let ids = 0
  gateway = await openGateway({
    host: '127.0.0.1',
    port: 0,
    app: kit.app,
    ids: { next: (prefix) => `${prefix}-${String(++ids).padStart(26, '0')}` },
    log: new KeptLog(),
    version: '0.0.0',
    allowedHosts: [],
    allowedOrigins: [],
  })
})
afterEach(async () => {
  await gateway.close(0)
  await kit[Symbol.asyncDispose]()
})

const bearer = () => ({ requestInit: { headers: { Authorization: `Bearer ${token}` } } })

const overHttp = async (): Promise<Client> => {
  const client = new Client(clientInfo)
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), bearer()))
  return client
}

const overWebSocket = async (): Promise<Client> => {
  const before = Object.getOwnPropertyDescriptor(globalThis, 'WebSocket')
  Object.defineProperty(globalThis, 'WebSocket', { value: WebSocket, configurable: true })
  try {
    const client = new Client(clientInfo)
    const address = new URL(`${gateway.mcpUrl}?token=${token}`)
    await client.connect(new WebSocketClientTransport(address))
    return client
  } finally {
    if (before) Object.defineProperty(globalThis, 'WebSocket', before)
    else Reflect.deleteProperty(globalThis, 'WebSocket')
  }
}

const overModern = async (): Promise<ModernClient> => {
  const client = new ModernClient(clientInfo, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new ModernTransport(new URL(`${gateway.url}/mcp`), bearer()))
  return client
}

type Reference = {
  readonly initialize: { readonly instructions: string; readonly capabilities: object }
  readonly tools: readonly Tool[]
}

const namesOf = (tools: readonly Tool[]) => tools.map(({ name }) => name)
const groupsOf = (tools: readonly Tool[]) => [
  ...new Set(namesOf(tools).map((name) => name.split('__')[0])),
]

const freshGroups =
  'agent alerts approvals comms filesystem git network process scheduler scratch shared state system writes'

/**
 * An upper bound: JSON like this has 4.2 to 4.5 characters a token with the tokenizers o200k_base and
 * cl100k_base (measured), so a quarter of its bytes is more than the tokens that it costs.
 */
const tokensAtMost = (tools: unknown): number =>
  Math.ceil(Buffer.byteLength(JSON.stringify(tools)) / 4)

test('a fresh agent is told of what can work here, in one page of at most 15,000 tokens', async () => {
  const v1 = await overHttp()
  const page = await v1.listTools()
  expect(page).not.toHaveProperty('nextCursor')
  expect(groupsOf(page.tools).join(' ')).toBe(freshGroups)
  const reached = ['writes__cancel', 'writes__list', 'writes__rollback', 'system__time']
  expect(namesOf(page.tools)).toEqual(expect.arrayContaining(reached))
  expect(namesOf(page.tools)).not.toContain('network__credentialed_request')
  expect(tokensAtMost(page.tools)).toBeLessThanOrEqual(15_000)
  await v1.close()

  const socket = await overWebSocket()
  expect(await socket.listTools()).toEqual(page)
  await socket.close()

  const modern = await overModern()
  expect(namesOf((await modern.listTools()).tools)).toEqual(namesOf(page.tools))
  await modern.close()
})

test('the reference has what a fresh agent is told, word for word', async () => {
  const file = new URL('../../../../docs/reference/mcp.json', import.meta.url)
  const reference = JSON.parse(readFileSync(file, 'utf8')) as Reference
  const client = await overHttp()
  const { tools } = await client.listTools()
  expect(client.getInstructions()).toBe(reference.initialize.instructions)
  expect(client.getServerCapabilities()).toEqual(reference.initialize.capabilities)
  await client.close()
  const listed = namesOf(tools)
  expect(tools).toEqual(reference.tools.filter(({ name }) => listed.includes(name)))
  // No service is connected, no model is installed, no secret is stored, and the list is short.
  const withheld = namesOf(reference.tools).filter((name) => !listed.includes(name))
  expect(withheld.filter((name) => !/^(?:calendar|email|inference)__/.test(name))).toEqual([
    'network__credentialed_request',
    'secrets__list',
    'secrets__request_rotation',
    'tools__call',
    'tools__describe',
    'tools__search',
  ])
})

test('the same is listed over JSON-RPC and to the agent itself', async () => {
  const client = await overHttp()
  const tools = namesOf((await client.listTools()).tools)
  const listed = await kit.app.listCapabilities(kit.op('alpha'), {})
  expect(listed.map(({ capability }) => capability.name.replace('.', '__')).toSorted()).toEqual(
    tools,
  )
  const result = await client.callTool({ name: 'agent__capabilities', arguments: {} })
  expect(result.structuredContent).toMatchObject({ total: tools.length })
  await client.close()
})

test('a client hears when something becomes able to work, and when it no longer is', async () => {
  const client = await overWebSocket()
  let changes = 0
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    changes += 1
  })
  const changed = async (by: () => void | Promise<unknown>): Promise<string> => {
    const before = changes
    await by()
    await until(() => {
      if (changes > before) return true
      kit.clock.move(1_000)
      return false
    })
    return groupsOf((await client.listTools()).tools).join(' ')
  }
  const without = await changed(() => {
    state = { usable: false, reason: 'none holds', remedy: 'install one' }
  })
  expect(without).toBe(freshGroups.replace(' git', '').replace(' process', ''))
  expect(
    await changed(() => {
      state = usable
    }),
  ).toBe(freshGroups)
  const secret = {
    ...{ name: 'api', value: 'a-long-value-of-a-key', description: 'A key' },
    ...{
      agents: ['alpha'],
      capabilities: ['network.credentialed_request'],
      hosts: ['example.org'],
    },
  }
  expect(await changed(() => kit.app.addSecret(kit.operator(), secret))).toContain('secrets')
  await client.close()
})

test('a sandbox that was not tried yet may hold, so its groups are listed', async () => {
  state = { usable: false, reason: 'not yet', remedy: 'wait', untried: true }
  const client = await overHttp()
  expect(groupsOf((await client.listTools()).tools)).toContain('git')
  await client.close()
})

test('what is not listed can be called, and says what is missing', async () => {
  const client = await overHttp()
  const result = await client.callTool({ name: 'email__folders', arguments: {} })
  expect(result.isError).toBe(true)
  expect(JSON.stringify(result.content)).toContain('ServiceNotFound')
  await client.close()
})

test('both forms of a name are taken, and every answer names tools as they are called', async () => {
  const client = await overHttp()
  const texts: string[] = []
  const call = async (name: string, args: object = {}) => {
    const result = await client.callTool({ name, arguments: { ...args } })
    const [content] = result.content as { text: string }[]
    texts.push(content?.text ?? '')
    return result
  }
  await call('filesystem__write', { path: 'x', content: 'y' })
  const pending = await call('filesystem.delete', { path: 'x' })
  expect(pending.structuredContent).toMatchObject({ status: 'pending_approval' })
  const { approval_id } = pending.structuredContent as { approval_id: string }
  await kit.decide(approval_id, 'reject', { reason: 'see filesystem.move' })
  await call('approvals.get', { approval_id })
  await call('filesystem__read', { path: 'none.txt' })
  await call('filesystem__read', { file: 'none.txt' })
  await call('agent__capabilities', { name: 'filesystem__edit' })
  await call('agent__capabilities', { name: 'filesystem.reed' })
  await call('scheduler__create', {
    capability: 'filesystem__list',
    arguments: { path: '.' },
    delay_seconds: 60,
  })
  await client.close()
  for (const text of texts) {
    const fields = JSON.parse(text) as Record<string, unknown>
    const said = JSON.stringify(fields, (name, value: unknown) =>
      ['arguments', 'capability', 'name'].includes(name) ? undefined : value,
    )
    for (const { name } of standardCapabilities) expect(said).not.toContain(name)
  }
  const [schedule] = (await kit.storage.schedules.list({ agent: 'alpha', limit: 9, offset: 0 }))
    .schedules
  expect(schedule?.capability).toBe('filesystem.list')
})
