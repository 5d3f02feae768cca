import type { ServerResponse } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { get, never, openCanary, outboundWith, textOf } from '../../src/outbound/testing.ts'

const answering = async (answer: (response: ServerResponse) => void) => {
  const server = await openCanary('127.0.0.1', (_request, response) => answer(response))
  onTestFinished(() => server[Symbol.asyncDispose]())
  const outbound = outboundWith({ privateTargets: [`127.0.0.1:${server.port}`] })
  return {
    server,
    request: (change: object = {}, signal = never) =>
      outbound.request(get(server.url, change), signal),
  }
}

const encoded = (encoding: string, bytes: Buffer) =>
  answering((response) => {
    response.setHeader('content-encoding', encoding)
    response.end(bytes)
  })

const plain = Buffer.from('what was meant '.repeat(500))

test.each([
  ['gzip', gzipSync(plain)],
  ['GZIP', gzipSync(plain)],
  ['x-gzip', gzipSync(plain)],
  ['br', brotliCompressSync(plain)],
  ['deflate', deflateSync(plain)],
  ['deflate', deflateRawSync(plain)],
  ['identity', plain],
])('%s is decoded', async (encoding, bytes) => {
  const { request } = await encoded(encoding, bytes)
  await using response = await request()
  expect(await textOf(response.body)).toBe(plain.toString())
  if (encoding !== 'identity') expect(response.headers).not.toHaveProperty('content-encoding')
})

test.each([
  'gzip, gzip',
  'gzip,br',
  Array(10).fill('gzip').join(', '),
  'zstd',
  'compress',
  '__proto__',
])('an answer encoded as %s is refused', async (encoding) => {
  const { request } = await encoded(encoding, gzipSync(gzipSync(plain)))
  await expect(request()).rejects.toMatchObject({ type: 'ResponseRefused' })
})

test.each([
  ['gzip', Buffer.from('no gzip at all')],
  ['gzip', gzipSync(plain).subarray(0, 40)],
  ['br', Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff])],
  ['deflate', Buffer.from([0x78, 0x9c, 0xff, 0xff])],
])('%s that is none is refused as such', async (encoding, bytes) => {
  const { request } = await encoded(encoding, bytes)
  await using response = await request()
  await expect(textOf(response.body)).rejects.toMatchObject({ type: 'ResponseRefused' })
})

test('an empty answer is empty in any encoding', async () => {
  const { request } = await encoded('gzip', Buffer.alloc(0))
  await using response = await request()
  expect(await textOf(response.body)).toBe('')
})

test('a thousandfold of zeros ends at the cap, and little of it was ever in memory', async () => {
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
  expect(bomb.length).toBeLessThan(80_000)
  const { request } = await encoded('gzip', bomb)
  await using response = await request({ body_bytes_max: 1024 * 1024 })
  const before = process.memoryUsage().rss
  await expect(textOf(response.body)).rejects.toMatchObject({
    type: 'ResponseTooLarge',
    facts: { limit_bytes: 1024 * 1024 },
  })
  expect(process.memoryUsage().rss - before).toBeLessThan(48 * 1024 * 1024)
})

test('an answer that says it is too large is not begun', async () => {
  const { request } = await answering((response) => {
    response.setHeader('content-length', 1_000_000)
    response.write('a')
  })
  await expect(request({ body_bytes_max: 999_999 })).rejects.toMatchObject({
    type: 'ResponseTooLarge',
  })
})

test('an answer of just the size that is allowed is whole', async () => {
  const { request } = await answering((response) => response.end('12345'))
  await using response = await request({ body_bytes_max: 5 })
  expect(await textOf(response.body)).toBe('12345')
})

test.each([
  ['whole', (response: ServerResponse, bytes: Buffer) => response.end(bytes)],
  [
    'cut off',
    (response: ServerResponse, bytes: Buffer) =>
      response.write(bytes.subarray(0, 70_000), () => response.socket?.end()),
  ],
])('an answer that is %s before its reader begins harms nothing', async (what, send) => {
  const bytes = Buffer.alloc(300_000, 'x')
  const { server, request } = await answering((response) => {
    response.setHeader('connection', 'close')
    response.setHeader('content-length', bytes.length)
    send(response, bytes)
  })
  for (let times = 0; times < 20; times += 1) {
    await using response = await request()
    const chunks = response.body[Symbol.asyncIterator]()
    await chunks.next()
    await expect.poll(() => server.hits[times]?.socket.writableFinished).toBe(true)
    await new Promise((resolve) => setImmediate(resolve))
    const rest = textOf({ [Symbol.asyncIterator]: () => chunks })
    if (what === 'whole') expect((await rest).length).toBeGreaterThan(0)
    else await expect(rest).rejects.toMatchObject({ type: 'HostUnreachable' })
  }
  for (let times = 0; times < 20; times += 1) {
    await using response = await request({ body_bytes_max: 300_000 })
    expect(response.status).toBe(200)
  }
})

test('chunks without end stop where the reader stops', async () => {
  const { server, request } = await answering((response) => {
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(16_384)));
    }
    response.on('drain', more)
    more()
  })
  let closed = false
  server.hits.length = 0
  await using response = await request()
  server.hits[0]?.socket.once('close', () => {
    closed = true
  })
  let bytes = 0
  for await (const chunk of response.body) {
    bytes += chunk.length
    if (bytes > 1_000_000) break
  }
  await expect.poll(() => closed).toBe(true)
})

test('a byte now and then does not hold a request beyond its time', async () => {
  const { request } = await answering((response) => {
    const timer = setInterval(() => response.write('.'), 50)
    response.on('close', () => clearInterval(timer))
  })
  const read = async () => {
    await using response = await request({ timeout_ms: 400 })
    return await textOf(response.body)
  }
  await expect(read()).rejects.toMatchObject({
    type: 'TimedOut',
    facts: { timeout_seconds: 0.4 },
  })
})

test('nor does a server that takes the request and says nothing', async () => {
  const { request } = await answering(() => {})
  await expect(request({ timeout_ms: 200 })).rejects.toMatchObject({ type: 'TimedOut' })
})

test('a name that is never found does not hold a request beyond its time either', async () => {
  const outbound = outboundWith({}, { resolve: () => new Promise(() => {}) })
  await expect(
    outbound.request(get('http://a.example/', { timeout_ms: 200 }), never),
  ).rejects.toMatchObject({ type: 'TimedOut' })
  const stop = new AbortController()
  const looking = outbound.lookup('a.example', stop.signal)
  stop.abort(new Error('enough'))
  await expect(looking).rejects.toThrow('enough')
})

test('the caller ends it at any moment, with its own reason', async () => {
  const reason = new Error('enough')
  const { request } = await answering((response) => response.write('a'))
  const early = new AbortController()
  early.abort(reason)
  await expect(request({}, early.signal)).rejects.toBe(reason)
  const late = new AbortController()
  await using response = await request({}, late.signal)
  const reading = textOf(response.body)
  late.abort(reason)
  await expect(reading).rejects.toBe(reason)
})

const speaking = async (answer: (socket: Socket) => void) => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => answer(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const outbound = outboundWith({ privateTargets: [`127.0.0.1:${port}`] })
  return () => outbound.request(get(`http://127.0.0.1:${port}/`), never)
}

test.each([
  ['no HTTP at all', 'SSH-2.0-OpenSSH_9.6\r\n'],
  ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
  ['headers without end', `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(100_000)}\r\n\r\n`],
])('an answer with %s is refused', async (_what, text) => {
  const request = await speaking((socket) => socket.write(text))
  await expect(request()).rejects.toMatchObject({ type: 'ResponseRefused' })
})

test('an answer that breaks off reads like a host that went away', async () => {
  const request = await speaking((socket) =>
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc'),
  )
  await using response = await request()
  await expect(textOf(response.body)).rejects.toMatchObject({ type: 'HostUnreachable' })
})

test('repeated headers are told joined, in lower case', async () => {
  const { request } = await answering((response) => {
    response.setHeader('X-Many', ['a', 'b'])
    response.end()
  })
  await using response = await request()
  expect(response.headers['x-many']).toBe('a, b')
})

test.each([
  ['host', 'a.example'],
  ['Host', 'a.example'],
  ['connection', 'upgrade'],
  ['transfer-encoding', 'chunked'],
  ['content-length', '5'],
  ['proxy-authorization', 'Basic x'],
  ['te', 'trailers'],
  ['upgrade', 'websocket'],
  ['expect', '100-continue'],
  ['x-a', 'one\r\nhost: evil'],
  ['x-a', 'one\ntwo'],
  ['x-a', 'nul\0'],
  ['x-a', 'snow ☃'],
  ['x a', 'one'],
  ['x-a\r\nhost', 'one'],
  ['', 'one'],
  ['x-long', 'a'.repeat(40_000)],
])('the header %j: %j is refused before anything is dialled', async (name, value) => {
  const { server, request } = await answering((response) => response.end())
  const failure = await request({ headers: { [name]: value } }).catch((error: Error) => error)
  expect(failure).toMatchObject({ type: 'RequestNotAllowed' })
  if (value.length > 5) expect((failure as Error).message).not.toContain(value)
  expect(server.connections()).toBe(0)
})

test('other headers and the body arrive as they were given', async () => {
  const { server, request } = await answering((response) => response.end())
  await using _response = await request({
    method: 'put',
    headers: { 'X-One': 'a; b', 'user-agent': 'mine', 'x-latin': 'é' },
    body: Buffer.from('hello'),
  })
  expect(server.hits[0]).toMatchObject({
    method: 'PUT',
    headers: { 'x-one': 'a; b', 'user-agent': 'mine', 'content-length': '5' },
  })
})

test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
  '%s carries its body whole, or says that there is none',
  async (method) => {
    const { server, request } = await answering((response) => response.end())
    const told = () =>
      server.hits.map(({ headers }) => [headers['content-length'], headers['transfer-encoding']])
    await using _with = await request({ method, body: Buffer.from('hello') })
    await using _without = await request({ method })
    const none = method.startsWith('P') ? '0' : undefined
    expect(told()).toEqual([
      ['5', undefined],
      [none, undefined],
    ])
  },
)

test.each(['CONNECT', 'TRACE', 'GET / HTTP/1.1\r\nX: y', ''])(
  'the method %j is refused',
  async (method) => {
    const { server, request } = await answering((response) => response.end())
    await expect(request({ method })).rejects.toMatchObject({ type: 'RequestNotAllowed' })
    expect(server.connections()).toBe(0)
  },
)

test('no connection outlives its request, and none is shared', async () => {
  const { server, request } = await answering((response) => response.end('a'))
  for (let count = 1; count <= 3; count += 1) {
    await using response = await request()
    await textOf(response.body)
    expect(server.connections()).toBe(count)
  }
  await expect.poll(() => server.hits.every(({ socket }) => socket.destroyed)).toBe(true)
})
