import { once } from 'node:events'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createSafe } from 'node:https'
import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { issueAuthority, issueLeaf } from '@gatehouse/server/tls/issue'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Installation, invoke, type Run } from '../support/server.ts'

// A real server against canaries of our own. Names that lead elsewhere the second time (N04), and public
// names that also lead inside (N03), need a name server: packages/server/test/outbound has those.

const secret = 'canary:S3cret/Value+with=chars&more'
const policy = `version: 1
rules:
  - { match: "network.*", tier: autonomous }
limits:
  - { match: "network.*", limit: 10000, window: 1m }
`

type Server = { readonly port: number; readonly hits: IncomingMessage[]; connections: number }
const closing: (() => void)[] = []

const listen = async (
  server: ReturnType<typeof createServer> | ReturnType<typeof createSafe>,
  host: string,
  port = 0,
): Promise<Server> => {
  const state: Server = { port: 0, hits: [], connections: 0 }
  server.on('request', (request: IncomingMessage) => state.hits.push(request))
  server.on('connection', () => {
    state.connections += 1
  })
  server.listen(port, host)
  await once(server, 'listening')
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return Object.assign(state, { port: (server.address() as AddressInfo).port })
}

/** Answers each path in its own way; what is not named gets the reflection of what it was sent. */
const answers: Record<string, RequestListener> = {
  '/bomb': (_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' })
    response.end(gzipSync(Buffer.alloc(32 * 1024 * 1024)))
  },
  '/chained': (_request, response) => {
    response.writeHead(200, { 'content-encoding': Array(10).fill('gzip').join(', ') })
    response.end(gzipSync('x'))
  },
  '/endless': (_request, response) => {
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    }
    response.on('drain', more)
    more()
  },
  '/cut': (request, response) => {
    const size = Number(new URL(request.url ?? '/', 'http://a.example').searchParams.get('size'))
    response.writeHead(200, { connection: 'close', 'content-length': 10_000_000 })
    response.write(Buffer.alloc(size), () => response.socket?.end())
  },
  '/slow': (_request, response) => {
    const timer = setInterval(() => response.write('.'), 100)
    response.on('close', () => clearInterval(timer))
  },
}

const reflect: RequestListener = (request, response) => {
  const url = new URL(request.url ?? '/', 'http://a.example')
  const known = answers[url.pathname]
  if (known) return known(request, response)
  const location = url.searchParams.get('to')
  if (location) {
    // Headers are bytes: what is no ASCII goes as UTF-8.
    const bytes = Buffer.from(location).toString('latin1')
    return response.writeHead(307, { location: bytes }).end()
  }
  const given = String(request.headers.authorization ?? '').replace(/^Bearer /, '')
  const bytes = Buffer.from(given)
  const forms = [
    given,
    bytes.toString('base64'),
    bytes.toString('base64url'),
    bytes.toString('hex'),
  ]
  forms.push(encodeURIComponent(given), JSON.stringify(given))
  response.writeHead(200, { 'x-given': encodeURIComponent(given), 'content-encoding': 'gzip' })
  const body = gzipSync(forms.join('\n'))
  // Byte by byte, so that no reader finds a whole one in a chunk.
  const next = (at: number): void => {
    if (at >= body.length) response.end()
    else response.write(body.subarray(at, at + 7), () => setImmediate(next, at + 7))
  }
  next(0)
}

const gate = new Installation()
let run: Run
let token: string
let workspace: string
let canaries: readonly [Server, Server]
let honest: Server
let other: Server
let safe: Server

const hits = () => canaries[0].connections + canaries[1].connections

const openCanaries = async (): Promise<readonly [Server, Server]> => {
  const four = await listen(
    createServer((_request, response) => response.end('canary')),
    '127.0.0.1',
  )
  const six = await listen(
    createServer((_request, response) => response.end('canary')),
    '::1',
    four.port,
  )
  return [four, six]
}

beforeAll(async () => {
  canaries = await openCanaries()
  honest = await listen(createServer(reflect), '127.0.0.1')
  other = await listen(createServer(reflect), '127.0.0.1')
  const names = { dns: ['localhost'], ip: ['127.0.0.1'] }
  const authority = await issueAuthority({ names, nowMs: Date.now() })
  const leaf = await issueLeaf({ authority, names, nowMs: Date.now() })
  safe = await listen(createSafe(leaf, reflect), '127.0.0.1')
  writeFileSync(join(gate.dataDir, 'ca.pem'), authority.cert)
  const listed = [honest, other, safe].map(({ port }) => `"127.0.0.1:${port}"`)
  writeFileSync(
    join(gate.dataDir, 'gatehouse.yaml'),
    `outbound:\n  ca_file: ca.pem\n  ports: ["${canaries[0].port}"]\n  private_targets: [${listed.join(', ')}]\n`,
  )
  run = await gate.start()
  ;({ token, workspace } = await gate.createAgent('alpha'))
  const file = join(gate.dataDir, 'o.yaml')
  writeFileSync(file, policy)
  const set = await gate.cli(['policy', 'set', file])
  if (set.code !== 0) throw new Error(set.stderr)
  const user = readFileSync(join(gate.dataDir, 'cli-token'), 'utf8').trim()
  const added = await fetch(`${run.user_api_url}/api/vault/secrets`, {
    method: 'POST',
    headers: { authorization: `Bearer ${user}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      name: 'bound',
      value: secret,
      capabilities: ['network.credentialed_request'],
      hosts: [`127.0.0.1:${safe.port}`],
      agents: ['alpha'],
    }),
  })
  if (!added.ok) throw new Error(await added.text())
})

afterAll(async () => {
  await gate[Symbol.asyncDispose]()
  for (const close of closing) close()
})

const ask = async (capability: string, args: object) => {
  const { result, error } = await invoke(run, token, `network.${capability}`, args)
  if (error) throw new Error(error.message)
  return { type: result?.error?.type, data: result?.data ?? {}, text: JSON.stringify(result) }
}

const refused = ['HostUnreachable', 'UrlNotAllowed', 'RedirectRefused', 'InvalidArguments']

const spellings = [
  ...['127.0.0.1', '127.1', '0x7f.1', '2130706433', '017700000001', '①②⑦.⓪.⓪.①', '0'],
  ...['127.0.0.1.', 'localhost', 'localhost.', 'foo.localhost', hostname(), 'x@127.0.0.1'],
  ...['[::1]', '[::]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[64:ff9b::a9fe:a9fe]'],
  ...['[2002:7f00:1::]', '[fe80::1]', '[fc00::1]', '[64:ff9b::7f00:1]', '[::ffff:127.0.0.1]'],
]

test('N01 N02 N03 no spelling of this machine is reached; a listed address is', async () => {
  const { port } = canaries[0]
  const urls = spellings.flatMap((host) => [`http://${host}:${port}/`, `https://${host}:${port}/`])
  for (const url of [
    ...urls,
    `http:\\\\127.0.0.1:${port}\\`,
    `http://127.0.0.1:${port}\\@a.example/`,
  ]) {
    const { type } = await ask('http_request', { url })
    expect(type, url).toBeOneOf(refused)
  }
  for (const host of spellings) {
    const { data, type } = await ask('port_check', { host, port, timeout_seconds: 1 })
    expect(type ?? data['open'], host).toBeOneOf([...refused, false])
    const download = await ask('download', { url: `http://${host}:${port}/`, path: 'x' })
    expect(download.type, host).toBeOneOf(refused)
  }
  expect(hits()).toBe(0)
  expect(readdirSync(workspace)).toEqual([])
  const twin = await ask('http_request', { url: `http://127.1:${honest.port}/` })
  expect(twin.data['status_code']).toBe(200)
})

test('its own listeners are closed as well', async () => {
  for (const url of [run.gateway_url, run.user_api_url, run.dashboard_url])
    expect((await ask('http_request', { url: `${url}/healthz` })).type).toBeOneOf(refused)
})

test('N05 redirects are decided anew, and take nothing along to another host', async () => {
  const { port } = canaries[0]
  const from = (to: string) => `http://127.0.0.1:${honest.port}/?to=${encodeURIComponent(to)}`
  for (const host of spellings) {
    const { type } = await ask('http_request', { url: from(`http://${host}:${port}/`) })
    expect(type, host).toBeOneOf(refused)
  }
  for (const to of [
    'file:///canary',
    'data:text/plain,x',
    'gopher://127.0.0.1/',
    `//[::1]:${port}/`,
  ])
    expect((await ask('http_request', { url: from(to) })).type, to).toBeOneOf(refused)
  expect(hits()).toBe(0)
  const around = from(from(from(from(from(from('/'))))))
  expect((await ask('http_request', { url: around })).type).toBe('RedirectRefused')
  await ask('http_request', {
    url: from(`http://127.0.0.1:${other.port}/end`),
    method: 'POST',
    body: 'of the first',
    headers: { authorization: 'Bearer of the first', cookie: 'a=b' },
  })
  const [second] = other.hits
  expect(second?.method).toBe('GET')
  expect(second?.headers).not.toMatchObject({ authorization: expect.anything() })
  expect(second?.headers).not.toMatchObject({ cookie: expect.anything() })
  expect(second?.headers['content-length']).toBeUndefined()
})

test('N06 bombs, chains of encodings, endless and slow answers end in time and by name', async () => {
  const url = (path: string) => `http://127.0.0.1:${honest.port}${path}`
  const cut = await ask('http_request', { url: url('/bomb'), max_bytes: 1000 })
  expect(cut.data).toMatchObject({ size_bytes: 1000, truncated: true })
  expect((await ask('download', { url: url('/bomb'), path: 'x', max_bytes: 1_000_000 })).type).toBe(
    'ResponseTooLarge',
  )
  expect((await ask('http_request', { url: url('/chained') })).type).toBe('ResponseRefused')
  expect((await ask('http_request', { url: url('/endless') })).data['truncated']).toBe(true)
  expect((await ask('download', { url: url('/endless'), path: 'x' })).type).toBe('ResponseTooLarge')
  // Hanging up while nobody reads has ended a whole process.
  for (const size of [1, 60_000, 65_536, 70_000, 200_000]) {
    const args = { url: url(`/cut?size=${size}`), max_bytes: 5_000_000 }
    expect((await ask('http_request', args)).type, String(size)).toBe('HostUnreachable')
    expect((await ask('download', { ...args, path: 'x' })).type).toBe('ResponseTooLarge')
    await ask('http_request', { ...args, max_bytes: 0 })
  }
  expect((await ask('http_request', { url: url('/slow'), timeout_seconds: 1 })).type).toBe(
    'TimedOut',
  )
  expect(readdirSync(workspace)).toEqual([])
})

const forms = [
  secret,
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  Buffer.from(secret).toString('base64url'),
  Buffer.from(secret).toString('hex'),
  encodeURIComponent(secret),
]

test('N07 a secret that a host says back in every way is not heard, and is nowhere on the disk', async () => {
  const answer = await ask('credentialed_request', {
    url: `https://127.0.0.1:${safe.port}/`,
    secret_name: 'bound',
  })
  expect(answer.data['status_code']).toBe(200)
  expect(safe.hits[0]?.headers.authorization).toBe(`Bearer ${secret}`)
  expect(answer.data['body']).toContain('[secret:bound]')
  const audit = await gate.cli(['audit', 'query', '--json'])
  const visit = (folder: string): string[] =>
    readdirSync(folder).flatMap((name) => {
      const path = join(folder, name)
      if (statSync(path).isDirectory()) return visit(path)
      const bytes = readFileSync(path)
      return forms.some((form) => bytes.includes(form)) ? [path] : []
    })
  expect(visit(gate.dataDir)).toEqual([])
  for (const form of forms)
    for (const text of [answer.text, audit.stdout, gate.output]) expect(text).not.toContain(form)
})

test('N08 a secret goes to its host, port and scheme alone', async () => {
  const seen = safe.hits.length
  const type = async (url: string) =>
    (await ask('credentialed_request', { url, secret_name: 'bound' })).type
  for (const url of [
    `https://127.0.0.1.evil.example:${safe.port}/`,
    `https://localhost:${safe.port}/`,
    'https://127.0.0.1/',
    `https://127.0.0.1:${honest.port}/`,
  ])
    expect(await type(url), url).toBe('SecretNotAllowed')
  expect(await type(`http://127.0.0.1:${safe.port}/`)).toBe('UrlNotAllowed')
  expect(safe.hits.length).toBe(seen)
  expect(await type(`https://0x7f.1:${safe.port}/`)).toBeUndefined()
  // A redirect to a host of its own network, which is not in the scope.
  const before = other.hits.length
  const to = encodeURIComponent(`https://127.0.0.1:${other.port}/`)
  expect(await type(`https://127.0.0.1:${safe.port}/?to=${to}`)).toBe('TlsFailed')
  expect(other.hits.length).toBe(before)
})

test('O1 O4 the server is unharmed, and its log is whole', async () => {
  const honestly = await invoke(run, token, 'system.time')
  expect(honestly.result?.success).toBe(true)
  expect(gate.run?.pid).toBe(run.pid)
  expect(await gate.stop()).toBe(0)
  const verified = await gate.cli(['audit', 'verify', '--json'])
  expect(JSON.parse(verified.stdout)).toMatchObject({ integrity: 'verified' })
})
