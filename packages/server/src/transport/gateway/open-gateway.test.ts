import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { GatehouseError } from '@gatehouse/contract'
import { until } from '@gatehouse/testkit/until'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GatewayKit, openKit, tokens } from '../../../test/kit/gateway-kit.ts'
import { MemoryBudget } from '../../app/call/memory-budget.ts'

let kit: GatewayKit
beforeAll(async () => {
  kit = await openKit({
    allowedHosts: ['gate.example.com'],
    allowedOrigins: ['https://dash.example.com:7800'],
  })
})
afterAll(() => kit.close(0))

const bearer = `Authorization: Bearer ${tokens.alpha}`
const body = '{"jsonrpc":"2.0","id":1,"method":"capabilities.list"}'

type Raw = { status: number; headers: string; body: string; closed: boolean }

/** Sends bytes as they are and reads one answer. */
const raw = (bytes: string | Buffer, port = kit.port): Promise<Raw> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    let done = false
    const finish = (closed: boolean): void => {
      if (done) return
      const split = text.indexOf('\r\n\r\n')
      const headers = text.slice(0, split)
      // An answer to HEAD tells a length and has no body.
      const told = Number(/content-length: (\d+)/i.exec(headers)?.[1] ?? 0)
      const length = String(bytes).startsWith('HEAD') ? 0 : told
      const rest = text.slice(split + 4)
      if (!closed && (split === -1 || rest.length < length)) return
      if (!closed && /connection: close/i.test(headers)) return
      done = true
      socket.destroy()
      resolve({ status: Number(text.slice(9, 12)), headers, body: rest, closed })
    }
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      finish(false)
    })
    socket.on('close', () => finish(true))
    socket.on('error', (error) => (text === '' ? reject(error) : undefined))
    socket.write(bytes)
  })

const request = (lines: readonly string[], payload = body, path = '/rpc', method = 'POST') =>
  [
    `${method} ${path} HTTP/1.1`,
    ...lines,
    ...(method === 'POST' ? [`Content-Length: ${Buffer.byteLength(payload)}`] : []),
    '',
    method === 'POST' ? payload : '',
  ].join('\r\n')

const json = 'Content-Type: application/json'
const honest = ['Host: localhost', bearer, json]

const errorOf = (answer: Raw) =>
  (JSON.parse(answer.body) as { error: { code: number; message: string } }).error

describe('the order of the front', () => {
  test.each([
    ['localhost'],
    ['localhost:7700'],
    ['LOCALHOST.'],
    ['gatehouse.localhost'],
    ['127.0.0.1:7700'],
    ['[::1]:7700'],
    ['gate.example.com'],
  ])('answers under the host %s', async (host) => {
    expect((await raw(request([`Host: ${host}`, bearer, json]))).status).toBe(200)
  })

  test.each([
    ['evil.example:7700'],
    ['localhost.evil.example'],
    ['127.0.0.1.evil'],
    ['a@localhost'],
  ])('refuses the host %s with 421, and executes nothing', async (host) => {
    const before = (await kit.kit.audit()).length
    const answer = await raw(request([`Host: ${host}`, bearer, json]))
    expect(answer.status).toBe(421)
    expect(errorOf(answer).code).toBe(-32600)
    expect(await kit.kit.audit()).toHaveLength(before)
  })

  test.each([
    ['no Host', [bearer, json]],
    ['two Hosts', ['Host: localhost', 'Host: localhost', bearer, json]],
    ['two Content-Types', ['Host: localhost', bearer, json, 'content-type: text/plain']],
    ['two Authorizations', ['Host: localhost', bearer, 'authorization: Bearer x', json]],
    ['two Origins', [...honest, 'Origin: https://dash.example.com:7800', 'Origin: null']],
  ])('refuses %s with 400', async (_name, lines) => {
    expect((await raw(request(lines))).status).toBe(400)
  })

  test('refuses more than 128 headers with 431 and takes 128', async () => {
    const more = (n: number) => Array.from({ length: n }, (_, i) => `x-${i}: 1`)
    expect((await raw(request([...honest, ...more(125)]))).status).toBe(431)
    expect((await raw(request([...honest, ...more(124)]))).status).toBe(200)
  })

  test.each([['https://evil.example'], ['null'], ['http://localhost:9999'], ['']])(
    'refuses the origin %j with 403 and no CORS header',
    async (origin) => {
      const answer = await raw(request([...honest, `Origin: ${origin}`]))
      expect(answer.status).toBe(403)
      expect(answer.headers).not.toMatch(/access-control/i)
    },
  )

  test('takes the origin that is allowed', async () => {
    const answer = await raw(request([...honest, 'Origin: https://dash.example.com:7800']))
    expect(answer.status).toBe(200)
  })

  test('looks at the host before the origin, and at both before the token', async () => {
    const foreign = ['Host: evil.example', 'Origin: https://evil.example', json]
    expect((await raw(request(foreign))).status).toBe(421)
    const origin = ['Host: localhost', 'Origin: https://evil.example', json]
    expect((await raw(request(origin))).status).toBe(403)
    expect((await raw(request(['Host: localhost']))).status).toBe(401)
  })

  test.each([['GET'], ['PUT'], ['HEAD'], ['OPTIONS'], ['DELETE']])(
    '/rpc refuses %s with 405 and says what it takes',
    async (method) => {
      const answer = await raw(request(honest, '', '/rpc', method))
      expect(answer.status).toBe(405)
      expect(answer.headers).toMatch(/\r\nAllow: POST/)
      expect(answer.headers).not.toMatch(/access-control/i)
    },
  )

  test.each([
    ['/.well-known/oauth-protected-resource'],
    ['/.well-known/oauth-authorization-server/mcp'],
    ['/x'],
    ['/rpc/'],
    ['//rpc'],
    ['/x/../rpc'],
    ['/%2e/rpc'],
    ['/rpc/%2e%2e/mcp'],
    ['/\\rpc'],
  ])('has nothing at %s', async (path) => {
    expect((await raw(request(['Host: localhost'], '', path, 'GET'))).status).toBe(404)
  })

  test('is not ready while a part that calls need is not well, and alive all the same', async () => {
    await using fresh = await openKit()
    const { app } = fresh.kit
    const ask = (path: string) => raw(request(['Host: localhost'], '', path, 'GET'), fresh.port)
    app.listeners.expect('gateway')
    expect([(await ask('/readyz')).status, (await ask('/healthz')).status]).toEqual([503, 200])
    app.listeners.ready()
    await app.lockVault(fresh.kit.operator())
    expect(app.readiness()).toBe('degraded')
    expect((await ask('/readyz')).status).toBe(200)
  })

  test.each([['/healthz'], ['/readyz']])('%s answers without a token', async (path) => {
    const answer = await raw(request(['Host: localhost'], '', path, 'GET'))
    expect(answer.status).toBe(200)
    expect(JSON.parse(answer.body)).toEqual({ status: 'ok' })
  })
})

describe('tokens', () => {
  test.each([
    ['none', ''],
    ['63 digits', `Authorization: Bearer ${'a'.repeat(63)}`],
    ['65 digits', `Authorization: Bearer ${'a'.repeat(65)}`],
    ['uppercase', `Authorization: Bearer ${tokens.alpha.toUpperCase()}`],
    ['padded', `Authorization: Bearer  ${tokens.alpha}`],
    ['Basic', `Authorization: Basic ${tokens.alpha}`],
    ['no scheme', `Authorization: ${tokens.alpha}`],
    ['in a cookie', `Cookie: token=${tokens.alpha}`],
    ['a user token', 'Authorization: Bearer gatehouse_user_abc'],
    ['undefined', 'Authorization: Bearer undefined'],
  ])('%s: 401 with a challenge', async (_name, line) => {
    await using fresh = await openKit()
    const answer = await raw(request(['Host: localhost', line, json].filter(Boolean)), fresh.port)
    expect(answer.status).toBe(401)
    expect(answer.headers).toMatch(/\r\nWWW-Authenticate: Bearer/)
    expect(errorOf(answer).code).toBe(-32003)
  })

  test('the reserved form says that it is reserved', async () => {
    const line = 'Authorization: Bearer gatehouse_agent_abc'
    const answer = await raw(request(['Host: localhost', line, json]))
    expect(answer.status).toBe(401)
    expect(errorOf(answer).message).toMatch(/reserved/)
  })

  test('a token in the address opens nothing on /rpc', async () => {
    const path = `/rpc?token=${tokens.alpha}`
    expect((await raw(request(['Host: localhost', json], body, path))).status).toBe(401)
  })

  test('many wrong tokens: 429, while a valid one from the same address passes', async () => {
    const reports: unknown[] = []
    await using fresh = await openKit({ onTokenFailures: (report) => reports.push(report) })
    const wrong = request(['Host: localhost', `Authorization: Bearer ${'f'.repeat(64)}`, json])
    const statuses: number[] = []
    for (let i = 0; i < 62; i++) statuses.push((await raw(wrong, fresh.port)).status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(60)
    expect(statuses.slice(60)).toEqual([429, 429])
    expect((await raw(request(honest), fresh.port)).status).toBe(200)
    expect(reports).toEqual([{ address: '127.0.0.1', count: 1 }])
  })
})

describe('bodies', () => {
  test.each([
    ['no type', []],
    ['text/plain', ['Content-Type: text/plain']],
    ['a form', ['Content-Type: application/x-www-form-urlencoded']],
    ['a look-alike', ['Content-Type: application/jsonp']],
    ['gzip', [json, 'Content-Encoding: gzip']],
  ])('%s: 415', async (_name, lines) => {
    expect((await raw(request(['Host: localhost', bearer, ...lines]))).status).toBe(415)
  })

  test.each([['application/json; charset=utf-8'], ['Application/JSON'], ['application/json ;x=y']])(
    'the type %s is JSON',
    async (type) => {
      const answer = await raw(request(['Host: localhost', bearer, `Content-Type: ${type}`]))
      expect(answer.status).toBe(200)
    },
  )

  test('one byte over the limit is refused whole, the limit itself is not', async () => {
    await using small = await openKit({ limits: { bodyBytesMax: 200 } })
    const call = (length: number) => {
      const text = `{"jsonrpc":"2.0","id":1,"method":"capabilities.invoke","params":{"capability":"test.echo","arguments":{"text":"`
      return `${text}${'x'.repeat(length - text.length - 4)}"}}}`
    }
    const over = await raw(request(honest, call(201)), small.port)
    expect(over.status).toBe(413)
    expect(over.closed).toBe(true)
    const chunk = call(201)
    const chunked = `POST /rpc HTTP/1.1\r\n${honest.join('\r\n')}\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.length.toString(16)}\r\n${chunk}\r\n0\r\n\r\n`
    expect((await raw(chunked, small.port)).status).toBe(413)
    expect(small.ran).toHaveLength(0)
    expect((await raw(request(honest, call(200)), small.port)).status).toBe(200)
    expect(small.ran).toHaveLength(1)
  })

  test('an unauthenticated body is not read: the answer comes before it', async () => {
    const head = `POST /rpc HTTP/1.1\r\nHost: localhost\r\n${json}\r\nContent-Length: 50000000\r\n\r\n`
    const answer = await raw(head)
    expect(answer.status).toBe(401)
    expect(answer.closed).toBe(true)
  })

  test('a declared length over the limit is refused before the body', async () => {
    const head = `POST /rpc HTTP/1.1\r\n${honest.join('\r\n')}\r\nContent-Length: 50000000\r\n\r\n`
    expect((await raw(head)).status).toBe(413)
  })

  test('bodies that hold too much at once: 503 before they are read, others are served', async () => {
    const memory = new MemoryBudget({ heldBytesMax: 100_000, heldBytesPerAgentMax: 40_000 })
    await using small = await openKit({ memory })
    const call = (capability: string, text: string) =>
      JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'capabilities.invoke',
        params: { capability, arguments: { text } },
      })
    const other = ['Host: localhost', `Authorization: Bearer ${tokens.beta}`, json]
    const waiting = raw(request(honest, call('test.wait', 'x'.repeat(6_000))), small.port)
    await until(() => small.waiting.length === 1)
    const head = `POST /rpc HTTP/1.1\r\n${honest.join('\r\n')}\r\nContent-Length: 2000\r\n\r\n`
    const refused = await raw(head, small.port)
    expect(refused.status).toBe(503)
    expect(refused.headers).toMatch(/\r\nRetry-After: 1/)
    expect(JSON.parse(refused.body)).toMatchObject({
      error: {
        code: -32000,
        data: { retry_after_seconds: 1, limit: 40_000, unit: 'bytes', window: 'at once' },
      },
    })
    const piece = `7d0\r\n${'x'.repeat(2_000)}\r\n`
    const chunked = `POST /rpc HTTP/1.1\r\n${honest.join('\r\n')}\r\nTransfer-Encoding: chunked\r\n\r\n${piece}`
    expect((await raw(chunked, small.port)).status).toBe(503)
    for (let i = 0; i < 30; i++)
      expect((await raw(request(other, call('test.echo', 'hello')), small.port)).status).toBe(200)
    small.waiting[0]?.fail(new GatehouseError('FileNotFound', { path: '/x' }))
    expect((await waiting).status).toBe(200)
    const again = request(honest, call('test.echo', 'x'.repeat(2_000)))
    expect((await raw(again, small.port)).status).toBe(200)
  })

  test('a client that asks first is told to go on only when its token is right', async () => {
    const lines = ['Expect: 100-continue', `Content-Length: ${body.length}`]
    const ask = (auth: string) =>
      `POST /rpc HTTP/1.1\r\n${['Host: localhost', auth, json, ...lines].join('\r\n')}\r\n\r\n`
    expect((await raw(ask('Authorization: Bearer nope'))).status).toBe(401)
    const response = await raw(ask(bearer) + body)
    expect(response.headers.startsWith('HTTP/1.1 100')).toBe(true)
  })

  test.each([
    [
      'Content-Length and Transfer-Encoding',
      `POST /rpc HTTP/1.1\r\n${honest.join('\r\n')}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    [
      'two Content-Lengths',
      `POST /rpc HTTP/1.1\r\n${honest.join('\r\n')}\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello`,
    ],
    [
      'an unknown Transfer-Encoding',
      `POST /rpc HTTP/1.1\r\n${honest.join('\r\n')}\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
    ],
    ['garbage', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
  ])('%s: 400 and closed', async (_name, bytes) => {
    const answer = await raw(bytes)
    expect(answer.status).toBe(400)
    expect(answer.closed).toBe(true)
    expect((await raw(request(honest))).status).toBe(200)
  })
})

describe('sockets', () => {
  test('an offer to go on in HTTP/2 is ignored, and the request behind it served', async () => {
    await using fresh = await openKit()
    const offer = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAE']
    const answer = await raw(request([...honest, ...offer]), fresh.port)
    expect(answer.status).toBe(200)
    expect(answer.body).toMatch(/test\.echo/)
    expect((await raw(request(['Host: evil', bearer, json, ...offer]), fresh.port)).status).toBe(
      421,
    )
    await until(() => fresh.connections() === 0)
  })

  test('when too many have sent no headers the oldest is closed, and honest ones are served', async () => {
    await using small = await openKit({ limits: { headlessSocketsMax: 4 } })
    const closed: number[] = []
    const idle: Socket[] = []
    for (let i = 0; i < 6; i++) {
      const socket = connect(small.port, '127.0.0.1')
      idle.push(socket)
      socket.on('close', () => closed.push(i))
      await new Promise((resolve) => socket.once('connect', resolve))
      await until(() => small.connections() + closed.length > i)
    }
    await until(() => closed.length >= 2)
    expect(closed.toSorted((a, b) => a - b)).toEqual([0, 1])
    expect((await raw(request(honest), small.port)).status).toBe(200)
    for (const socket of idle) socket.destroy()
  })

  test('a connection that closes ends all calls of its pipeline, and their memory is free', async () => {
    await using small = await openKit()
    const payload = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'capabilities.invoke',
      params: { capability: 'test.wait' },
    })
    const socket = connect(small.port, '127.0.0.1')
    socket.write(request(honest, payload).repeat(12))
    await until(() => small.waiting.length === 12)
    expect(small.memory.used).toBeGreaterThan(0)
    socket.destroy()
    await until(() => small.waiting.every(({ signal }) => signal.aborted))
    await until(() => small.memory.used === 0)
    expect((await raw(request(honest), small.port)).status).toBe(200)
  })

  test('of a loop that is always late, as on a busy machine, only calls beyond a number are refused', async () => {
    const late = { loopLagMs: -1_000, shedAfterMs: 0, sweepEveryMs: 5 }
    await using busy = await openKit({ limits: { ...late, shedFromCalls: 2 } })
    const payload = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'capabilities.invoke',
      params: { capability: 'test.wait' },
    })
    const send = () => raw(request(honest, payload), busy.port)
    const open: Promise<Raw>[] = []
    for (const count of [1, 2]) {
      open.push(send())
      await until(() => busy.waiting.length === count)
    }
    const refused = { status: 503, body: expect.stringContaining('takes no new calls') as string }
    await expect.poll(() => raw(request(honest), busy.port)).toMatchObject(refused)
    const upgrade = ['Host: localhost', bearer, 'Connection: Upgrade', 'Upgrade: websocket']
    const key = ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==']
    const socket = request([...upgrade, ...key], '', '/mcp', 'GET')
    expect(await raw(socket, busy.port)).toMatchObject(refused)
    busy.waiting[0]?.finish()
    expect((await open[0])?.status).toBe(200)
    expect((await raw(request(honest), busy.port)).status).toBe(200)
    busy.waiting[1]?.finish()
    expect((await open[1])?.status).toBe(200)
  })

  test('closing lets a call in flight finish, and refuses new ones', async () => {
    const stopping = await openKit()
    const call = { capability: 'test.wait' }
    const inFlight = raw(
      request(
        honest,
        JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'capabilities.invoke', params: call }),
      ),
      stopping.port,
    )
    await until(() => stopping.waiting.length === 1)
    const closing = stopping.close(60_000)
    await expect(raw(request(honest), stopping.port)).rejects.toThrow(/ECONNREFUSED/)
    stopping.waiting[0]?.fail(new GatehouseError('FileNotFound', { path: '/x' }))
    expect((await inFlight).status).toBe(200)
    await closing
  })

  test('closing waits for no connection on which nothing was said', async () => {
    const stopping = await openKit()
    const silent = connect(stopping.port, '127.0.0.1')
    await once(silent, 'connect')
    // Answered behind it, so the server has seen the silent one.
    expect((await raw(request(honest), stopping.port)).status).toBe(200)
    // Longer than the time of the test.
    await stopping.close(600_000)
    silent.destroy()
  })

  test('what does not finish within the grace is cancelled and answered', async () => {
    const stopping = await openKit()
    const inFlight = raw(
      request(
        honest,
        '{"jsonrpc":"2.0","id":1,"method":"capabilities.invoke","params":{"capability":"test.wait"}}',
      ),
      stopping.port,
    )
    await until(() => stopping.waiting.length === 1)
    await stopping.close(10)
    expect((await inFlight).body).toMatch(/Cancelled/)
  })
})
