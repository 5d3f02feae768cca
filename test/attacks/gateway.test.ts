import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { invoke, rpc } from '../support/server.ts'
import { call, raw, request, Siege } from './harness.ts'

let siege: Siege
const bearer = () => ({ Authorization: `Bearer ${siege.alpha.token}` })
const time = call('system.time', {})
type Rpc = {
  readonly error?: {
    readonly code: number
    readonly message: string
    readonly data?: Record<string, unknown>
  }
  readonly result?: unknown
}
const post = async (body: string | Buffer, headers: Record<string, string> = {}) => {
  const answer = await raw(siege.run, request({ ...bearer(), ...headers }, body))
  return {
    ...answer,
    json: (answer.body.startsWith('{') || answer.body.startsWith('[')
      ? JSON.parse(answer.body)
      : null) as Rpc | null,
  }
}

beforeAll(async () => {
  siege = await Siege.begin()
})
afterEach(() => siege.unharmed())
afterAll(() => siege.endAndClose())

describe('HTTP', () => {
  test('H01 no Host, two Hosts, two content types: 400', async () => {
    const lines = (extra: string) =>
      `POST /rpc HTTP/1.1\r\nAuthorization: Bearer ${siege.alpha.token}\r\n${extra}Content-Length: ${time.length}\r\n\r\n${time}`
    const json = 'Content-Type: application/json\r\n'
    for (const extra of [
      json,
      `Host: localhost\r\nHost: localhost\r\n${json}`,
      `Host: localhost\r\n${json}${json}`,
    ])
      expect((await raw(siege.run, lines(extra))).status).toBe(400)
  })

  test('H02 a foreign Host is refused with a valid token, local names pass', async () => {
    const { port } = new URL(siege.run.gateway_url)
    for (const host of ['evil.example', `evil.example:${port}`, 'localhost.evil.example'])
      expect((await post(time, { Host: host })).status).toBe(421)
    for (const host of [
      'localhost',
      `localhost:${port}`,
      'gatehouse.localhost',
      '127.0.0.1',
      `[::1]:${port}`,
    ])
      expect((await post(time, { Host: host })).status).toBe(200)
  })

  test('H03 foreign, null and other-port Origins are refused without CORS headers', async () => {
    for (const origin of ['https://evil.example', 'null', 'http://localhost:1']) {
      const answer = await post(time, { Origin: origin })
      expect(answer.status).toBe(403)
      expect(answer.head.toLowerCase()).not.toContain('access-control-')
    }
  })

  test('H04 JSON under another type is 415, odd spellings of the right one pass', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', ''])
      expect((await post(time, { 'Content-Type': type })).status).toBe(415)
    expect((await post(time, { 'Content-Type': 'Application/JSON; charset=UTF-8' })).status).toBe(
      200,
    )
  })

  test('H05 a large body without a token is refused before it is read', async () => {
    const head = `POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 52428800\r\n\r\n`
    const answers = await Promise.all(Array.from({ length: 50 }, () => raw(siege.run, head)))
    for (const { status } of answers) expect([401, 429]).toContain(status)
  })

  test('H06 one byte over the limit runs nothing of a batch', async () => {
    const harmless = call('filesystem.write', { path: 'h06.txt', content: 'x' })
    const filler = ' '.repeat(10 * 1024 * 1024 + 1 - harmless.length - 2)
    const answer = await post(`[${harmless}${filler}]`)
    expect(answer.status).toBe(413)
    expect(existsSync(join(siege.alpha.workspace, 'h06.txt'))).toBe(false)
  })

  test('H07 contradictory lengths are 400 and poison nothing', async () => {
    const base = `POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer ${siege.alpha.token}\r\n`
    for (const lengths of [
      'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n',
      'Content-Length: 4\r\nContent-Length: 5\r\n',
      'Transfer-Encoding: xchunked\r\n',
    ])
      expect([400, 501]).toContain((await raw(siege.run, `${base}${lengths}\r\n0\r\n\r\n`)).status)
  })

  test('H08 an encoded body is 415', async () => {
    expect(
      (await post(gzipSync(Buffer.alloc(10_000_000)), { 'Content-Encoding': 'gzip' })).status,
    ).toBe(415)
  })
})

describe('JSON', () => {
  const refused: [string, string, number][] = [
    [
      'J01 nested 10,000 deep',
      call('system.time', {}).replace('{}', `${'['.repeat(10_000)}${']'.repeat(10_000)}`),
      -32600,
    ],
    [
      'J02 a key twice',
      '{"jsonrpc":"2.0","id":1,"method":"capabilities.invoke","params":{"capability":"filesystem.read","capability":"process.run","arguments":{}}}',
      -32600,
    ],
    [
      'J03 a __proto__ key',
      '{"jsonrpc":"2.0","id":1,"method":"capabilities.invoke","params":{"capability":"system.time","arguments":{"__proto__":{"x":1}}}}',
      -32600,
    ],
    [
      'J04 words about approval beside the arguments',
      '{"jsonrpc":"2.0","id":1,"method":"capabilities.invoke","params":{"capability":"system.time","arguments":{},"approved":true}}',
      -32602,
    ],
    [
      'J05 a number beyond what JSON can carry',
      '{"jsonrpc":"2.0","id":1,"method":"capabilities.list","params":{"n":1e400}}',
      -32600,
    ],
    [
      'J05 an integer that would change',
      '{"jsonrpc":"2.0","id":9007199254740993,"method":"capabilities.list"}',
      -32600,
    ],
    [
      'J06 an id that is an object',
      '{"jsonrpc":"2.0","id":{},"method":"capabilities.list"}',
      -32600,
    ],
    ['J07 an empty batch', '[]', -32600],
    ['J07 a batch of 101', `[${Array.from({ length: 101 }, () => time).join(',')}]`, -32600],
    ['J09 a method from the prototype', '{"jsonrpc":"2.0","id":1,"method":"constructor"}', -32601],
    ['J09 a capability from the prototype', call('__proto__', {}), -32602],
    [
      'a lone surrogate',
      '{"jsonrpc":"2.0","id":1,"method":"capabilities.list","params":{"category":"\\ud800"}}',
      -32600,
    ],
    ['two documents', `${time}${time}`, -32700],
    ['nothing', '', -32700],
  ]
  test.each(refused)('%s', async (_name, body, code) => {
    const { json } = await post(body)
    expect(json?.error?.code).toBe(code)
  })

  test.each([['1e400'], ['9007199254740993'], ['"\\ud800"']])(
    'J05 %s in an argument fails the call, not the request',
    async (value) => {
      const { json } = await post(
        `{"jsonrpc":"2.0","id":1,"method":"capabilities.invoke","params":{"capability":"system.time","arguments":{"n":${value}}}}`,
      )
      expect(json).toMatchObject({
        id: 1,
        result: { success: false, error: { type: 'InvalidArguments' } },
      })
    },
  )

  test('J03 constructor keys are arguments like any other, and pollute nothing', async () => {
    const { json } = await post(
      '{"jsonrpc":"2.0","id":1,"method":"capabilities.invoke","params":{"capability":"system.time","arguments":{"constructor":{"prototype":{"x":1}}}}}',
    )
    expect(json?.result).toMatchObject({ success: false, error: { type: 'InvalidArguments' } })
    expect(({} as { x?: number }).x).toBeUndefined()
  })

  test('J04 words about tier and approval inside the arguments decide nothing', async () => {
    writeFileSync(join(siege.alpha.workspace, 'j04.txt'), 'x')
    const lies = {
      approved: true,
      approval_id: 'x',
      tier: 'autonomous',
      agent: 'admin',
      _internal: {},
    }
    const lied = await invoke(siege.run, siege.alpha.token, 'filesystem.delete', {
      path: 'j04.txt',
      ...lies,
    })
    expect(lied.result).toMatchObject({ success: false, error: { type: 'InvalidArguments' } })
    expect(existsSync(join(siege.alpha.workspace, 'j04.txt'))).toBe(true)
  })

  test('J08 a call without an id meets the same decision, silently, and is on record', async () => {
    const notification = (capability: string, args: object) =>
      JSON.stringify({
        jsonrpc: '2.0',
        method: 'capabilities.invoke',
        params: { capability, arguments: args },
      })
    expect(
      (await post(notification('filesystem.write', { path: 'j08.txt', content: 'x' }))).status,
    ).toBe(204)
    expect(existsSync(join(siege.alpha.workspace, 'j08.txt'))).toBe(true)
    expect(
      (await post(notification('filesystem.move', { source: 'j08.txt', destination: 'b' }))).status,
    ).toBe(204)
    expect(existsSync(join(siege.alpha.workspace, 'b'))).toBe(false)
    const denied = await siege.gate.json<{ entries: unknown[] }>([
      'audit',
      'query',
      '--capability',
      'filesystem.move',
      '--result',
      'denied',
    ])
    expect(denied.entries.length).toBeGreaterThan(0)
  })

  test('J11 ten bodies of ten megabytes of numbers at once are refused, and others are served meanwhile', async () => {
    const body = `[${'1,'.repeat(5_000_000)}1]`
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(body)))
    for (const { json, status } of answers)
      expect(json?.error?.code, String(status)).toBe(status === 503 ? -32000 : -32600)
  })
})

describe('tokens', () => {
  test('T01 wrong tokens are 401, then 429, and a valid one always passes', async () => {
    const statuses = new Set<number>()
    for (let i = 0; i < 120; i += 1) {
      const wrong = i.toString(16).padStart(64, '0')
      statuses.add(
        (await raw(siege.run, request({ Authorization: `Bearer ${wrong}` }, time))).status,
      )
    }
    expect(statuses).toEqual(new Set([401, 429]))
    expect((await post(time)).status).toBe(200)
  })

  test.each([
    ['63 digits', (token: string) => token.slice(1)],
    ['65 digits', (token: string) => `${token}0`],
    ['capitals', (token: string) => token.toUpperCase()],
    ['nothing', () => ''],
    ['undefined', () => 'undefined'],
    ['null', () => 'null'],
  ])('T02 a token of %s is refused', async (_name, spoil) => {
    const { status } = await raw(
      siege.run,
      request({ Authorization: `Bearer ${spoil(siege.alpha.token)}` }, time),
    )
    expect([401, 429]).toContain(status)
  })

  test('T02 the reserved form says so', async () => {
    const { status, body } = await raw(
      siege.run,
      request({ Authorization: 'Bearer gatehouse_agent_x' }, time),
    )
    expect([401, 429]).toContain(status)
    if (status === 401) expect(body).toContain('reserved')
  })

  test('T04 a user token is nobody at the gate, an agent token nobody at the User API', async () => {
    const { token } = await siege.gate.json<{ token: string }>([
      'user-token',
      'create',
      '--label',
      't04',
      '--role',
      'viewer',
    ])
    const answer = await rpc(siege.run, token, 'capabilities.list')
    expect(answer.error?.code).toBe(-32003)
    const asAgent = await fetch(`${siege.run.user_api_url}/api/status`, { headers: bearer() })
    expect(asAgent.status).toBe(401)
    const asUser = await fetch(`${siege.run.user_api_url}/api/status`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(asUser.status).toBe(200)
  })

  test('T06 T07 what a client says of itself or its address decides nothing', async () => {
    const { json } = await post(call('filesystem.move', { source: 'a', destination: 'b' }), {
      'X-Forwarded-For': '127.0.0.1',
      'X-Role': 'operator',
      'Tailscale-User-Login': 'root@example.com',
    })
    expect(json?.error?.code).toBe(-32001)
  })

  test('A05 an agent cannot decide its own request', async () => {
    writeFileSync(join(siege.alpha.workspace, 'a05.txt'), 'x')
    const held = await invoke(siege.run, siege.alpha.token, 'filesystem.delete', {
      path: 'a05.txt',
    })
    const id = String(held.error?.data?.['approval_id'])
    const answer = await fetch(`${siege.run.user_api_url}/api/approvals/${id}/approve`, {
      method: 'POST',
      headers: { ...bearer(), 'content-type': 'application/json' },
      body: '{}',
    })
    expect(answer.status).toBe(401)
    const other = await rpc(siege.run, siege.beta.token, 'approvals.get', { approval_id: id })
    expect(other.error?.code).toBe(-32602)
    expect(existsSync(join(siege.alpha.workspace, 'a05.txt'))).toBe(true)
  })
})
