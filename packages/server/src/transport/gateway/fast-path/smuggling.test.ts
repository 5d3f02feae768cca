import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { until } from '@gatehouse/testkit/until'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GatewayKit, openKit, tokens } from '../../../../test/kit/gateway-kit.ts'
import { readPlainPost } from './read-plain-post.ts'

let kit: GatewayKit
beforeAll(async () => {
  // Both ways count the same failures of tokens, so none may reach the limit between the two; nor may half of a head be late.
  const late = { headersTimeoutMs: 120_000, requestTimeoutMs: 180_000 }
  kit = await openKit({
    limits: { bodyBytesMax: 4_000, tokenFailuresPerMinute: 1_000_000, ...late },
  })
  await kit.crowd()
})
afterAll(() => kit.close(0))

const invoke = (id: string, capability = 'test.echo', text = 'hello'): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id,
    method: 'capabilities.invoke',
    params: { capability, arguments: { text } },
  })

const honest = [
  'Host: localhost',
  `Authorization: Bearer ${tokens.alpha}`,
  'Content-Type: application/json',
]
const plainBody = invoke('first')
const ofLength = (body: string): string => `Content-Length: ${Buffer.byteLength(body)}`

/** A request of these lines as they are: one that lies about its length is written as easily. */
const post = (
  lines: readonly string[],
  body: string,
  { line = 'POST /rpc HTTP/1.1', end = '\r\n' } = {},
): Buffer => Buffer.from([line, ...lines, '', body].join(end))

/** An honest request, but for these lines beside the usual ones. */
const withLines = (...lines: string[]): Buffer =>
  post([...honest, ...lines, ofLength(plainBody)], plainBody)
const withBody = (body: string): Buffer => post([...honest, ofLength(body)], body)
const withLine = (line: string): Buffer =>
  post([...honest, ofLength(plainBody)], plainBody, { line })
/** Of the agent that has begun as many calls as it may. */
const asCrowded = (body: string): Buffer =>
  post(
    [...without('Authorization'), `Authorization: Bearer ${tokens.crowded}`, ofLength(body)],
    body,
  )
/** An honest request, but for how it declares its length. */
const declaring = (body: string, ...lines: string[]): Buffer => post([...honest, ...lines], body)
const without = (name: string): string[] => honest.filter((line) => !line.startsWith(name))

const chunked = (body: string): string => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
const plain = withLines()
const next = withBody(invoke('next'))
const health = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'

type Way = 'fast path' | 'node:http'
type Heard = { readonly text: string; readonly closed: boolean }

const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await new Promise<void>((resolve) => setImmediate(resolve))
}

/**
 * What a peer hears that sends these chunks and then another request, whole. Client and gateway share the
 * loop, so that turns of it measure progress while no call waits for something else. Behind a request that is not plain a connection is Node's.
 */
const hear = async (way: Way, chunks: readonly Buffer[]): Promise<Heard> => {
  const socket = connect({ port: kit.port, host: '127.0.0.1', noDelay: true })
  let [text, closed] = ['', false]
  socket.on('data', (chunk) => (text += chunk.toString('latin1')))
  socket.on('error', () => undefined)
  socket.on('close', () => (closed = true))
  await once(socket, 'connect')
  if (way === 'node:http') {
    socket.write(health)
    await until(() => text.endsWith('"}'))
    text = ''
  }
  for (const chunk of chunks) {
    socket.write(chunk)
    await turns(3)
  }
  socket.write(next)
  for (let quiet = 0; quiet < 40 && !closed && !text.includes('"id":"next"'); quiet++) {
    await turns(1)
    if (kit.underWay() > 0) quiet = 0
  }
  const closedFirst = closed
  socket.end()
  await until(() => closed)
  const known = text
    .replaceAll(
      /\r\nDate: [A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT\r\n/g,
      '\r\nDate: now\r\n',
    )
    .replaceAll(/req-\d+/g, 'req-n')
  return { text: known, closed: closedFirst }
}

const expectSame = async (chunks: readonly Buffer[]): Promise<Heard> => {
  const byNode = await hear('node:http', chunks)
  const fast = await hear('fast path', chunks)
  expect(fast, JSON.stringify(Buffer.concat(chunks).toString('latin1'))).toEqual(byNode)
  return fast
}

/** What is answered by the fast path, with the status. */
const plainRequests: [name: string, bytes: Buffer, status: number][] = [
  ['a call', plain, 200],
  [
    'names in lower case',
    post(
      [...honest, ofLength(plainBody)].map((line) =>
        line.replace(/^[^:]+/, (name) => name.toLowerCase()),
      ),
      plainBody,
    ),
    200,
  ],
  [
    'names in upper case',
    post(
      [...honest, ofLength(plainBody)].map((line) =>
        line.replace(/^[^:]+/, (name) => name.toUpperCase()),
      ),
      plainBody,
    ),
    200,
  ],
  [
    'the lines of a usual client',
    withLines(
      'User-Agent: curl/8.5.0',
      'Accept: */*',
      'Accept-Encoding: gzip, deflate',
      'Sec-Fetch-Mode: cors',
    ),
    200,
  ],
  ['Connection: keep-alive', withLines('Connection: keep-alive'), 200],
  ['Connection: Keep-Alive', withLines('Connection: Keep-Alive'), 200],
  ['a field of one character', withLines('X: y'), 200],
  ['a Content_Length beside the length', withLines('Content_Length: 1'), 200],
  ['128 headers', withLines(...Array.from({ length: 124 }, (_, i) => `x-${i}: 1`)), 200],
  ['129 headers', withLines(...Array.from({ length: 125 }, (_, i) => `x-${i}: 1`)), 431],
  ['no Host', post([...without('Host'), ofLength(plainBody)], plainBody), 400],
  ['two Hosts', withLines('Host: localhost'), 400],
  [
    'a foreign Host',
    post(['Host: evil.example', ...without('Host'), ofLength(plainBody)], plainBody),
    421,
  ],
  ['two Authorizations', withLines(`authorization: Bearer ${tokens.beta}`), 400],
  ['two Content-Types', withLines('Content-Type: application/json'), 400],
  ['a foreign Origin', withLines('Origin: https://evil.example'), 403],
  ['no token', post([...without('Authorization'), ofLength(plainBody)], plainBody), 401],
  [
    'a wrong token',
    post(
      [...without('Authorization'), `Authorization: Bearer ${'f'.repeat(64)}`, ofLength(plainBody)],
      plainBody,
    ),
    401,
  ],
  [
    'another type',
    post([...without('Content-Type'), 'Content-Type: text/plain', ofLength(plainBody)], plainBody),
    415,
  ],
  ['a coded body', withLines('Content-Encoding: gzip'), 415],
  ['a body over the limit', withBody(invoke('first', 'test.echo', 'x'.repeat(4_000))), 413],
  ['a body that is not JSON', withBody('{'), 200],
  [
    'a body that is not UTF-8',
    Buffer.concat([declaring('', 'Content-Length: 2'), Buffer.from([0xc3, 0x28])]),
    200,
  ],
  ['a body of NULs', withBody('\0\0\0'), 200],
  ['a body that looks like a request', withBody(plain.toString()), 200],
  ['text beyond ASCII', withBody(invoke('first', 'test.echo', 'grüß dich 🙂')), 200],
  ['text beyond ASCII within Latin-1', withBody(invoke('first', 'test.echo', 'grüß')), 200],
  ['a batch', withBody(`[${invoke('a')},${invoke('b')}]`), 200],
  ['an empty batch', withBody('[]'), 200],
  ['a notification', withBody('{"jsonrpc":"2.0","method":"capabilities.list"}'), 204],
  ['a call that fails', withBody(invoke('first', 'test.fail')), 200],
  ['a call that policy denies', withBody(invoke('first', 'test.blocked')), 200],
  ['a call that finds no room', asCrowded(invoke('first', 'test.poll')), 503],
  ['a call that is not recorded', withBody(invoke('first', 'test.unrecorded')), 503],
  ['a call that throws', withBody(invoke('first', 'test.crash')), 200],
]

/** What goes to node:http. */
const others: [name: string, bytes: Buffer, status: number][] = [
  // Where the request line is not ours
  ['GET', Buffer.from('GET /rpc HTTP/1.1\r\nHost: localhost\r\n\r\n'), 405],
  ['a method in lower case', withLine('post /rpc HTTP/1.1'), 400],
  ['a method that does not exist', withLine('POSTS /rpc HTTP/1.1'), 400],
  ['an absolute form', withLine('POST http://localhost/rpc HTTP/1.1'), 404],
  ['an authority form', withLine('POST localhost:80 HTTP/1.1'), 400],
  ['an asterisk', withLine('POST * HTTP/1.1'), 404],
  ['a query', withLine('POST /rpc?a=b HTTP/1.1'), 200],
  ['a fragment', withLine('POST /rpc#a HTTP/1.1'), 404],
  ['two slashes', withLine('POST //rpc HTTP/1.1'), 404],
  ['a path in upper case', withLine('POST /RPC HTTP/1.1'), 404],
  ['an escaped path', withLine('POST /%72pc HTTP/1.1'), 404],
  ['a NUL in the path', withLine('POST /rpc\0 HTTP/1.1'), 400],
  ['a path beyond ASCII', withLine('POST /rpć HTTP/1.1'), 400],
  ['two spaces in the line', withLine('POST  /rpc HTTP/1.1'), 200],
  ['a tab in the line', withLine('POST\t/rpc HTTP/1.1'), 400],
  ['a space behind the line', withLine('POST /rpc HTTP/1.1 '), 400],
  ['a protocol in lower case', withLine('POST /rpc http/1.1'), 400],
  ['another protocol', withLine('POST /rpc ICE/1.0'), 400],
  ['HTTP/0.9', Buffer.from('POST /rpc\r\n\r\n'), 400],
  ['HTTP/1.0', withLine('POST /rpc HTTP/1.0'), 200],
  [
    'HTTP/1.0 that is kept alive',
    post([...honest, 'Connection: keep-alive', ofLength(plainBody)], plainBody, {
      line: 'POST /rpc HTTP/1.0',
    }),
    200,
  ],
  ['HTTP/1.2', withLine('POST /rpc HTTP/1.2'), 400],
  ['HTTP/2.0', withLine('POST /rpc HTTP/2.0'), 200],
  ['HTTP/1.10', withLine('POST /rpc HTTP/1.10'), 400],
  ['the preface of HTTP/2', Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), 400],
  [
    'a handshake of TLS',
    Buffer.from('\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n', 'latin1'),
    400,
  ],
  // Where lines end otherwise
  ['line feeds alone', post([...honest, ofLength(plainBody)], plainBody, { end: '\n' }), 400],
  [
    'a head that ends with a line feed',
    Buffer.from(plain.toString().replace('\r\n\r\n', '\r\n\n')),
    400,
  ],
  [
    'one line that ends with a line feed',
    Buffer.from(plain.toString().replace('localhost\r\n', 'localhost\n')),
    400,
  ],
  ['carriage returns alone', post([...honest, ofLength(plainBody)], plainBody, { end: '\r' }), 400],
  [
    'a second carriage return',
    Buffer.from(plain.toString().replace('localhost\r\n', 'localhost\r\r\n')),
    400,
  ],
  ['a line break before the request', Buffer.concat([Buffer.from('\r\n'), plain]), 200],
  ['a line feed before the request', Buffer.concat([Buffer.from('\n'), plain]), 200],
  ['a space before the request', Buffer.concat([Buffer.from(' '), plain]), 400],
  ['a line break behind the request', Buffer.concat([plain, Buffer.from('\r\n')]), 200],
  // Where a field is not plain
  ['no space behind the colon', withLines('X:y'), 200],
  ['two spaces behind the colon', withLines('X:  y'), 200],
  ['a tab behind the colon', withLines('X:\ty'), 200],
  ['a space behind the value', withLines('X: y '), 200],
  ['a tab in the value', withLines('X: y\tz'), 200],
  ['two spaces in the value', withLines('X: y  z'), 200],
  ['no value', withLines('X:'), 200],
  ['a value of spaces', withLines('X:   '), 200],
  ['a space before the colon', withLines('X : y'), 400],
  ['a tab before the colon', withLines('X\t: y'), 400],
  ['a space in the name', withLines('X y: z'), 400],
  ['a name in quotes', withLines('"X": z'), 400],
  ['a name beyond ASCII', withLines('Ü: z'), 400],
  ['no name', withLines(': z'), 400],
  ['no colon', withLines('X'), 400],
  ['a NUL in the name', withLines('X\0: y'), 400],
  ['a NUL in the value', withLines('X: y\0z'), 400],
  ['a bell in the value', withLines('X: y\x07z'), 400],
  ['a DEL in the value', withLines('X: y\x7fz'), 400],
  ['a value beyond ASCII', withLines('X: ü'), 200],
  ['a bare carriage return in the value', withLines('X: y\rContent-Length: 1'), 400],
  ['a bare line feed in the value', withLines('X: y\nContent-Length: 1'), 400],
  ['a folded value', withLines('X: y', ' z'), 400],
  ['a value folded by a tab', withLines('X: y', '\tz'), 400],
  ['a folded Transfer-Encoding', withLines('Transfer-Encoding:', ' chunked'), 400],
  [
    'a fold before the first field',
    post([' X: y', ...honest, ofLength(plainBody)], plainBody),
    400,
  ],
  [
    'a head of 12 KiB',
    withLines(...Array.from({ length: 12 }, (_, i) => `x-${i}: ${'y'.repeat(1024)}`)),
    200,
  ],
  ['a head of 20 KiB', withLines(`X: ${'y'.repeat(20 * 1024)}`), 431],
  ['a path of 20 KiB', withLine(`POST /${'x'.repeat(20 * 1024)} HTTP/1.1`), 431],
  // Where the length is in doubt
  ['no length', declaring(plainBody), 400],
  ['a length of 0', declaring('', 'Content-Length: 0'), 200],
  ['a length without digits', declaring(plainBody, 'Content-Length: x'), 400],
  ['an empty length', declaring(plainBody, 'Content-Length: '), 400],
  ['a length with a plus', declaring(plainBody, `Content-Length: +${plainBody.length}`), 400],
  ['a length below 0', declaring(plainBody, 'Content-Length: -1'), 400],
  ['a length with a leading 0', declaring(plainBody, `Content-Length: 0${plainBody.length}`), 200],
  ['a hexadecimal length', declaring(plainBody, 'Content-Length: 0x10'), 400],
  ['a length with an exponent', declaring(plainBody, 'Content-Length: 1e2'), 400],
  ['a length with a point', declaring(plainBody, `Content-Length: ${plainBody.length}.0`), 400],
  ['a length with a space in it', declaring(plainBody, 'Content-Length: 1 2'), 400],
  ['a length with a space behind it', declaring(plainBody, `${ofLength(plainBody)} `), 200],
  ['a list of lengths', declaring(plainBody, `${ofLength(plainBody)}, ${plainBody.length}`), 400],
  ['a length beyond 64 bits', declaring(plainBody, 'Content-Length: 99999999999999999999'), 400],
  ['a length beyond the limit', declaring(plainBody, 'Content-Length: 123456789'), 413],
  ['two equal lengths', declaring(plainBody, ofLength(plainBody), ofLength(plainBody)), 400],
  ['two lengths', declaring(plainBody, ofLength(plainBody), 'content-length: 1'), 400],
  [
    'a length before the colon of which is a space',
    declaring(plainBody, `Content-Length : ${plainBody.length}`),
    400,
  ],
  ['a body that is longer than it says', declaring(`${plainBody}GET /`, ofLength(plainBody)), 200],
  [
    'a request in what is longer',
    declaring(`${plainBody}${plain.toString()}`, ofLength(plainBody)),
    200,
  ],
  [
    'a body that is shorter than it says',
    declaring(plainBody, `Content-Length: ${plainBody.length + 2_000}`),
    400,
  ],
  // Where the body comes in chunks
  ['chunks', declaring(chunked(plainBody), 'Transfer-Encoding: chunked'), 200],
  ['chunks in upper case', declaring(chunked(plainBody), 'TRANSFER-ENCODING: CHUNKED'), 200],
  [
    'CL.TE',
    declaring(`0\r\n\r\n${plain.toString()}`, 'Content-Length: 5', 'Transfer-Encoding: chunked'),
    400,
  ],
  ['TE.CL', declaring(chunked(plainBody), 'Transfer-Encoding: chunked', 'Content-Length: 4'), 400],
  [
    'TE.TE',
    declaring(chunked(plainBody), 'Transfer-Encoding: chunked', 'Transfer-Encoding: identity'),
    400,
  ],
  ['chunked twice', declaring(chunked(plainBody), 'Transfer-Encoding: chunked, chunked'), 400],
  [
    'chunked behind another one',
    declaring(chunked(plainBody), 'Transfer-Encoding: gzip, chunked'),
    200,
  ],
  [
    'chunked before another one',
    declaring(chunked(plainBody), 'Transfer-Encoding: chunked, gzip'),
    400,
  ],
  ['identity', declaring(plainBody, 'Transfer-Encoding: identity', ofLength(plainBody)), 400],
  ['xchunked', declaring(chunked(plainBody), 'Transfer-Encoding: xchunked'), 400],
  [
    'chunked behind a vertical tab',
    declaring(chunked(plainBody), 'Transfer-Encoding: \x0bchunked'),
    400,
  ],
  ['chunked in quotes', declaring(chunked(plainBody), 'Transfer-Encoding: "chunked"'), 400],
  ['a length beside a spaced name', withLines('Transfer-Encoding : chunked'), 400],
  [
    'chunks with trailers',
    declaring(
      chunked(plainBody).replace(/\r\n$/, 'X: y\r\n\r\n'),
      'Transfer-Encoding: chunked',
      'Trailer: X',
    ),
    200,
  ],
  [
    'a trailer that lies about the length',
    declaring(
      chunked(plainBody).replace(/\r\n$/, 'Content-Length: 3\r\n\r\n'),
      'Transfer-Encoding: chunked',
    ),
    400,
  ],
  [
    'chunks with extensions',
    declaring(chunked(plainBody).replace('\r\n', ';a=b;c="d"\r\n'), 'Transfer-Encoding: chunked'),
    200,
  ],
  [
    'a size that is not hexadecimal',
    declaring(`zz\r\n${plainBody}\r\n0\r\n\r\n`, 'Transfer-Encoding: chunked'),
    400,
  ],
  [
    'a size that overflows',
    declaring('fffffffffffffffff\r\nx\r\n0\r\n\r\n', 'Transfer-Encoding: chunked'),
    400,
  ],
  [
    'a size that ends with a line feed',
    declaring(chunked(plainBody).replace('\r\n', '\n'), 'Transfer-Encoding: chunked'),
    400,
  ],
  [
    'a size that is too small',
    declaring(`2\r\n${plainBody}\r\n0\r\n\r\n`, 'Transfer-Encoding: chunked'),
    400,
  ],
  [
    'an extension with a line feed',
    declaring(chunked(plainBody).replace('\r\n', ';a\n\r\n'), 'Transfer-Encoding: chunked'),
    400,
  ],
  // Where the connection is to change
  ['Connection: close', withLines('Connection: close'), 200],
  ['Connection: keep-alive, close', withLines('Connection: keep-alive, close'), 200],
  [
    'Connection: keep-alive and close',
    withLines('Connection: keep-alive', 'Connection: close'),
    200,
  ],
  ['a Connection that names a field', withLines('Connection: Content-Length'), 200],
  ['Proxy-Connection: close', withLines('Proxy-Connection: close'), 200],
  [
    'an offer of HTTP/2',
    withLines('Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAE'),
    200,
  ],
  ['an offer of WebSocket', withLines('Connection: Upgrade', 'Upgrade: websocket'), 404],
  ['an offer that is not connected', withLines('Upgrade: websocket'), 200],
  ['Expect: 100-continue', withLines('Expect: 100-continue'), 100],
  ['Expect: 200-ok', withLines('Expect: 200-ok'), 417],
  // More than one request
  ['two requests', Buffer.concat([plain, plain]), 200],
  ['three requests', Buffer.concat([plain, plain, plain]), 200],
  ['a request and the half of one', Buffer.concat([plain, plain.subarray(0, 40)]), 200],
  ['a request and something else', Buffer.concat([plain, Buffer.from(health)]), 200],
]

const statusOf = ({ text }: Heard): number => Number(text.slice(9, 12))

describe('what the fast path answers is answered as node:http does', () => {
  test.each(plainRequests)('%s', async (_name, bytes, status) => {
    expect(readPlainPost(bytes)).not.toBeNull()
    const heard = await expectSame([bytes])
    expect(statusOf(heard)).toBe(status)
    if (status < 300) expect(heard.text).toContain('"id":"next"')
  })
})

describe('everything else goes to node:http', () => {
  test.each(others)('%s', async (_name, bytes, status) => {
    expect(readPlainPost(bytes)).toBeNull()
    expect(statusOf(await expectSame([bytes]))).toBe(status)
  })

  test('an empty Transfer-Encoding, which newer versions of Node refuse', async () => {
    const bytes = withLines('Transfer-Encoding:')
    expect(readPlainPost(bytes)).toBeNull()
    await expectSame([bytes])
    await expectSame([plain, bytes])
  })

  test.each(others)('behind a plain request: %s', async (_name, bytes) => {
    await expectSame([plain, bytes])
  })
})

describe('however the bytes are cut', () => {
  test('a request in two parts', async () => {
    for (let i = 1; i < plain.length; i++) {
      expect(statusOf(await expectSame([plain.subarray(0, i), plain.subarray(i)]))).toBe(200)
    }
  })

  test('a request and the beginning of the next one', async () => {
    for (let i = 1; i < plain.length; i += 7) {
      const both = [Buffer.concat([plain, plain.subarray(0, i)]), plain.subarray(i)]
      const { text } = await expectSame(both)
      expect(text.split('"id":"first"')).toHaveLength(3)
    }
  })

  test('byte by byte', async () => {
    const bytes = Array.from(plain, (byte) => Buffer.from([byte]))
    expect(statusOf(await expectSame(bytes))).toBe(200)
  })
})

/** Small, seeded, and the same on every machine. */
const random =
  (seed: number) =>
  (below: number): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }

const shards = [
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  '\0',
  ' ',
  '\t',
  ':',
  ',',
  '0',
  '1',
  'x',
  '\x7f',
  '\xff',
  '\x0b',
  'Content-Length: 1\r\n',
  'Content-Length: 0\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Connection: close\r\n',
  'X: y\r\n',
  ' z\r\n',
  'Host: localhost\r\n',
  'POST /rpc HTTP/1.1\r\n',
  '0\r\n\r\n',
  'Expect: 100-continue\r\n',
]

const mutated = (pick: (below: number) => number): Buffer => {
  let text = plain.toString('latin1')
  for (let i = pick(3); i >= 0; i--) {
    const at = pick(text.length)
    // Most of what matters is in the head, and there at the beginning of lines.
    const line = pick(2) === 0 ? at : Math.max(0, text.lastIndexOf('\n', at) + 1)
    const shard = shards[pick(shards.length)] ?? ''
    const dropped = pick(3) === 0 ? pick(4) : 0
    text = text.slice(0, line) + (pick(4) === 0 ? '' : shard) + text.slice(line + dropped)
  }
  return Buffer.from(text, 'latin1')
}

describe('generated requests', () => {
  test('are answered as node:http does', async () => {
    const pick = random(7_700)
    let refusedSooner = 0
    for (let i = 0; i < 400; i++) {
      const bytes = mutated(pick)
      const byNode = await hear('node:http', [bytes])
      const fast = await hear('fast path', [bytes])
      // Bytes that are no HTTP may be refused before the request in front of them is answered.
      const sooner = fast.text.includes('this is not HTTP') && byNode.text.endsWith(fast.text)
      if (sooner && fast.text !== byNode.text) refusedSooner += 1
      else expect(fast, JSON.stringify(bytes.toString('latin1'))).toEqual(byNode)
    }
    expect(refusedSooner).toBeLessThan(100)
  })

  test('that are plain are one request for node:http, with the same fields and body', async () => {
    const seen: unknown[] = []
    const server = createServer({ requireHostHeader: false }, (req, res) => {
      const chunks: Buffer[] = []
      req.on('data', (chunk: Buffer) => chunks.push(chunk))
      req.on('end', () => {
        seen.push({ rawHeaders: req.rawHeaders, body: Buffer.concat(chunks) })
        res.end()
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const pick = random(7_800)
    const generated = Array.from({ length: 2_000 }, () => mutated(pick))
    const all = [...plainRequests.map(([, bytes]) => bytes), ...generated]
    const taken = all.filter((bytes) => readPlainPost(bytes))
    expect(taken.length).toBeGreaterThan(100)
    for (const bytes of taken) {
      seen.length = 0
      const socket = connect(port, '127.0.0.1')
      socket.write(Buffer.concat([bytes, next]))
      await until(() => seen.length === 2)
      expect(seen).toEqual([readPlainPost(bytes), readPlainPost(next)])
      socket.destroy()
    }
    server.close()
  })
})
