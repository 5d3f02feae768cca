import { GatehouseError } from '@gatehouse/contract'
import { until } from '@gatehouse/testkit/until'
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import {
  type GatewayKit,
  openKit,
  pending,
  testTools,
  tokens,
} from '../../../test/kit/gateway-kit.ts'

let kit: GatewayKit
beforeEach(async () => {
  kit = await openKit()
})
afterEach(() => kit.close(0))

const clientInfo = { name: 'probe', version: '1.2' }
const headersOf = (agent: keyof typeof tokens = 'alpha') => ({
  Authorization: `Bearer ${tokens[agent]}`,
})

const send = async (
  body: unknown,
  headers: Record<string, string> = {},
  agent: keyof typeof tokens = 'alpha',
  method = 'POST',
): Promise<Response> =>
  fetch(`${kit.url}/mcp`, {
    method,
    headers: {
      ...headersOf(agent),
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...headers,
    },
    ...(method === 'POST' ? { body: typeof body === 'string' ? body : JSON.stringify(body) } : {}),
  })

const hello = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo },
}
const ping = { jsonrpc: '2.0', id: 2, method: 'ping' }
const callOf = (name: string, id = 3, meta?: object) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: { text: 'x' }, ...(meta ? { _meta: meta } : {}) },
})
const openSession = async (): Promise<string> =>
  (await send(hello)).headers.get('mcp-session-id') ?? ''

const toolNames = (tools: readonly { name: string }[]) => tools.map(({ name }) => name)

describe('official clients', () => {
  test('SDK v1 over Streamable HTTP: lists, calls, is told of changes, ends its session', async () => {
    const client = new Client(clientInfo)
    const transport = new StreamableHTTPClientTransport(new URL(`${kit.url}/mcp`), {
      requestInit: { headers: headersOf() },
    })
    let changes = 0
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      changes++
    })
    await client.connect(transport)
    expect(toolNames((await client.listTools()).tools)).toEqual(testTools)
    const result = await client.callTool({ name: 'test__echo', arguments: { text: 'v1' } })
    expect(result.structuredContent).toEqual({ text: 'v1' })
    // The client checks results against the schema it was given: a held call must fit it too.
    const held = await client.callTool({ name: 'test__erase', arguments: { path: '/x' } })
    expect(held.structuredContent).toEqual(pending('test__erase'))
    await until(() => kit.listeners() === 1)
    kit.emit('alpha', 'tools.changed')
    await until(() => changes === 1)
    await transport.terminateSession()
    await client.close()
    expect(await kit.sessions('alpha')).toMatchObject([
      { transport: 'mcp-http', client: clientInfo, ended_ms: kit.kit.clock.wall() },
    ])
    await until(() => kit.listeners() === 0)
  })

  test('SDK v1 over WebSocket: lists and calls', async () => {
    const before = Object.getOwnPropertyDescriptor(globalThis, 'WebSocket')
    Object.defineProperty(globalThis, 'WebSocket', { value: WebSocket, configurable: true })
    try {
      const client = new Client(clientInfo)
      const address = new URL(`${kit.mcpUrl}?token=${tokens.alpha}`)
      await client.connect(new WebSocketClientTransport(address))
      expect(toolNames((await client.listTools()).tools)).toEqual(testTools)
      const result = await client.callTool({ name: 'test__echo', arguments: { text: 'ws' } })
      expect(result.structuredContent).toEqual({ text: 'ws' })
      const held = await client.callTool({ name: 'test__erase', arguments: { path: '/x' } })
      expect(held.structuredContent).toEqual(pending('test__erase'))
      await client.close()
    } finally {
      if (before) Object.defineProperty(globalThis, 'WebSocket', before)
      else Reflect.deleteProperty(globalThis, 'WebSocket')
    }
  })

  test.each([
    ['the era of the handshake', { mode: 'legacy' as const }, /^2025/],
    ['whichever era is the newest', { mode: 'auto' as const }, /^2026/],
    ['the era without one', { mode: { pin: '2026-07-28' } }, /^2026/],
  ])('SDK v2 in %s: lists, calls, hears of progress', async (_name, versionNegotiation, era) => {
    const client = new ModernClient(clientInfo, { versionNegotiation })
    await client.connect(
      new ModernTransport(new URL(`${kit.url}/mcp`), { requestInit: { headers: headersOf() } }),
    )
    expect(client.getNegotiatedProtocolVersion()).toMatch(era)
    expect(toolNames((await client.listTools()).tools)).toEqual(testTools)
    const result = await client.callTool({ name: 'test__echo', arguments: { text: 'v2' } })
    expect(result.structuredContent).toEqual({ text: 'v2' })
    const held = await client.callTool({ name: 'test__erase', arguments: { path: '/x' } })
    expect(held.structuredContent).toEqual(pending('test__erase'))
    await expect(client.callTool({ name: 'test__limited' })).rejects.toThrow(/Rate limit/)
    const told: number[] = []
    const waiting = client.callTool(
      { name: 'test__wait' },
      { onprogress: ({ progress }) => told.push(progress) },
    )
    await until(() => kit.waiting.length === 1)
    kit.waiting[0]?.progress(1, 2, 'half')
    await until(() => told.length === 1)
    kit.waiting[0]?.fail(new GatehouseError('FileNotFound', { path: '/x' }))
    expect((await waiting).isError).toBe(true)
    await client.close()
  })

  test('SDK v2 in the era without a handshake: closing the stream cancels the call', async () => {
    const client = new ModernClient(clientInfo, {
      versionNegotiation: { mode: { pin: '2026-07-28' } },
    })
    await client.connect(
      new ModernTransport(new URL(`${kit.url}/mcp`), { requestInit: { headers: headersOf() } }),
    )
    const gone = new AbortController()
    const waiting = client.callTool({ name: 'test__wait' }, { signal: gone.signal })
    await until(() => kit.waiting.length === 1)
    gone.abort()
    await expect(waiting).rejects.toThrow()
    await until(() => kit.waiting[0]?.signal.aborted === true)
    await client.close()
  })
})

describe('sessions', () => {
  test('are optional, and where one is named it counts', async () => {
    const session = await openSession()
    expect((await send(callOf('test__echo'))).status).toBe(200)
    expect(kit.ran.at(-1)?.session_id).toBe(null)
    expect((await send(callOf('test__echo'), { 'Mcp-Session-Id': session })).status).toBe(200)
    expect(kit.ran.at(-1)?.session_id).toBe(session)
  })

  test('of another agent, unknown or ended are 404, and are never a credential', async () => {
    const session = await openSession()
    const named = { 'Mcp-Session-Id': session }
    expect((await send(ping, named)).status).toBe(200)
    const foreign = await send(ping, named, 'beta')
    const unknown = await send(ping, { 'Mcp-Session-Id': 'sess-nothing' }, 'beta')
    expect([foreign.status, unknown.status]).toEqual([404, 404])
    expect((await fetch(`${kit.url}/mcp`, { method: 'POST', headers: named })).status).toBe(401)
    expect((await send(null, named, 'beta', 'DELETE')).status).toBe(404)
    expect((await send(null, named, 'alpha', 'DELETE')).status).toBe(204)
    expect((await send(ping, named)).status).toBe(404)
    expect((await send(null, {}, 'alpha', 'DELETE')).status).toBe(400)
  })

  test('begin once, and anew where they have ended', async () => {
    const named = { 'Mcp-Session-Id': await openSession() }
    const again = await send(hello, named)
    expect(again.status).toBe(400)
    expect(await again.json()).toMatchObject({
      id: 1,
      error: { code: -32600, message: expect.stringContaining('initialized already') as string },
    })
    expect((await send(ping, named)).status).toBe(200)
    await send(null, named, 'alpha', 'DELETE')
    const anew = await send(hello, named)
    expect(anew.status).toBe(200)
    expect(anew.headers.get('mcp-session-id')).not.toBe(named['Mcp-Session-Id'])
    // Whose session it is, a foreign id does not tell.
    expect((await send(hello, named, 'beta')).status).toBe(200)
  })

  test('GET streams what is pushed, once per session, and 405 without one', async () => {
    const session = { 'Mcp-Session-Id': await openSession() }
    const without = await send(null, {}, 'alpha', 'GET')
    expect(without.status).toBe(405)
    expect(without.headers.get('allow')).toMatch(/POST/)
    expect((await send(null, session, 'beta', 'GET')).status).toBe(404)
    const stream = await send(null, session, 'alpha', 'GET')
    expect(stream.headers.get('content-type')).toBe('text/event-stream')
    expect((await send(null, session, 'alpha', 'GET')).status).toBe(409)
    const reader = stream.body?.getReader()
    kit.emit('alpha', 'wake', { reason: 'mail' })
    let text = ''
    while (!text.includes('notifications/wake')) {
      text += Buffer.from((await reader?.read())?.value ?? []).toString()
    }
    await kit.revoke('alpha')
    expect((await reader?.read())?.done).toBe(true)
    await until(() => kit.listeners() === 0)
  })

  test('a call in one session is cancelled there, and from no other', async () => {
    const mine = { 'Mcp-Session-Id': await openSession() }
    const other = { 'Mcp-Session-Id': await openSession() }
    const answer = send(callOf('test__wait', 7), mine)
    await until(() => kit.waiting.length === 1)
    const cancel = {
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 7 },
    }
    expect((await send(cancel, other)).status).toBe(202)
    expect((await send(cancel)).status).toBe(202)
    expect(kit.waiting[0]?.signal.aborted).toBe(false)
    expect((await send(cancel, mine)).status).toBe(202)
    expect(await (await answer).json()).toMatchObject({ result: { isError: true } })
    expect(kit.waiting[0]?.signal.aborted).toBe(true)
  })
})

describe('messages over HTTP', () => {
  test('notifications and answers: 202 without a body', async () => {
    for (const message of [
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', method: 'nonsense' },
      { jsonrpc: '2.0', id: 1, result: {} },
      [{ jsonrpc: '2.0', method: 'notifications/initialized' }],
    ]) {
      const response = await send(message)
      expect(response.status).toBe(202)
      expect(await response.text()).toBe('')
    }
  })

  test.each<[string, unknown, Record<string, string>, number, number]>([
    ['bad JSON', '{"jsonrpc"', {}, 400, -32700],
    ['no request', { foo: 'boo' }, {}, 400, -32600],
    ['an empty batch', [], {}, 400, -32600],
    ['a batch in 2025-06-18', [ping], { 'MCP-Protocol-Version': '2025-06-18' }, 400, -32600],
    ['an unknown version', ping, { 'MCP-Protocol-Version': '1999-01-01' }, 400, -32600],
    ['id null', { jsonrpc: '2.0', id: null, method: 'ping' }, {}, 200, -32600],
    ['an unknown method', { jsonrpc: '2.0', id: 1, method: 'server/discover' }, {}, 200, -32601],
    [
      'the modern era without its envelope',
      ping,
      { 'MCP-Protocol-Version': '2026-07-28' },
      400,
      -32602,
    ],
  ])('%s', async (_name, message, headers, status, code) => {
    const response = await send(message, headers)
    expect(response.status).toBe(status)
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    expect(((await response.json()) as { error: { code: number } }).error.code).toBe(code)
    expect((await send(ping)).status).toBe(200)
  })

  test('a batch of 2025-03-26, and of clients that name no version, is answered as one', async () => {
    const response = await send([ping, callOf('test__echo')])
    expect(((await response.json()) as { id: number }[]).map(({ id }) => id)).toEqual([2, 3])
    const bad = (await (await send([hello, ping])).json()) as { error?: { code: number } }[]
    expect(bad.map(({ error }) => error?.code)).toEqual([-32600, undefined])
  })

  test('a batch in a session is answered where that was agreed on for a version that has batches', async () => {
    for (const [protocolVersion, status] of [
      ['2025-03-26', 200],
      ['2025-11-25', 400],
    ] as const) {
      const opened = await send({ ...hello, params: { ...hello.params, protocolVersion } })
      const session = { 'Mcp-Session-Id': opened.headers.get('mcp-session-id') ?? '' }
      expect((await send([ping], session)).status, protocolVersion).toBe(status)
    }
  })

  test('progress turns the answer into a stream only where it was asked for', async () => {
    for (const [meta, type] of [
      [undefined, 'application/json'],
      [{ progressToken: 1 }, 'text/event-stream'],
    ] as const) {
      kit.waiting.length = 0
      const answer = send(callOf('test__wait', 3, meta))
      await until(() => kit.waiting.length === 1)
      kit.waiting[0]?.progress(1)
      kit.waiting[0]?.fail(new GatehouseError('FileNotFound', { path: '/x' }))
      const response = await answer
      expect(response.headers.get('content-type')).toBe(type)
      expect(await response.text()).toMatch(/FileNotFound/)
    }
  })

  test('the token of the address opens nothing over HTTP', async () => {
    const response = await fetch(`${kit.url}/mcp?token=${tokens.alpha}`, { method: 'POST' })
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe('Bearer')
  })

  test('a revoked agent has its open calls cancelled within a sweep', async () => {
    await kit.close(0)
    kit = await openKit({ limits: { sweepEveryMs: 10 } })
    const answer = send(callOf('test__wait'))
    await until(() => kit.waiting.length === 1)
    await kit.revokeElsewhere('alpha')
    expect(await (await answer).text()).toMatch(/Cancelled/)
  })
})
