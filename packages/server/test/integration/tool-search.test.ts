import { createKit, type Kit } from '@gatehouse/testkit'
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { defineCapability } from '../../src/capabilities/define.ts'
import { type Gateway, openGateway } from '../../src/transport/gateway/open-gateway.ts'
import { KeptLog } from '../kit/kept-log.ts'

const clientInfo = { name: 'probe', version: '1' }
const policy = `version: 1
rules:
  - { match: filesystem.move, tier: blocked, reason: Nothing moves }
limits:
  - { match: state.get, limit: 2, window: 1h }
`

let kit: Kit
let gateway: Gateway
let token: string

beforeEach(async () => {
  kit = await createKit({ policy, settings: { 'mcp.tools_max': 20 } })
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

type Result = {
  readonly content: readonly { readonly text: string }[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
}

const address = () => new URL(`${gateway.url}/mcp`)
const bearer = () => ({ requestInit: { headers: { Authorization: `Bearer ${token}` } } })

const connect = {
  '2025-11-25': async () => {
    const client = new Client(clientInfo)
    await client.connect(new StreamableHTTPClientTransport(address(), bearer()))
    return client
  },
  '2026-07-28': async () => {
    const client = new ModernClient(clientInfo, { versionNegotiation: { mode: 'auto' } })
    await client.connect(new ModernTransport(address(), bearer()))
    return client
  },
} as const

const eras = ['2025-11-25', '2026-07-28'] as const

const rpc = async (capability: string, args: object) => {
  const params = { capability, arguments: args }
  const response = await fetch(`${gateway.url}/rpc`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'capabilities.invoke', params }),
  })
  const {
    jsonrpc: _jsonrpc,
    id: _id,
    ...answer
  } = (await response.json()) as Record<string, unknown>
  return answer
}

test.each(eras)(
  'an agent with many tools is offered few, finds one, learns how and calls it (%s)',
  async (era) => {
    const client = await connect[era]()
    const { tools } = await client.listTools()
    const names = tools.map(({ name }) => name)
    expect(names).toEqual(
      expect.arrayContaining(['agent__whoami', 'approvals__wait', 'tools__search', 'tools__call']),
    )
    expect(names.filter((name) => !/^(?:agent|approvals|tools)__/.test(name))).toEqual([])
    expect(Buffer.byteLength(JSON.stringify({ tools }))).toBeLessThan(8_000)

    const call = async (name: string, args: Record<string, unknown>) =>
      (await client.callTool({ name, arguments: args })) as unknown as Result
    const found = await call('tools__search', { query: 'write a file', limit: 3 })
    const search = found.structuredContent as {
      tools: { name: string; permission_tier: string }[]
      total: number
    }
    expect(search.tools).toHaveLength(3)
    expect(search.total).toBeGreaterThan(3)
    expect(search.tools.map(({ name }) => name)).toContain('filesystem.write')

    const described = await call('tools__describe', { name: 'filesystem__write' })
    expect(described.structuredContent).toMatchObject({
      definition: {
        name: 'filesystem.write',
        title: 'Write file',
        permission_tier: 'autonomous',
        input_schema: { type: 'object', required: ['path', 'content'] },
      },
    })
    const written = await call('tools__call', {
      name: 'filesystem__write',
      arguments: { path: 'a.txt', content: 'hello' },
    })
    expect(written.structuredContent).toMatchObject({ size_bytes: 5, created: true })
    // The same answer as of a call without the wrapper, text and all.
    const path = 'a.txt'
    expect(await call('tools__call', { name: 'filesystem.read', arguments: { path } })).toEqual(
      await call('filesystem__read', { path }),
    )
    const missing = { path: 'none.txt' }
    expect(await call('tools__call', { name: 'filesystem.read', arguments: missing })).toEqual(
      await call('filesystem__read', missing),
    )
    await client.close()
    const entries = await kit.audit({ agent: 'alpha' })
    const called = entries.map(({ capability }) => capability)
    expect(called).toContain('filesystem.write')
    expect(called).not.toContain('tools.call')
  },
)

test('a call by name waits for a person like any other, and resolves once', async () => {
  await kit.invoke('alpha', 'filesystem.write', { path: 'a.txt', content: 'x' })
  const wrapped = { name: 'filesystem.delete', arguments: { path: 'a.txt' } }
  const first = await rpc('tools.call', wrapped)
  expect(first).toMatchObject({
    error: { code: -32002, data: { capability: 'filesystem.delete' } },
  })
  const again = await rpc('filesystem.delete', { path: 'a.txt' })
  expect(again).toEqual(first)
  const { approval_id } = (first['error'] as { data: { approval_id: string } }).data
  const approval = await kit.app.showApproval(kit.operator(), { approval_id })
  expect(approval).toMatchObject({
    capability: 'filesystem.delete',
    arguments: { path: 'a.txt' },
  })
  await kit.decide(approval_id, 'approve', { digest: approval.digest })
  await kit.resolved('alpha', approval_id)
  expect(await rpc('tools.call', wrapped)).toMatchObject({ result: { success: true } })
})

test('policy, limits and the tool set see the named call', async () => {
  const direct = await rpc('filesystem.move', { source: 'a', destination: 'b' })
  expect(direct).toMatchObject({ error: { code: -32001 } })
  const move = { name: 'filesystem.move', arguments: { source: 'a', destination: 'b' } }
  expect(await rpc('tools.call', move)).toEqual(direct)

  const get = { name: 'state.get', arguments: { key: 'k' } }
  await rpc('tools.call', get)
  await rpc('state.get', { key: 'k' })
  expect(await rpc('tools.call', get)).toMatchObject({
    error: { code: -32000, message: 'Rate limit exceeded: 2 calls/1h for state.get' },
  })

  const changes = { tools: ['filesystem.*'] }
  await kit.app.editAgent(kit.operator(), { name: 'alpha', changes, versions: null })
  expect(await rpc('tools.call', { name: 'system.time' })).toMatchObject({
    error: { code: -32001, data: { reason: 'tool_set' } },
  })
})

test('search and description tell of nothing that the agent may not use', async () => {
  const search = async (query: string) => {
    const { result } = await rpc('tools.search', { query, limit: 50 })
    return (result as { data: { tools: { name: string }[]; total: number } }).data
  }
  const found = await search('move a file')
  expect(found.tools.map(({ name }) => name)).not.toContain('filesystem.move')
  expect(found.total).toBe(found.tools.length)
  expect(await rpc('tools.describe', { name: 'filesystem.move' })).toMatchObject({
    result: { success: false, error: { type: 'InvalidArguments' } },
  })
  expect(await search('zzzzqqq')).toEqual({ tools: [], total: 0 })
  expect(await rpc('tools.search', { query: '' })).toMatchObject({ result: { success: false } })
})

test.each([
  [{}],
  [{ name: 'tools.call', arguments: { name: 'system.time' } }],
  [{ name: 'tools__call' }],
  [{ name: 'system.time', arguments: [] }],
  [{ name: 'system.time', also: true }],
])('%j is refused by its arguments, and recorded', async (args) => {
  expect(await rpc('tools.call', args)).toMatchObject({
    result: { success: false, error: { type: 'InvalidArguments' } },
  })
  expect(await kit.audit({ capability: 'tools.call' })).toMatchObject([{ result: 'error' }])
})

test('an unknown name is answered as if it had been called', async () => {
  const wrapped = await rpc('tools.call', { name: 'filesystem.raed' })
  expect(wrapped).toEqual(await rpc('filesystem.raed', {}))
  expect(wrapped).toMatchObject({ error: { code: -32602 } })
})

test('a schedule of a call by name is one of the named call', async () => {
  const wrapped = { name: 'system.time', arguments: {} }
  const made = await rpc('scheduler.create', {
    ...{ capability: 'tools.call', arguments: wrapped, delay_seconds: 60 },
  })
  expect(made).toMatchObject({ result: { success: true } })
  const { schedules } = await kit.storage.schedules.list({ agent: 'alpha', limit: 9, offset: 0 })
  expect(schedules.map(({ capability }) => capability)).toEqual(['system.time'])
})

test('a tool that comes later is found, and the list is whole again where it is short', async () => {
  const made = defineCapability({
    title: 'List tickets',
    name: 'tickets.list',
    version: '1.0',
    purpose: 'Shows open tickets.',
    when_to_use: 'To see them.',
    inputs: z.strictObject({}),
    outputs: z.looseObject({}),
    tier: 'autonomous',
    effect: 'none',
    errors: [],
    run: async () => ({ tickets: [] }),
  })
  kit.registry.replaceGroup('tickets', [made])
  await kit.app.savePolicy(kit.operator(), {
    text: 'version: 1\nrules:\n  - { match: "tickets.*", tier: autonomous }\n',
  })
  expect(await rpc('tools.search', { query: 'tickets' })).toMatchObject({
    result: { data: { tools: [{ name: 'tickets.list' }], total: 1 } },
  })
  expect(await rpc('tools.call', { name: 'tickets.list' })).toMatchObject({
    result: { success: true, data: { tickets: [] } },
  })
  const changes = { tools: ['tickets.*'] }
  await kit.app.editAgent(kit.operator(), { name: 'alpha', changes, versions: null })
  const client = await connect['2025-11-25']()
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
    ...['agent__whoami', 'approvals__cancel', 'approvals__get', 'approvals__list'],
    ...['approvals__wait', 'tickets__list'],
  ])
  await client.close()
})
