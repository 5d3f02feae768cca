import { connect } from 'node:net'
import { until } from '@gatehouse/testkit/until'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import {
  type GatewayKit,
  openKit,
  pending,
  testTools,
  tokens,
} from '../../../test/kit/gateway-kit.ts'
import { Peer } from '../../../test/kit/mcp-peer.ts'
import { manyCapabilities } from '../../../test/kit/test-capabilities.ts'

let kit: GatewayKit
beforeEach(async () => {
  kit = await openKit({ allowedOrigins: ['https://dash.example.com:7800'] })
})
afterEach(() => kit.close(0))

type Options = { headers?: Record<string, string>; query?: string; protocols?: string[] }

const opening = ({ headers, query = '', protocols = [] }: Options = {}) =>
  new WebSocket(`${kit.mcpUrl}${query}`, protocols, {
    headers: headers ?? { Authorization: `Bearer ${tokens.alpha}` },
  })

const open = async (options?: Options): Promise<Peer> => {
  const peer = new Peer(opening(options))
  await new Promise((resolve, reject) => {
    peer.ws.once('open', resolve)
    peer.ws.once('error', reject)
  })
  return peer
}

const refusal = (options: Options): Promise<number> =>
  new Promise((resolve, reject) => {
    const ws = opening(options)
    ws.on('unexpected-response', (_req, res) => {
      resolve(res.statusCode ?? 0)
      ws.terminate()
    })
    ws.on('open', () => reject(new Error('it opened')))
    ws.on('error', () => undefined)
  })

const hello = (protocolVersion: unknown) => ({
  protocolVersion,
  capabilities: {},
  clientInfo: { name: 'probe', version: '1.2' },
})

describe('the upgrade', () => {
  test('takes the token from the header or from the address, and never logs it', async () => {
    const byHeader = await open()
    const byQuery = await open({ headers: {}, query: `?token=${tokens.alpha}` })
    for (const peer of [byHeader, byQuery]) {
      expect((await peer.request('ping')).result).toEqual({})
    }
    expect(await refusal({ headers: {}, query: `?token=${'e'.repeat(64)}` })).toBe(401)
    expect(kit.log.lines.join()).not.toMatch(/aaaaaaaa|eeeeeeee|token=/)
  })

  const origin = 'https://dash.example.com:7800'
  test.each<[string, Options, number]>([
    ['without a token', { headers: {} }, 401],
    ['with a wrong token', { headers: { Authorization: `Bearer ${'c'.repeat(64)}` } }, 401],
    ['with two tokens', { query: `?token=${tokens.beta}` }, 400],
    ['with a token twice', { headers: {}, query: `?token=${tokens.alpha}&token=x` }, 400],
    [
      'from a foreign page',
      { headers: { Authorization: `Bearer ${tokens.alpha}`, Origin: 'https://evil.example' } },
      403,
    ],
    [
      'from a foreign page with the token in the address',
      { headers: { Origin: 'null' }, query: `?token=${tokens.alpha}` },
      403,
    ],
    [
      'under a foreign host',
      { headers: { Authorization: `Bearer ${tokens.alpha}`, Host: 'evil.example' } },
      421,
    ],
  ])('%s is refused', async (_name, options, status) => {
    expect(await refusal(options)).toBe(status)
    const twin = await open({ headers: { Origin: origin }, query: `?token=${tokens.alpha}` })
    expect((await twin.request('ping')).result).toEqual({})
  })

  test('answers the subprotocol mcp if it is offered, and needs none', async () => {
    expect((await open({ protocols: ['other', 'mcp'] })).ws.protocol).toBe('mcp')
    expect((await open()).ws.protocol).toBe('')
  })

  test('takes no compressed messages, although the client offers them', async () => {
    expect((await open()).ws.extensions).toBe('')
  })

  const offer = 'Upgrade: websocket\r\nConnection: Upgrade\r\n'
  const key = `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}\r\n`
  test.each([
    ['a wrong version', `${offer}${key}Sec-WebSocket-Version: 7`, 'Sec-WebSocket-Version'],
    ['a bad key', `${offer}Sec-WebSocket-Key: x`, 'Sec-WebSocket-Key'],
    ['no Connection: Upgrade', 'Upgrade: websocket', 'Connection: Upgrade'],
  ])('%s is refused by its name, as JSON, and the socket closed', async (_name, lines, fault) => {
    const socket = connect(kit.port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString()
    })
    socket.write(
      `GET /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${tokens.alpha}\r\n${lines}\r\n\r\n`,
    )
    await until(() => /HTTP\/1.1 4\d\d[^]*\}$/.test(text))
    expect(text).toMatch(/^content-type: application\/json\r$/im)
    const { error } = JSON.parse(text.slice(text.indexOf('{')))
    expect(error).toMatchObject({ code: -32600, message: expect.stringContaining(fault) })
    if (!/connection: close/i.test(text)) socket.end()
    await until(() => kit.connections() === 0)
    expect((await (await open()).request('ping')).result).toEqual({})
  })

  test('an agent has so many connections and no more; others have theirs', async () => {
    await kit.close(0)
    kit = await openKit({ limits: { connectionsPerAgentMax: 2 } })
    const first = await open()
    await open()
    expect(await refusal({})).toBe(429)
    await open({ headers: { Authorization: `Bearer ${tokens.beta}` } })
    first.ws.close()
    await until(() => kit.listeners() === 2)
    await open()
  })
})

describe('the handshake', () => {
  test.each([
    ['2024-11-05', '2024-11-05'],
    ['2025-03-26', '2025-03-26'],
    ['2025-06-18', '2025-06-18'],
    ['2025-11-25', '2025-11-25'],
    ['1999-01-01', '2025-11-25'],
    ['2026-07-28', '2025-11-25'],
  ])('%s is answered with %s', async (asked, answered) => {
    const { result } = await (await open()).request('initialize', hello(asked))
    expect(result).toMatchObject({
      protocolVersion: answered,
      serverInfo: { name: 'gatehouse', version: kit.kit.app.version },
      capabilities: { tools: { listChanged: true } },
    })
  })

  test('names the client in its session, which ends with the socket', async () => {
    const peer = await open()
    await peer.request('initialize', hello('2025-06-18'))
    await peer.call('test__echo', { text: 'x' })
    const [session] = await kit.sessions('alpha')
    expect(session).toMatchObject({
      transport: 'mcp-websocket',
      client: { name: 'probe', version: '1.2' },
      ended_ms: null,
    })
    expect(kit.ran[0]?.session_id).toBe(session?.id)
    peer.ws.close()
    await expect.poll(async () => (await kit.sessions('alpha'))[0]?.ended_ms).not.toBeNull()
    expect(await kit.sessions('alpha')).toHaveLength(1)
    expect(kit.listeners()).toBe(0)
  })

  test('comes in a session that began with the socket, before anything was said', async () => {
    const peer = await open()
    await expect.poll(() => kit.sessions('alpha')).toHaveLength(1)
    expect(await kit.sessions('alpha')).toMatchObject([{ client: null, ended_ms: null }])
    await peer.request('initialize', hello('2025-06-18'))
    expect(await kit.sessions('alpha')).toMatchObject([{ client: { name: 'probe' } }])
    const silent = await open()
    await expect.poll(() => kit.sessions('alpha')).toHaveLength(2)
    silent.ws.close()
    await expect.poll(async () => (await kit.sessions('alpha'))[1]?.ended_ms).not.toBeNull()
    expect(await kit.sessions('alpha')).toMatchObject([{ ended_ms: null }, { client: null }])
  })

  test('may be skipped: calls before it are served', async () => {
    const peer = await open()
    expect((await peer.call('test__echo', { text: 'early' })).result).toMatchObject({
      content: [{ type: 'text', text: 'early' }],
    })
    expect(await kit.sessions('alpha')).toMatchObject([{ client: null }])
  })

  test('is made once, and with a version that is a string', async () => {
    const peer = await open()
    expect((await peer.request('initialize', hello(7))).error?.code).toBe(-32602)
    expect((await peer.request('initialize', hello('2025-06-18'))).result).toBeDefined()
    expect((await peer.request('initialize', hello('2025-06-18'))).error?.code).toBe(-32600)
    expect((await peer.request('ping')).result).toEqual({})
  })
})

/** As MCP says it: with the name that is called there. */
const pendingTool = pending('test__erase')

describe('tools', () => {
  test('are listed with honest annotations and schemas', async () => {
    const { result } = await (await open()).request('tools/list', {})
    const tools = result?.['tools'] as Record<string, unknown>[]
    expect(tools.map((tool) => tool['name'])).toEqual(testTools)
    const toolOf = (name: string) => tools.find((tool) => tool['name'] === name)
    expect(toolOf('test__echo')).toMatchObject({
      description: 'Gives back what it is given. In tests.',
      inputSchema: { type: 'object', required: ['text'] },
      annotations: { readOnlyHint: true, openWorldHint: false },
    })
    for (const tool of tools) {
      expect(tool['inputSchema']).toMatchObject({
        type: 'object',
        properties: expect.any(Object),
        required: expect.any(Array),
      })
    }
    expect(toolOf('test__erase')?.['annotations']).toEqual({
      destructiveHint: true,
      openWorldHint: false,
    })
  })

  test.each([['tools/list'], ['tools/call'], ['ping']])(
    '%s takes its params by name only, and null is none',
    async (method) => {
      const peer = await open()
      for (const params of [[], ['test__echo'], 'test__echo', 5, true]) {
        expect((await peer.request(method, params)).error).toMatchObject({
          code: -32602,
          data: { member: 'params' },
        })
      }
      const [none, nothing] = [await peer.request(method), await peer.request(method, null)]
      expect(nothing.error).toEqual(none.error)
      expect(nothing.result).toEqual(none.result)
    },
  )

  test('come in one page, in one order, and a cursor that is none of ours is refused', async () => {
    kit.kit.registry.replaceGroup('test', [...kit.capabilities.all, ...manyCapabilities])
    const peer = await open()
    const { result } = await peer.request('tools/list', {})
    expect(result).not.toHaveProperty('nextCursor')
    const names = (result?.['tools'] as { name: string }[]).map(({ name }) => name)
    expect(names).toHaveLength(testTools.length + manyCapabilities.length)
    expect(names).toEqual(names.toSorted())
    for (const bad of ['nonsense', 7, Buffer.from('["x","y"]').toString('base64url')]) {
      expect((await peer.request('tools/list', { cursor: bad })).error?.code).toBe(-32602)
    }
  })

  test.each([
    [
      'test__echo',
      { text: 'hi' },
      { result: { content: [{ type: 'text', text: 'hi' }], structuredContent: { text: 'hi' } } },
    ],
    ['test__erase', {}, { result: { structuredContent: pendingTool } }],
    ['test__blocked', {}, { error: { code: -32001, data: { reason: 'blocked' } } }],
    ['test__limited', {}, { error: { code: -32000, data: { retry_after_seconds: 42 } } }],
    [
      'test__ech',
      {},
      {
        error: {
          code: -32602,
          message: 'There is no capability test__ech.',
          data: {
            did_you_mean: ['test__echo'],
            type: 'UnknownCapability',
            recovery: [{ action: 'agent__capabilities' }],
          },
        },
      },
    ],
    ['test.echo', { text: 'dotted' }, { result: { structuredContent: { text: 'dotted' } } }],
    ['test.ech', {}, { error: { code: -32602, data: { did_you_mean: ['test__echo'] } } }],
    ['__proto__', {}, { error: { code: -32602 } }],
    ['test__crash', {}, { error: { code: -32603 } }],
    ['test__unrecorded', {}, { error: { code: -32603, data: { type: 'AuditUnavailable' } } }],
    ['test__echo', 'text', { error: { code: -32602, data: { member: 'arguments' } } }],
  ])('%s %j', async (name, args, want) => {
    const peer = await open()
    expect(await peer.call(name, args)).toMatchObject(want)
    expect((await peer.call('test__echo', { text: 'still' })).result).toBeDefined()
  })

  test.each([
    ['paused', { error: { code: -32001, data: { reason: 'agent_paused' } } }],
    ['crowded', { error: { code: -32000, data: { reason: 'overloaded' } } }],
  ] as const)('are refused to an agent that is %s', async (agent, want) => {
    await kit.crowd()
    const peer = await open({ headers: { Authorization: `Bearer ${tokens[agent]}` } })
    expect(await peer.call('test__poll')).toMatchObject(want)
    expect((await peer.request('ping')).result).toEqual({})
  })

  test('a failure and a pending approval are JSON in a text item', async () => {
    const peer = await open()
    const failed = (await peer.call('test__fail')).result as {
      isError: boolean
      content: { text: string }[]
    }
    expect(failed.isError).toBe(true)
    expect(JSON.parse(failed.content[0]?.text ?? '')).toEqual({
      error: 'FileNotFound',
      message: 'There is no file at /x.',
      recovery: [{ action: 'filesystem__list', description: expect.any(String) }],
    })
    const held = (await peer.call('test__erase')).result as { content: { text: string }[] }
    expect(held).not.toHaveProperty('isError')
    expect(JSON.parse(held.content[0]?.text ?? '')).toEqual(pendingTool)
  })

  test('members beside the arguments change nothing', async () => {
    const peer = await open()
    await peer.request('tools/call', {
      name: 'test__echo',
      arguments: { text: 'x' },
      approved: true,
      agent: 'admin',
    })
    expect(kit.ran).toEqual([
      {
        capability: 'test.echo',
        agent: 'alpha',
        session_id: expect.any(String),
        args: { text: 'x' },
      },
    ])
  })

  test('progress is told where a token was given, only upwards, and not after the answer', async () => {
    const peer = await open()
    peer.send({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'test__wait', _meta: { progressToken: 'p1' } },
    })
    await until(() => kit.waiting.length === 1)
    const waiting = kit.waiting[0]
    waiting?.progress(1, 3, 'one')
    waiting?.progress(1)
    waiting?.progress(2)
    waiting?.finish()
    await peer.answerTo(1)
    waiting?.progress(3)
    await peer.request('ping')
    const told = peer.messages.filter((m) => m.method === 'notifications/progress')
    expect(told.map((m) => m.params)).toEqual([
      { progressToken: 'p1', progress: 1, total: 3, message: 'one' },
      { progressToken: 'p1', progress: 2 },
    ])
    const untold = peer.call('test__wait')
    await until(() => kit.waiting.length === 2)
    kit.waiting[1]?.progress(1)
    kit.waiting[1]?.finish()
    await untold
    expect(peer.messages.filter((m) => m.method === 'notifications/progress')).toEqual(told)
  })

  test('a cancelled call stops and is not answered; strange cancellations are ignored', async () => {
    const peer = await open()
    peer.send({ jsonrpc: '2.0', id: 9, method: 'tools/call', params: { name: 'test__wait' } })
    await until(() => kit.waiting.length === 1)
    for (const requestId of ['9', 10, null, {}]) {
      peer.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })
    }
    await peer.request('ping')
    expect(kit.waiting[0]?.signal.aborted).toBe(false)
    peer.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 9 } })
    await until(() => kit.waiting[0]?.signal.aborted === true)
    await peer.request('ping')
    expect(peer.messages.some((m) => m.id === 9)).toBe(false)
  })
})

describe('messages', () => {
  test.each([
    ['not JSON', '{"jsonrpc"', -32700],
    ['two documents', '{} {}', -32700],
    ['id null', '{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
    ['id 1.5', '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600],
    ['duplicate keys', '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32600],
    ['nested deep', `${'['.repeat(100)}${']'.repeat(100)}`, -32600],
  ])('%s is refused and the connection goes on', async (_name, text, code) => {
    const peer = await open()
    peer.send(text)
    expect((await peer.answerTo(null)).error?.code).toBe(code)
    expect((await peer.request('ping')).result).toEqual({})
  })

  test.each([
    ['server/discover', -32601],
    ['resources/list', -32601],
    ['prompts/list', -32601],
    ['constructor', -32601],
  ])('%s is no method here', async (method, code) => {
    expect((await (await open()).request(method, {})).error).toMatchObject({
      code,
      message: `There is no method ${method}.`,
      data: { type: 'MethodNotFound', recovery: [{ action: 'list the methods' }] },
    })
  })

  test('logging/setLevel is accepted, and answers from the peer are ignored', async () => {
    const peer = await open()
    expect((await peer.request('logging/setLevel', { level: 'debug' })).result).toEqual({})
    peer.send({ jsonrpc: '2.0', id: 5, result: {} })
    await peer.request('ping')
    expect(peer.messages.some((m) => m.id === 5)).toBe(false)
  })

  test('an id that still runs is refused, and free again when it is answered', async () => {
    const peer = await open()
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'test__wait' } }
    peer.send(call)
    await until(() => kit.waiting.length === 1)
    peer.send(call)
    expect((await peer.answerTo(1)).error?.code).toBe(-32600)
    expect(kit.waiting).toHaveLength(1)
    kit.waiting[0]?.finish()
    await until(() => peer.messages.filter((m) => m.id === 1).length === 2)
    peer.send(call)
    await until(() => kit.waiting.length === 2)
  })

  test('batches belong to the version that has them', async () => {
    const peer = await open()
    await peer.request('initialize', hello('2025-03-26'))
    peer.send([
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'test__ech' } },
    ])
    await until(() => peer.batches.length === 1)
    expect(peer.batches[0]?.map(({ id }) => id)).toEqual([1, 2])
  })

  test('a binary frame closes with 1003, bad UTF-8 with 1007, too much with 1009', async () => {
    const binary = await open()
    binary.ws.send(Buffer.from('{}'), { binary: true })
    expect((await binary.end()).code).toBe(1003)
    const utf8 = await open()
    utf8.ws.send(Buffer.from([0x22, 0xff, 0x22]), { binary: false })
    expect((await utf8.end()).code).toBe(1007)
    await kit.close(0)
    kit = await openKit({ limits: { bodyBytesMax: 1000 } })
    const large = await open()
    large.send('x'.repeat(1001))
    expect((await large.end()).code).toBe(1009)
    expect((await (await open()).request('ping')).result).toEqual({})
  })

  test('many fragments are refused early', async () => {
    const peer = await open()
    for (let i = 0; i < 70; i++) peer.ws.send('x', { fin: false })
    expect((await peer.end()).code).toBe(1008)
  })

  test('a large message is read in slices, before those behind it', async () => {
    const peer = await open()
    const text = 'line\n'.repeat(400_000)
    peer.send({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'test__echo', arguments: { text } },
    })
    const second = peer.call('test__echo', { text: 'second' })
    expect((await peer.answerTo(1)).result?.['structuredContent']).toEqual({ text })
    await second
    const texts = kit.ran.map(({ args }) => args.text ?? '')
    expect(texts.map((t) => t.slice(0, 6))).toEqual(['line\nl', 'second'])
  })
})

describe('pushes', () => {
  test('tell what changed, each under its own name', async () => {
    const peer = await open()
    const other = await open({ headers: { Authorization: `Bearer ${tokens.beta}` } })
    await peer.request('ping')
    kit.emit('alpha', 'tools.changed')
    kit.emit('alpha', 'wake', { reason: 'mail' })
    kit.emit('alpha', 'files.changed', { path: '/x' })
    kit.emit('alpha', 'something.else', { a: 1 })
    kit.emit('alpha', 'approval.resolved', {
      approval_id: pendingTool.approval_id,
      status: 'approved',
      result: { success: true, data: { erased: true } },
    })
    kit.emit('alpha', 'approval.resolved', {
      approval_id: 'appr-2',
      status: 'rejected',
      result: {
        success: false,
        error: { type: 'ApprovalRejected', message: 'no', recovery: [] },
      },
    })
    await until(() => peer.messages.length === 7)
    const [, tools, wake, files, rest, approved, rejected] = peer.messages
    expect(tools).toEqual({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
    expect(wake).toMatchObject({ method: 'notifications/wake', params: { reason: 'mail' } })
    expect(files).toMatchObject({
      method: 'notifications/files/changed',
      params: { path: '/x' },
    })
    expect(rest).toMatchObject({
      method: 'notifications/gatehouse/event',
      params: { type: 'something.else', data: { a: 1 } },
    })
    expect(approved).toMatchObject({
      method: 'notifications/approvals/resolved',
      params: {
        approval_id: pendingTool.approval_id,
        status: 'approved',
        result: {
          content: [{ type: 'text', text: '{"erased":true}' }],
          structuredContent: { erased: true },
        },
      },
    })
    expect(rejected?.params).toMatchObject({ status: 'rejected', result: { isError: true } })
    await other.request('ping')
    expect(other.messages).toHaveLength(1)
  })
})
