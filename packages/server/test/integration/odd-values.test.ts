import { silent } from '@gatehouse/server/log/testing'
import { createIds } from '@gatehouse/server/platform/ids'
import { createKit, type Kit } from '@gatehouse/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type Gateway, openGateway } from '../../src/transport/gateway/open-gateway.ts'
import { Peer } from '../kit/mcp-peer.ts'

let kit: Kit
let gateway: Gateway
let authorization: string

beforeAll(async () => {
  kit = await createKit()
  authorization = `Bearer ${await kit.agent('alpha')}`
  gateway = await openGateway({
    host: '127.0.0.1',
    port: 0,
    app: kit.app,
    ids: createIds(),
    log: silent,
    version: '0.0.0',
    allowedHosts: [],
    allowedOrigins: [],
  })
})
afterAll(async () => {
  await gateway.close(0)
  await kit[Symbol.asyncDispose]()
})

type Failure = { type: string; message: string; recovery: { action: string }[] }
type Reply = {
  id: unknown
  result?: {
    success?: boolean
    error?: Failure
    isError?: boolean
    content?: { text: string }[]
  }
  error?: { code: number; message: string; data?: { reason?: string; member?: string } }
}

const post = async (path: '/rpc' | '/mcp', body: string, headers: Record<string, string> = {}) => {
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', ...headers },
    body,
  })
  return { status: response.status, body: (await response.json()) as Reply | Reply[] }
}

/** A request as text: what is odd here no program would write. */
const invoke = (id: string, args: string): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"capabilities.invoke","params":{"capability":"state.set","arguments":${args}}}`
const callTool = (id: string, args: string): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"state__set","arguments":${args}}}`

const odd: [name: string, value: string, said: RegExp][] = [
  ['2^53 + 1', '9007199254740993', /value: .*beyond 2\^53 - 1/],
  ['-(2^53)', '-9007199254740992', /value: .*beyond 2\^53 - 1/],
  ['1e400', '1e400', /value: .*too large/],
  ['half of a pair', '"a\\ud800b"', /value: .*surrogate/],
  ['half of a pair in a list', '{"list":[1,{"x":"\\udc00"}]}', /value\.list\[1\]\.x: .*surrogate/],
  ['half of a pair in a key', '{"\\ud800":1}', /value\.\ufffd: .*surrogate/],
  ['2,000 large integers', `[${'9007199254740993,'.repeat(2_000)}0]`, /value\[0\]: .*beyond/],
]

const names = async () =>
  (await kit.app.listState(kit.operator(), { agent: 'alpha', limit: 100 })).keys.map(
    ({ key }) => key,
  )

describe.each(odd)('%s in one argument', (_name, value, said) => {
  const args = `{"key":"odd","value":${value}}`
  const fine = (n: number) => `{"key":"fine-${n}","value":9007199254740991}`

  test('fails that call of a batch, under its id, and the others are answered', async () => {
    const batch = [invoke('1', fine(1)), invoke('"two"', args), invoke('3', fine(3))]
    const { status, body } = await post('/rpc', `[${batch.join(',')}]`)
    expect(status).toBe(200)
    const replies = body as Reply[]
    expect(replies.map(({ id, result }) => [id, result?.success])).toEqual([
      [1, true],
      ['two', false],
      [3, true],
    ])
    const error = replies[1]?.result?.error
    expect(error?.type).toBe('InvalidArguments')
    expect(error?.message).toMatch(said)
    expect(error?.recovery[0]?.action).toMatch(/^fix value/)
    expect(await names()).not.toContain('odd')
    const [entry] = await kit
      .audit({ capability: 'state.set' })
      .then((entries) => entries.filter(({ result }) => result === 'error'))
    expect(entry?.arguments).toEqual({
      key: 'odd',
      value: expect.stringMatching(/^\[unreadable: \w+\]$/),
    })
  })

  test.each([
    ['Streamable HTTP', {}],
    ['Streamable HTTP of the newest era', { 'mcp-protocol-version': '2026-07-28' }],
  ])('fails a tool over %s as a tool fails', async (_carrier, headers) => {
    const modern = Object.keys(headers).length > 0
    const meta =
      '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},'
    const text = callTool('5', args).replace('"params":{', `"params":{${modern ? meta : ''}`)
    const { status, body } = await post('/mcp', text, {
      accept: 'application/json, text/event-stream',
      ...(modern ? { 'mcp-method': 'tools/call', 'mcp-name': 'state__set' } : {}),
      ...headers,
    })
    expect(status, JSON.stringify(body)).toBe(200)
    const { id, result } = body as Reply
    expect([id, result?.isError]).toEqual([5, true])
    expect(JSON.parse(result?.content?.[0]?.text ?? '')).toMatchObject({
      error: 'InvalidArguments',
      message: expect.stringMatching(said),
    })
  })

  test('fails a tool over WebSocket under its id, and the connection goes on', async () => {
    const ws = new WebSocket(gateway.mcpUrl, { headers: { authorization } })
    const peer = new Peer(ws)
    await new Promise((resolve) => ws.once('open', resolve))
    peer.send(callTool('"x"', args))
    const answer = (await peer.answerTo('x')) as Reply
    expect(answer.result?.isError).toBe(true)
    expect(answer.result?.content?.[0]?.text).toContain('InvalidArguments')
    expect((await peer.request('ping')).result).toEqual({})
    ws.terminate()
  })
})

test.each([
  ['a duplicate key', '{"key":"a","value":1,"value":2}', 'duplicate_key', 'params.arguments.value'],
  [
    '__proto__',
    '{"key":"a","value":{"__proto__":1}}',
    'proto_key',
    'params.arguments.value.__proto__',
  ],
  [
    'deep nesting',
    `{"key":"a","value":${'['.repeat(70)}${']'.repeat(70)}}`,
    'depth',
    'params.arguments.value',
  ],
])('%s refuses that request alone, under its id', async (_name, args, reason, member) => {
  const batch = [invoke('1', '{"key":"k","value":1}'), invoke('2', args), invoke('3', '{}')]
  const replies = (await post('/rpc', `[${batch.join(',')}]`)).body as Reply[]
  expect(replies.map(({ id, error, result }) => [id, error?.code ?? result?.success])).toEqual([
    [1, true],
    [2, -32600],
    [3, false],
  ])
  expect(replies[1]?.error?.data?.reason).toBe(reason)
  expect(replies[1]?.error?.data?.member).toMatch(new RegExp(`^${member.replaceAll('.', '\\.')}`))
  const alone = await post('/mcp', callTool('9', args), { accept: 'application/json' })
  expect(alone.status).toBe(400)
  expect(alone.body).toMatchObject({ id: 9, error: { code: -32600, data: { reason } } })
})

test('a call without an id that has an odd value is recorded and not answered', async () => {
  const before = (await kit.audit({ capability: 'state.delete' })).length
  const response = await fetch(`${gateway.url}/rpc`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: '{"jsonrpc":"2.0","method":"capabilities.invoke","params":{"capability":"state.delete","arguments":{"key":"\\udfff"}}}',
  })
  expect([response.status, await response.text()]).toEqual([204, ''])
  const entries = await kit.audit({ capability: 'state.delete' })
  expect(entries).toHaveLength(before + 1)
  expect(entries[0]?.result).toBe('error')
})

test('J10 a store that was closed under the service is told without a trace of it', async () => {
  const broken = await createKit()
  const token = await broken.agent('alpha')
  await broken.run('alpha', 'state.set', { key: 'k', value: 1 })
  const door = await openGateway({
    host: '127.0.0.1',
    port: 0,
    app: broken.app,
    ids: createIds(),
    log: silent,
    version: '0.0.0',
    allowedHosts: [],
    allowedOrigins: [],
  })
  try {
    await broken.storage[Symbol.asyncDispose]()
    for (const [capability, args] of [
      ['state.get', { key: 'k' }],
      ['state.set', { key: 'k', value: 2 }],
      ['state.list', {}],
      ['approvals.list', {}],
    ] as const) {
      const params = { capability, arguments: args }
      const response = await fetch(`${door.url}/rpc`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'capabilities.invoke', params }),
      })
      const text = await response.text()
      expect(JSON.parse(text), capability).toMatchObject({
        error: { code: -32603, data: { correlation_id: expect.stringMatching(/^req-/) as string } },
      })
      for (const trace of [broken.folder, 'node_modules', '.ts:', '.js:', 'select ', 'ERR_'])
        expect(text, capability).not.toContain(trace)
    }
  } finally {
    await door.close(0)
    await broken[Symbol.asyncDispose]().catch(() => undefined)
  }
})
