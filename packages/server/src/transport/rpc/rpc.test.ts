import { until } from '@gatehouse/testkit/until'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type GatewayKit,
  openKit,
  pending,
  type TestAgent,
  testTools,
  tokens,
} from '../../../test/kit/gateway-kit.ts'

let kit: GatewayKit
beforeAll(async () => {
  kit = await openKit()
  await kit.crowd()
})
afterAll(() => kit.close(0))

type Answer = {
  id: unknown
  result?: Record<string, unknown>
  error?: { code: number; message: string; data?: Record<string, unknown> }
}
type Reply = { status: number; type: string | null; body: Answer & Answer[]; text: string }

const post = async (
  body: string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<Reply> => {
  const response = await fetch(`${kit.url}/rpc`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${tokens.alpha}`,
      'Content-Type': 'application/json',
      ...headers,
    },
    body,
  })
  const text = await response.text()
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    body: text === '' ? null : JSON.parse(text),
    text,
  } as Reply
}

const call = (method: string, params?: unknown, headers?: Record<string, string>) =>
  post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), headers)

const bearerOf = (agent: TestAgent) => ({ Authorization: `Bearer ${tokens[agent]}` })

const invoke = (capability: string, args: unknown = {}, agent: TestAgent = 'alpha') =>
  call('capabilities.invoke', { capability, arguments: args }, bearerOf(agent))

/** A request that waits for a person. */
const ask = async () => {
  const { body } = await invoke('test.erase', { path: '/y' })
  return body.error?.data as { approval_id: string }
}

const goodCall = async (): Promise<void> => {
  const { body } = await invoke('test.echo', { text: 'still here' })
  expect(body.result).toEqual({ success: true, data: { text: 'still here' } })
}

const echoing = (id: string) =>
  `{"jsonrpc":"2.0","id":${id},"method":"capabilities.invoke","params":{"capability":"test.echo","arguments":{"text":"t"}}}`
const codes = (reply: Reply) => reply.body.map((answer) => answer.error?.code ?? 'ok')

describe('edge cases of JSON-RPC', () => {
  const single: [name: string, body: string | Uint8Array, code: number | 'ok', id: unknown][] = [
    ['broken JSON', '{"jsonrpc":"2.0","method":"foobar, "params":"bar","baz]', -32700, null],
    ['method as number', '{"jsonrpc":"2.0","method":1,"params":"bar"}', -32600, null],
    ['unknown method', '{"jsonrpc":"2.0","method":"foobar","id":"1"}', -32601, '1'],
    ['broken batch', '[{"jsonrpc":"2.0","method":"x","id":"1"},{"jsonrpc"]', -32700, null],
    ['empty batch', '[]', -32600, null],
    ['id null is a request', echoing('null'), 'ok', null],
    ['id ""', echoing('""'), 'ok', ''],
    ['id 0', echoing('0'), 'ok', 0],
    ['id -5', echoing('-5'), 'ok', -5],
    ['id in Unicode', echoing('"\u00fc\u{1f600}"'), 'ok', '\u00fc\u{1f600}'],
    ['id with NUL', echoing('"a\\u0000b"'), 'ok', 'a\u0000b'],
    ['id 1.5', echoing('1.5'), 'ok', 1.5],
    ['id beyond 2^53', echoing('9007199254740993'), -32600, null],
    ['id 1e400', echoing('1e400'), -32600, null],
    ['id {}', echoing('{}'), -32600, null],
    ['id [1]', echoing('[1]'), -32600, null],
    ['id true', echoing('true'), -32600, null],
    ['id of 257 characters', echoing(`"${'x'.repeat(257)}"`), -32600, null],
    ['jsonrpc missing', '{"id":1,"method":"capabilities.list"}', -32600, 1],
    ['jsonrpc 1.0', '{"jsonrpc":"1.0","id":1,"method":"capabilities.list"}', -32600, 1],
    ['jsonrpc as number', '{"jsonrpc":2.0,"id":1,"method":"capabilities.list"}', -32600, 1],
    ['method missing', '{"jsonrpc":"2.0","id":1}', -32600, 1],
    ['method empty', '{"jsonrpc":"2.0","id":1,"method":""}', -32600, 1],
    ['method rpc.x', '{"jsonrpc":"2.0","id":1,"method":"rpc.x"}', -32601, 1],
    ['method __proto__', '{"jsonrpc":"2.0","id":1,"method":"__proto__"}', -32601, 1],
    ['method constructor', '{"jsonrpc":"2.0","id":1,"method":"constructor"}', -32601, 1],
    ['method toString', '{"jsonrpc":"2.0","id":1,"method":"toString"}', -32601, 1],
    [
      'params string',
      '{"jsonrpc":"2.0","id":1,"method":"capabilities.list","params":"x"}',
      -32602,
      1,
    ],
    [
      'params null',
      '{"jsonrpc":"2.0","id":1,"method":"capabilities.list","params":null}',
      -32602,
      1,
    ],
    [
      'params by position',
      '{"jsonrpc":"2.0","id":1,"method":"capabilities.list","params":["x"]}',
      -32602,
      1,
    ],
    ['params left out', '{"jsonrpc":"2.0","id":1,"method":"capabilities.list"}', 'ok', 1],
    [
      'extra top-level member',
      '{"jsonrpc":"2.0","id":1,"method":"capabilities.list","x":1}',
      'ok',
      1,
    ],
    ['a response sent to us', '{"jsonrpc":"2.0","id":1,"result":{}}', -32600, 1],
    ['duplicate keys', '{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}', -32600, 1],
    ['a duplicate id', '{"jsonrpc":"2.0","id":1,"method":"a","id":2}', -32600, null],
    [
      '__proto__ in arguments',
      `{"jsonrpc":"2.0","id":1,"method":"capabilities.invoke","params":{"capability":"test.echo","arguments":{"__proto__":{"x":1}}}}`,
      -32600,
      1,
    ],
    ['two JSON values', '{} {}', -32700, null],
    ['trailing comma', '{"jsonrpc":"2.0",}', -32700, null],
    ['NaN', '{"jsonrpc":"2.0","id":NaN}', -32700, null],
    ['single quotes', "{'jsonrpc':'2.0'}", -32700, null],
    ['empty body', '', -32700, null],
    ['whitespace', ' \n ', -32700, null],
    ['null', 'null', -32600, null],
    ['a string', '"x"', -32600, null],
    ['a number', '5', -32600, null],
    ['byte order mark', '\ufeff{}', -32700, null],
    ['UTF-16', Buffer.from(echoing('1'), 'utf16le'), -32700, null],
    [
      'bad UTF-8',
      Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}')]),
      -32700,
      null,
    ],
    ['lone surrogate', echoing('"\\ud800"'), -32600, null],
    [
      'lone surrogate in a parameter',
      '{"jsonrpc":"2.0","id":7,"method":"capabilities.list","params":{"category":"\\ud800"}}',
      -32600,
      7,
    ],
    [
      'lone surrogate in a member nobody knows',
      '{"jsonrpc":"2.0","id":7,"method":"capabilities.list","x":"\\ud800"}',
      -32600,
      7,
    ],
    [
      'params nested 100 deep',
      `{"jsonrpc":"2.0","id":"a","method":"x","params":${'['.repeat(100)}${']'.repeat(100)}}`,
      -32600,
      'a',
    ],
    [
      '250,000 values before the id',
      `{"jsonrpc":"2.0","method":"x","params":{"a":[${'1,'.repeat(250_000)}1],"id":3},"id":"late"}`,
      -32600,
      'late',
    ],
    [
      '250,000 values and an id that would change',
      `{"id":9007199254740993,"params":[${'1,'.repeat(250_000)}1]}`,
      -32600,
      null,
    ],
    ['250,000 values of a batch', `[{"id":1},{"a":[${'1,'.repeat(250_000)}1]}]`, -32600, null],
    ['nested 1,000 deep', `${'['.repeat(1000)}${']'.repeat(1000)}`, -32600, null],
    ['nested 1,000,000 deep', '['.repeat(1_000_000), -32600, null],
    ['a batch of 101', `[${Array(101).fill(echoing('1')).join(',')}]`, -32600, null],
  ]

  test.each(single)('%s', async (_name, body, code, id) => {
    const reply = await post(body)
    expect(reply.status).toBe(200)
    expect(reply.type).toBe('application/json')
    expect(reply.body.error?.code ?? 'ok').toBe(code)
    expect(reply.body.id).toEqual(id)
    await goodCall()
  })

  test('a method of 1 MB is not echoed back', async () => {
    const reply = await call('m'.repeat(1_000_000))
    expect(reply.body.error?.code).toBe(-32601)
    expect(reply.text.length).toBeLessThan(1000)
    await goodCall()
  })

  test('a batch is answered in order, notifications not at all', async () => {
    const entries = [
      echoing('1'),
      '{"jsonrpc":"2.0","method":"capabilities.list"}',
      '{"foo":"boo"}',
      '{"jsonrpc":"2.0","id":"5","method":"foo.get"}',
      '[]',
      '1',
      echoing('1'),
    ]
    const reply = await post(`[${entries.join(',')}]`)
    expect(codes(reply)).toEqual(['ok', -32600, -32601, -32600, -32600, 'ok'])
    expect(reply.body.map(({ id }) => id)).toEqual([1, null, '5', null, null, 1])
    await goodCall()
  })

  test.each([
    ['[1,2,3]', [-32600, -32600, -32600]],
    ['[[]]', [-32600]],
    ['[null]', [-32600]],
    ['[{}]', [-32600]],
    [`[${echoing('1')}]`, ['ok']],
  ])('the batch %s is answered by an array', async (body, want) => {
    expect(codes(await post(body))).toEqual(want)
    await goodCall()
  })

  test('a batch of 100 runs in the order it was sent', async () => {
    kit.ran.length = 0
    const batch = Array.from({ length: 100 }, (_, i) => ({
      jsonrpc: '2.0',
      id: i,
      method: 'capabilities.invoke',
      params: { capability: 'test.echo', arguments: { text: String(i) } },
    }))
    const reply = await post(JSON.stringify(batch))
    expect(reply.body.map(({ id }) => id)).toEqual(batch.map(({ id }) => id))
    expect(kit.ran.map(({ args }) => args.text)).toEqual(batch.map(({ id }) => String(id)))
  })

  test.each([
    [
      'one',
      '{"jsonrpc":"2.0","method":"capabilities.invoke","params":{"capability":"test.echo","arguments":{"text":"t"}}}',
      1,
    ],
    [
      'a batch',
      '[{"jsonrpc":"2.0","method":"capabilities.invoke","params":{"capability":"test.echo","arguments":{"text":"t"}}},{"jsonrpc":"2.0","method":"nope"}]',
      1,
    ],
    ['with an unknown method', '{"jsonrpc":"2.0","method":"nope"}', 0],
    ['with bad params', '{"jsonrpc":"2.0","method":"capabilities.invoke","params":{"x":1}}', 0],
  ])('notifications (%s) run and get no body', async (_name, body, ran) => {
    kit.ran.length = 0
    const reply = await post(body)
    expect(reply.status).toBe(204)
    expect(reply.text).toBe('')
    expect(kit.ran).toHaveLength(ran)
    await goodCall()
  })
})

describe('methods', () => {
  test('list the capabilities, by category if asked', async () => {
    const names = async (params?: unknown) => {
      const { body } = await call('capabilities.list', params)
      return (body.result?.['capabilities'] as { name: string }[]).map(({ name }) => name)
    }
    const listed = testTools.map((name) => name.replace('__', '.'))
    expect(await names()).toEqual(listed)
    const ofTests = listed.filter((name) => name.startsWith('test.'))
    expect(await names({ category: 'test' })).toEqual(ofTests)
    expect(await names({ category: 'nothing' })).toEqual([])
  })

  test('describe one, suggest for an unknown one, and refuse a blocked one', async () => {
    const described = await call('capabilities.describe', { name: 'test.echo' })
    expect(described.body.result).toMatchObject({ name: 'test.echo', when_to_use: 'In tests.' })
    const unknown = await call('capabilities.describe', { name: 'test.ecko' })
    expect(unknown.body.error).toMatchObject({
      code: -32602,
      message: 'There is no capability test.ecko.',
      data: {
        did_you_mean: ['test.echo'],
        type: 'UnknownCapability',
        recovery: [{ action: 'agent.capabilities' }],
      },
    })
    const blocked = await call('capabilities.describe', { name: 'test.blocked' })
    expect(blocked.body.error?.code).toBe(-32001)
  })

  test.each([
    ['test.fail', { result: { success: false, error: { type: 'FileNotFound' } } }],
    ['test.erase', { error: { code: -32002, data: pending('test.erase') } }],
    [
      'test.blocked',
      { error: { code: -32001, data: { reason: 'blocked', rule: { match: 'test.blocked' } } } },
    ],
    ['test.echo', { error: { code: -32001, data: { reason: 'agent_paused' } } }, 'paused' as const],
    [
      'test.limited',
      {
        error: {
          code: -32000,
          message: 'Rate limit exceeded: 1 calls/1m for test.limited',
          data: { retry_after_seconds: 42, limit: 1, window: '1m' },
        },
      },
    ],
    ['test.ech', { error: { code: -32602, data: { did_you_mean: ['test.echo'] } } }],
  ])('tell what became of %s', async (capability, want, agent: TestAgent = 'alpha') => {
    const { status, body } = await invoke(capability, {}, agent)
    expect(status).toBe(200)
    expect(body).toMatchObject(want)
  })

  test('say 503 where nothing can run now', async () => {
    const busy = await invoke('test.poll', {}, 'crowded')
    expect(busy.status).toBe(503)
    expect(busy.body.error).toMatchObject({ code: -32000, data: { reason: 'overloaded' } })
    const unrecorded = await invoke('test.unrecorded')
    expect(unrecorded.status).toBe(503)
    expect(unrecorded.body.error).toMatchObject({
      code: -32603,
      data: { type: 'AuditUnavailable' },
    })
    await goodCall()
  })

  test('hide what an unknown exception says, and log it under the id that is told', async () => {
    const { status, body, text } = await invoke('test.crash')
    expect(status).toBe(200)
    expect(body.error?.code).toBe(-32603)
    expect(text).not.toMatch(/SELECT|gatehouse\.db|at /)
    const id = body.error?.data?.['correlation_id'] as string
    expect(kit.log.lines.some((line) => line.includes(id) && line.includes('SELECT'))).toBe(true)
    await goodCall()
  })

  test.each([
    ['capabilities.invoke', { capability: 'test.echo', approved: true }, 'approved'],
    ['capabilities.invoke', {}, 'capability'],
    ['capabilities.invoke', { capability: 7 }, 'capability'],
    ['capabilities.invoke', { capability: 'test.echo', arguments: [] }, 'arguments'],
    ['capabilities.list', { constructor: 1 }, 'constructor'],
    ['approvals.wait', { approval_id: 'a', timeout_seconds: 61 }, 'timeout_seconds'],
    ['session.create', { client: { name: 'x', version: '1', role: 'admin' } }, 'client.role'],
    ['session.end', {}, 'session_id'],
  ])('%s refuses %j and names the member', async (method, params, member) => {
    const { body } = await call(method, params)
    expect(body.error?.code).toBe(-32602)
    expect(body.error?.data?.['member']).toBe(member)
    await goodCall()
  })

  test('keep a session by header or by parameter until it is ended', async () => {
    const created = await call('session.create', { client: { name: 'cli', version: '1' } })
    const session_id = created.body.result?.['session_id'] as string
    expect(created.body.result).toMatchObject({ agent: 'alpha', session_id })
    expect((await kit.sessions('alpha')).at(-1)).toMatchObject({
      id: session_id,
      transport: 'rpc',
      client: { name: 'cli' },
    })
    const header = { 'Gatehouse-Session': session_id }
    for (const [params, headers] of [
      [{}, header],
      [{ session_id }, {}],
      [{ session_id }, header],
    ] as const) {
      const args = { capability: 'test.echo', arguments: { text: 'x' }, ...params }
      expect((await call('capabilities.invoke', args, headers)).body.error).toBeUndefined()
      expect(kit.ran.at(-1)?.session_id).toBe(session_id)
    }
    const both = await call('capabilities.list', { session_id: `sess-${'9'.repeat(26)}` }, header)
    expect(both.body.error?.data?.['member']).toBe('session_id')
    const ended = await call('session.end', { session_id })
    expect(ended.body.result).toMatchObject({ session_id })
    expect((await call('capabilities.list', {}, header)).body.error?.code).toBe(-32602)
    expect((await call('session.end', { session_id })).body.error?.code).toBe(-32602)
    await goodCall()
  })

  test('another agent cannot use a session', async () => {
    const created = await call('session.create')
    const session_id = created.body.result?.['session_id'] as string
    const foreign = await call(
      'capabilities.list',
      { session_id },
      {
        Authorization: `Bearer ${tokens.beta}`,
      },
    )
    expect(foreign.body.error?.code).toBe(-32602)
    expect((await call('capabilities.list', { session_id })).body.error).toBeUndefined()
  })

  test('look at approvals and events', async () => {
    const { approval_id } = await ask()
    const got = await call('approvals.get', { approval_id })
    expect(got.body.result).toMatchObject({ approval_id, status: 'pending' })
    const unknown = await call('approvals.get', { approval_id: 'appr-x' })
    expect(unknown.body.error).toMatchObject({ code: -32602, data: { type: 'ApprovalNotFound' } })
    const waited = await call('approvals.wait', { approval_id, timeout_seconds: 0 })
    expect(waited.body.result).toMatchObject({ approval_id, status: 'pending' })
    kit.emit('alpha', 'tools.changed')
    const events = await call('events.poll')
    expect(events.body.result).toMatchObject({
      events: [{ agent: 'alpha', type: 'tools.changed', data: {} }],
    })
  })

  test('stop waiting when the caller goes away', async () => {
    const { approval_id } = await ask()
    const used = kit.memory.used
    const gone = new AbortController()
    const waiting = fetch(`${kit.url}/rpc`, {
      method: 'POST',
      signal: gone.signal,
      headers: {
        Authorization: `Bearer ${tokens.alpha}`,
        'Content-Type': 'application/json',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'approvals.wait',
        params: { approval_id, timeout_seconds: 60 },
      }),
    }).catch((error: unknown) => error)
    await until(() => kit.memory.used > used)
    gone.abort()
    expect(await waiting).toMatchObject({ name: 'AbortError' })
    await until(() => kit.memory.used === used)
    await goodCall()
  })

  test('rpc.discover describes every method', async () => {
    const { body } = await call('rpc.discover')
    const { openrpc, methods } = body.result as { openrpc: string; methods: { name: string }[] }
    expect(openrpc).toMatch(/^1\./)
    expect(methods.map(({ name }) => name)).toEqual([
      'capabilities.list',
      'capabilities.describe',
      'capabilities.invoke',
      'session.create',
      'session.end',
      'approvals.get',
      'approvals.wait',
      'events.poll',
      'rpc.discover',
    ])
  })

  test('an answer that is too large says how to get it', async () => {
    await using small = await openKit({ limits: { resultBytesMax: 1000 } })
    const response = await fetch(`${small.url}/rpc`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${tokens.alpha}`,
        'Content-Type': 'application/json',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'capabilities.invoke',
        params: { capability: 'test.echo', arguments: { text: 'x'.repeat(2000) } },
      }),
    })
    expect(await response.json()).toMatchObject({
      result: { success: false, error: { type: 'ResultTooLarge' } },
    })
  })
})
