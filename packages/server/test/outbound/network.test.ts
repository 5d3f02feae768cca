import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createKit, failureIn, type Kit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import type { OutboundDeps } from '../../src/outbound/create-outbound.ts'
import {
  type Canary,
  namesFrom,
  openCanary,
  outboundWith,
  type WayOut,
} from '../../src/outbound/testing.ts'
import { makeAuthority, openSafe } from './safe-server.ts'

const freely = `version: 1
rules:
  - { match: "network.*", tier: autonomous }
`

type World = {
  readonly policy?: string
  readonly servers?: readonly Pick<Canary, 'port'>[]
  readonly settings?: WayOut
  readonly names?: Parameters<typeof namesFrom>[0]
  readonly deps?: Partial<OutboundDeps>
}

/** One agent, with a way out to the servers of the test. */
const begin = async ({ policy = freely, servers = [], settings, names = {}, deps }: World) => {
  const kit = await createKit({
    policy,
    outbound: outboundWith(
      { privateTargets: servers.map(({ port }) => `127.0.0.1:${port}`), ...settings },
      { resolve: namesFrom(names), ...deps },
    ),
  })
  await kit.agent('a')
  return kit
}

const ask = async (kit: Kit, capability: string, args: object) => {
  const outcome = await kit.invoke('a', `network.${capability}`, args)
  if (outcome.kind === 'succeeded') return outcome.data
  throw new Error(JSON.stringify(failureIn(outcome) ?? outcome))
}

const typeOf = async (kit: Kit, capability: string, args: object) =>
  failureIn(await kit.invoke('a', `network.${capability}`, args))?.type

test('sends what it is told, and tells what comes back', async () => {
  await using server = await openCanary('127.0.0.1', (request, response) => {
    let text = ''
    request.on('data', (chunk) => {
      text += String(chunk)
    })
    request.on('end', () => {
      response.statusCode = 201
      response.setHeader('content-type', 'application/json')
      response.setHeader('content-encoding', 'gzip')
      response.end(gzipSync(JSON.stringify({ type: request.headers['content-type'], text })))
    })
  })
  await using kit = await begin({ servers: [server] })
  const answer = await ask(kit, 'http_request', {
    url: `${server.url}/items?x=1#part`,
    method: 'POST',
    headers: { 'X-One': '1' },
    body: { a: ['b'] },
  })
  expect(answer).toMatchObject({
    status_code: 201,
    encoding: 'utf-8',
    truncated: false,
    url: `${server.url}/items?x=1`,
    headers: { 'content-type': 'application/json' },
  })
  expect(JSON.parse(String(answer['body']))).toEqual({
    type: 'application/json',
    text: '{"a":["b"]}',
  })
  expect(server.hits[0]).toMatchObject({ method: 'POST', url: '/items?x=1' })
  expect(server.hits[0]?.headers['x-one']).toBe('1')
  const [entry, intent] = await kit.audit({ capability: 'network.http_request' })
  expect(intent?.result).toBe('pending')
  expect(entry).toMatchObject({ result: 'success', detail: { status_code: 201 } })
  expect(JSON.stringify(entry?.arguments)).not.toContain('X-One')
})

test.each([
  ['text', Buffer.from('héllo'), 'text/plain', 'héllo', 'utf-8'],
  ['bytes', Buffer.from([0xff, 0x00, 0x01]), 'image/png', '/wAB', 'base64'],
  ['text with a NUL', Buffer.from('a\0b'), 'text/plain', 'YQBi', 'base64'],
  [
    'Latin-1',
    Buffer.from('h\xe9llo', 'latin1'),
    'text/plain; charset=ISO-8859-1',
    'héllo',
    'utf-8',
  ],
  ['UTF-16', Buffer.from('hé', 'utf16le'), 'text/plain; charset="utf-16le"', 'hé', 'utf-8'],
  [
    'a charset that nobody knows',
    Buffer.from([0xe9]),
    'text/plain; charset=x-none',
    '6Q==',
    'base64',
  ],
  ['nothing', Buffer.alloc(0), 'text/plain', '', 'utf-8'],
])('%s comes back as it is best read', async (_what, bytes, type, body, encoding) => {
  await using server = await openCanary('127.0.0.1', (_request, response) => {
    response.setHeader('content-type', type)
    response.end(bytes)
  })
  await using kit = await begin({ servers: [server] })
  expect(await ask(kit, 'http_request', { url: server.url })).toMatchObject({
    body,
    encoding,
    size_bytes: bytes.length,
  })
})

test('an answer is cut at a whole character, and says so', async () => {
  await using server = await openCanary('127.0.0.1', (_request, response) =>
    response.end('aé€😀'.repeat(100)),
  )
  await using kit = await begin({ servers: [server] })
  const cut = async (max_bytes: number) => {
    const answer = await ask(kit, 'http_request', { url: server.url, max_bytes })
    return [answer['body'], answer['encoding'], answer['truncated']]
  }
  expect(await cut(1)).toEqual(['a', 'utf-8', true])
  expect(await cut(2)).toEqual(['a', 'utf-8', true])
  expect(await cut(3)).toEqual(['aé', 'utf-8', true])
  expect(await cut(5)).toEqual(['aé', 'utf-8', true])
  expect(await cut(6)).toEqual(['aé€', 'utf-8', true])
  expect(await cut(9)).toEqual(['aé€', 'utf-8', true])
  expect(await cut(10)).toEqual(['aé€😀', 'utf-8', true])
  expect(await cut(0)).toEqual(['', 'utf-8', true])
  expect(await cut(1000)).toEqual(['aé€😀'.repeat(100), 'utf-8', false])
})

test.each([
  [{ url: 'file:///canary' }, 'InvalidArguments'],
  [{ url: 'https://u:p@a.example/' }, 'InvalidArguments'],
  [{ url: 'https://a.example/', method: 'TRACE' }, 'InvalidArguments'],
  [{ url: 'https://a.example/', max_bytes: 10_000_000 }, 'InvalidArguments'],
  [{ url: 'https://a.example/', colour: 'red' }, 'InvalidArguments'],
  [{ url: 'https://a.example:22/' }, 'UrlNotAllowed'],
  [{ url: 'https://a.example/', body: 'x' }, 'RequestNotAllowed'],
  [
    { url: 'https://a.example/', method: 'POST', body: 'x!', body_encoding: 'base64' },
    'RequestNotAllowed',
  ],
  [{ url: 'https://a.example/', headers: { host: 'b.example' } }, 'RequestNotAllowed'],
  [{ url: 'https://a.example/' }, 'HostUnreachable'],
])('%j fails as %s', async (args, type) => {
  await using kit = await begin({})
  expect(await typeOf(kit, 'http_request', args)).toBe(type)
})

const byHost = (port: number) => `version: 1
rules:
  - { match: network.http_request, when: host == "api.example", tier: autonomous }
  - { match: network.http_request, when: 'args.url.startsWith("http://open.example:${port}/")', tier: autonomous }
  - { match: network.http_request, when: host == "never.example", tier: blocked, reason: Not that one }
  - { match: network.http_request, tier: approval_required }
`

const allNames = {
  'api.example': ['127.0.0.1'],
  'open.example': ['127.0.0.1'],
  'never.example': ['127.0.0.1'],
  'other.example': ['127.0.0.1'],
  'api.example.evil.example': ['127.0.0.1'],
}

test('policy decides by the host, however the address is written', async () => {
  await using server = await openCanary('127.0.0.1')
  const { port } = server
  await using kit = await begin({ policy: byHost(port), servers: [server], names: allNames })
  const kindOf = async (url: string) =>
    (await kit.invoke('a', 'network.http_request', { url })).kind
  for (const url of ['http://api.example', 'HTTP://API.example.', 'http://ａｐｉ.example'])
    expect(await kindOf(`${url}:${port}/`), url).toBe('succeeded')
  expect(await kindOf(`http://open.example:${port}/../x`)).toBe('succeeded')
  for (const url of ['http://api.example.evil.example', 'http://other.example', 'http://127.0.0.1'])
    expect(await kindOf(`${url}:${port}/?api.example`), url).toBe('pending')
  expect(await kindOf(`http://NEVER.example:${port}/`)).toBe('denied')
  expect(server.hits).toHaveLength(4)
})

test('policy is asked again at each redirect', async () => {
  let location = ''
  await using server = await openCanary('127.0.0.1', (request, response) => {
    if (request.url === '/go') response.writeHead(302, { location }).end()
    else response.end(request.headers.host)
  })
  const { port } = server
  await using kit = await begin({ policy: byHost(port), servers: [server], names: allNames })
  const go = (host: string) => ({ url: `http://${host}:${port}/go` })
  location = `http://open.example:${port}/end`
  expect(await ask(kit, 'http_request', go('api.example'))).toMatchObject({
    body: `open.example:${port}`,
    url: location,
  })
  location = `http://other.example:${port}/end`
  expect(failureIn(await kit.invoke('a', 'network.http_request', go('api.example')))).toMatchObject(
    {
      type: 'RedirectRefused',
      message: expect.stringContaining('a person would have to approve'),
    },
  )
  // A person who approves what policy asks about approves that it is followed, but not into what is blocked.
  const approved = await kit.pending('a', 'network.http_request', go('other.example'))
  await kit.decide(approved, 'approve')
  expect((await kit.resolved('a', approved)).result).toMatchObject({ success: true })
  location = `http://never.example:${port}/end`
  const blocked = await kit.pending('a', 'network.http_request', {
    ...go('other.example'),
    max_bytes: 1,
  })
  await kit.decide(blocked, 'approve')
  expect((await kit.resolved('a', blocked)).result).toMatchObject({
    success: false,
    error: { type: 'RedirectRefused', message: expect.stringContaining('Not that one') },
  })
  expect(server.hits.filter(({ headers }) => headers.host?.startsWith('never'))).toEqual([])
})

test('an approver sees where it leads and what leaves', async () => {
  await using kit = await begin({ policy: 'version: 1\nrules: []\n' })
  const id = await kit.pending('a', 'network.http_request', {
    url: 'https://Bücher.example./a/../b?c=d#e',
    method: 'PUT',
    headers: { 'X-Key': 'value of a header' },
    body: 'text of the body',
  })
  const { preview } = await kit.app.showApproval(kit.operator(), { approval_id: id })
  expect(preview).toMatchObject({
    kind: 'url',
    method: 'PUT',
    url: 'https://xn--bcher-kva.example/b?c=d',
  })
  const { text } = preview as { text: string }
  for (const part of ['Host: xn--bcher-kva.example', 'Path: /b?c=d', 'X-Key', '16 bytes'])
    expect(text).toContain(part)
  expect(text).toContain('text of the body')
  expect(text).not.toContain('value of a header')
})

const secret = 'S3cret/Value+with=chars&more'

/** A host that says back what it was given, in headers and in one of many ways in its body. */
const openReflector = async (
  answer: (given: string) => Buffer | Buffer[],
  type = 'application/octet-stream',
) => {
  const { pair, caFile } = await makeAuthority()
  const server = await openSafe(pair, ({ headers, url }, response) => {
    const given = String(headers.authorization ?? headers['x-api-key'] ?? url)
    response.setHeader('content-type', type)
    response.setHeader('x-echo', encodeURIComponent(given))
    response.setHeader('x-plain', given)
    const chunks = [answer(given)].flat()
    const next = (): void => {
      const chunk = chunks.shift()
      if (chunk) response.write(chunk, () => setImmediate(next))
      else response.end()
    }
    next()
  })
  return { ...server, caFile }
}

const addSecret = (kit: Kit, hosts: readonly string[], change: object = {}) =>
  kit.app.addSecret(kit.operator(), {
    name: 'token',
    value: secret,
    description: '',
    capabilities: ['network.credentialed_request'],
    hosts: [...hosts],
    agents: ['a'],
    ...change,
  })

const withSecret = async (
  server: { port: number; caFile: string },
  hosts: readonly string[] = [`safe.example:${server.port}`],
) => {
  const kit = await begin({
    servers: [server],
    settings: { caFile: server.caFile },
    names: { 'safe.example': ['127.0.0.1'], 'other.safe.example': ['127.0.0.1'] },
  })
  await addSecret(kit, hosts)
  return kit
}

test.each([
  ['bearer', `Bearer ${secret}`],
  ['basic', `Basic ${Buffer.from(secret).toString('base64')}`],
  ['header:X-Api-Key', secret],
  ['query:api key', null],
  ['query:key', `/p?a=1&key=${encodeURIComponent(secret)}`],
])('the secret arrives as %s, and nothing of it comes back', async (placement, arrived) => {
  const server = await openReflector((given) => Buffer.from(given))
  await using kit = await withSecret(server)
  const outcome = await kit.invoke('a', 'network.credentialed_request', {
    url: `https://safe.example:${server.port}/p?a=1`,
    secret_name: 'token',
    placement,
  })
  if (arrived === null) return expect(failureIn(outcome)?.type).toBe('InvalidArguments')
  const [hit] = server.hits
  expect(hit?.headers.authorization ?? hit?.headers['x-api-key'] ?? hit?.url).toBe(arrived)
  expect(outcome).toMatchObject({ kind: 'succeeded', data: { status_code: 200 } })
  const text = JSON.stringify([outcome, await kit.audit()])
  expect(text).toContain('[secret:token]')
  for (const form of [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')])
    expect(text).not.toContain(form)
})

const chunked = (bytes: Buffer): Buffer[] =>
  Array.from(bytes, (_byte, at) => bytes.subarray(at, at + 1))

test.each<[string, (given: string) => Buffer | Buffer[], string]>([
  ['plain', (given) => Buffer.from(given), secret],
  ['base64', (given) => Buffer.from(btoa(given)), btoa(secret).slice(0, 20)],
  ['base64url', (given) => Buffer.from(Buffer.from(given).toString('base64url')), 'UzNjcmV0'],
  [
    'hex',
    (given) => Buffer.from(Buffer.from(given).toString('hex')),
    Buffer.from(secret).toString('hex'),
  ],
  ['URL-encoded', (given) => Buffer.from(encodeURIComponent(given)), encodeURIComponent(secret)],
  ['JSON-escaped', (given) => Buffer.from(JSON.stringify({ given })), secret],
  ['split across chunks', (given) => chunked(Buffer.from(`<${given}>`)), secret],
  ['UTF-16', (given) => Buffer.from(given, 'utf16le'), secret],
])('a host that says it back %s is not heard', async (form, answer, shape) => {
  const server = await openReflector(
    (given) => answer(given.replace('Bearer ', '')),
    form === 'UTF-16' ? 'text/plain; charset=utf-16le' : undefined,
  )
  await using kit = await withSecret(server)
  const answered = await ask(kit, 'credentialed_request', {
    url: `https://safe.example:${server.port}/`,
    secret_name: 'token',
  })
  expect(server.hits).toHaveLength(1)
  expect(JSON.stringify(answered)).not.toContain(shape)
  // Nor by a later call that knows nothing of the secret.
  const later = await ask(kit, 'http_request', {
    url: `https://safe.example:${server.port}/${encodeURIComponent('x')}`,
    headers: { 'x-api-key': 'other' },
  })
  expect(JSON.stringify(later)).not.toContain(shape)
})

test('a cut does not leave the beginning of a secret behind', async () => {
  const server = await openReflector((given) => Buffer.from(`0123456789${given.slice(7)}`))
  await using kit = await withSecret(server)
  for (const max_bytes of [12, 20, 30])
    expect(
      (
        await ask(kit, 'credentialed_request', {
          url: `https://safe.example:${server.port}/`,
          secret_name: 'token',
          max_bytes,
        })
      )['body'],
    ).toBe('0123456789[secret:token]'.slice(0, max_bytes))
})

test('the secret goes to its host, by https and at its port alone', async () => {
  const server = await openReflector(() => Buffer.from(''))
  await using kit = await withSecret(server)
  const { port } = server
  const typeFor = (url: string) =>
    typeOf(kit, 'credentialed_request', { url, secret_name: 'token' })
  for (const host of ['safe.example', 'SAFE.example.', 'ｓafe.example'])
    expect(await typeFor(`https://${host}:${port}/`), host).toBeUndefined()
  expect(server.hits).toHaveLength(3)
  for (const host of [
    'safe.example.evil.example',
    'other.safe.example',
    '127.0.0.1',
    'evil.example',
  ])
    expect(await typeFor(`https://${host}:${port}/`), host).toBe('SecretNotAllowed')
  expect(await typeFor('https://safe.example/')).toBe('SecretNotAllowed')
  expect(await typeFor(`http://safe.example:${port}/`)).toBe('UrlNotAllowed')
  expect((await kit.app.showSecret(kit.operator(), { name: 'token' })).uses).toBe(3)
  expect(await typeFor(`https://x@safe.example:${port}/`)).toBe('InvalidArguments')
  expect(
    await typeOf(kit, 'credentialed_request', {
      url: `https://safe.example:${port}/`,
      secret_name: 'nothing',
    }),
  ).toBe('SecretNotAllowed')
  expect(server.hits).toHaveLength(3)
})

test('a redirect carries the secret on at its origin and to no other', async () => {
  const authority = await makeAuthority()
  const other = await openSafe(authority.pair)
  let location = ''
  const server = await openSafe(authority.pair, (request, response) => {
    if (request.url === '/go') response.writeHead(307, { location }).end()
    else response.end('here')
  })
  await using kit = await begin({
    servers: [server, other],
    settings: { caFile: authority.caFile },
    names: { 'safe.example': ['127.0.0.1'], 'other.safe.example': ['127.0.0.1'] },
  })
  await addSecret(kit, [`safe.example:${server.port}`, `safe.example:${other.port}`])
  const go = {
    url: `https://safe.example:${server.port}/go`,
    secret_name: 'token',
    method: 'POST',
    body: 'x',
  }
  location = '/end'
  expect(await ask(kit, 'credentialed_request', go)).toMatchObject({ body: 'here' })
  expect(server.hits.map(({ headers }) => headers.authorization)).toEqual([
    `Bearer ${secret}`,
    `Bearer ${secret}`,
  ])
  location = `https://safe.example:${other.port}/end`
  expect(await ask(kit, 'credentialed_request', go)).toMatchObject({ body: 'safe' })
  expect(other.hits[0]?.headers.authorization).toBeUndefined()
  expect(other.hits[0]?.method).toBe('GET')
  // However the host writes the secret into the address that it leads to.
  for (const form of [
    encodeURIComponent(secret),
    btoa(secret),
    Buffer.from(secret).toString('hex'),
  ]) {
    location = `https://safe.example:${other.port}/?${form}`
    expect(await typeOf(kit, 'credentialed_request', go), form).toBe('RedirectRefused')
  }
  location = `http://safe.example:${other.port}/end`
  expect(await typeOf(kit, 'credentialed_request', go)).toBe('RedirectRefused')
  expect(other.hits).toHaveLength(1)
})

const content = Buffer.from('what is kept '.repeat(50_000))
const sha256 = createHash('sha256').update(content).digest('hex')

test('a download is whole, hashed and in its place, and one that fails leaves nothing', async () => {
  let mode: 'whole' | 'broken' | 'missing' = 'whole'
  await using server = await openCanary('127.0.0.1', (request, response) => {
    if (mode === 'missing') response.writeHead(404).end('no')
    else if (mode === 'broken') {
      response.writeHead(200, { 'content-length': content.length })
      response.write(content.subarray(0, 1000), () => response.destroy())
    } else if (request.url === '/go') response.writeHead(302, { location: '/file' }).end()
    else {
      response.setHeader('content-type', 'application/x-tar')
      response.end(content)
    }
  })
  await using kit = await begin({ servers: [server] })
  const folder = kit.workspace('a')
  const told: number[] = []
  const outcome = await kit.invoke(
    'a',
    'network.download',
    { url: `${server.url}/go`, path: 'in/file.tar', create_parents: true, sha256 },
    { progress: (done) => told.push(done) },
  )
  expect(outcome).toMatchObject({
    kind: 'succeeded',
    data: {
      path: join(folder, 'in/file.tar'),
      size_bytes: content.length,
      sha256,
      created: true,
      url: `${server.url}/file`,
      content_type: 'application/x-tar',
    },
  })
  expect(told.at(-1)).toBe(content.length)
  expect(readFileSync(join(folder, 'in/file.tar')).equals(content)).toBe(true)

  const fails = async (args: object, type: string) => {
    const seen = server.hits.length
    expect(await typeOf(kit, 'download', { url: `${server.url}/file`, path: 'b', ...args })).toBe(
      type,
    )
    expect(readdirSync(folder)).toEqual(['in'])
    expect(readdirSync(join(folder, 'in'))).toEqual(['file.tar'])
    return server.hits.length - seen
  }
  expect(
    await fails(
      { sha256: sha256.replace(/^./, 'f') === sha256 ? 'a'.repeat(64) : 'f'.repeat(64) },
      'DigestMismatch',
    ),
  ).toBe(1)
  expect(await fails({ max_bytes: 1000 }, 'ResponseTooLarge')).toBe(1)
  // A file that cannot be written is not asked for.
  expect(await fails({ path: 'in/file.tar' }, 'AlreadyExists')).toBe(0)
  expect(await fails({ path: '../../out' }, 'PathOutOfScope')).toBe(0)
  expect(await fails({ path: 'no/such/file' }, 'FolderNotFound')).toBe(0)
  expect(await fails({ path: 'in', overwrite: true }, 'IsADirectory')).toBe(0)
  mode = 'missing'
  expect(await fails({}, 'ResponseRefused')).toBe(1)
  mode = 'broken'
  expect(await fails({}, 'HostUnreachable')).toBe(1)
  expect(await fails({ path: 'in/file.tar', overwrite: true }, 'HostUnreachable')).toBe(1)
  expect(readFileSync(join(folder, 'in/file.tar')).equals(content)).toBe(true)
})

test('a download replaces a file only where it may', async () => {
  await using server = await openCanary('127.0.0.1')
  await using kit = await begin({ servers: [server] })
  await ask(kit, 'download', { url: server.url, path: 'a' })
  writeFileSync(join(kit.workspace('a'), 'a'), 'mine')
  expect(await typeOf(kit, 'download', { url: server.url, path: 'a' })).toBe('AlreadyExists')
  expect(await ask(kit, 'download', { url: server.url, path: 'a', overwrite: true })).toMatchObject(
    {
      created: false,
    },
  )
  expect(readFileSync(join(kit.workspace('a'), 'a'), 'utf8')).toBe('canary')
})

test('a download that its caller ends leaves nothing behind', async () => {
  const stop = new AbortController()
  await using server = await openCanary('127.0.0.1', (_request, response) => {
    response.write('begun', () => setTimeout(() => stop.abort(), 50))
  })
  await using kit = await begin({ servers: [server] })
  mkdirSync(kit.workspace('a'), { recursive: true })
  const outcome = await kit.invoke(
    'a',
    'network.download',
    { url: server.url, path: 'a' },
    { signal: stop.signal },
  )
  expect(failureIn(outcome)?.type).toBe('Cancelled')
  await expect.poll(() => readdirSync(kit.workspace('a'))).toEqual([])
  expect(existsSync(join(kit.workspace('a'), 'a'))).toBe(false)
})

test('names and ports are looked at under the guard', async () => {
  await using server = await openCanary('127.0.0.1')
  await using kit = await begin({
    servers: [server],
    names: { 'public.example': ['93.184.216.34'], 'inside.example': ['10.0.0.1'] },
  })
  expect(await ask(kit, 'dns_lookup', { hostname: 'Public.example.' })).toEqual({
    hostname: 'public.example',
    addresses: ['93.184.216.34'],
    total: 1,
  })
  for (const hostname of ['inside.example', 'no.example', '10.0.0.1'])
    expect(await typeOf(kit, 'dns_lookup', { hostname })).toBe('HostUnreachable')
  const there = { host: '127.1', port: server.port, timeout_seconds: 30 }
  expect(await ask(kit, 'port_check', there)).toMatchObject({
    host: '127.0.0.1',
    open: true,
    latency_ms: expect.any(Number),
  })
  for (const host of ['inside.example', 'no.example', '10.0.0.1', '::1'])
    expect(await ask(kit, 'port_check', { host, port: server.port })).toEqual({
      host,
      port: server.port,
      open: false,
      latency_ms: null,
    })
})

test('where nothing is written in policy, a person is asked before anything leaves', async () => {
  await using kit = await begin({ policy: 'version: 1\nrules: []\n' })
  const kindOf = async (name: string, args: object) =>
    (await kit.invoke('a', `network.${name}`, args)).kind
  const url = 'https://a.example/'
  expect(await kindOf('http_request', { url })).toBe('pending')
  expect(await kindOf('credentialed_request', { url, secret_name: 'token' })).toBe('pending')
  expect(await kindOf('download', { url, path: 'a' })).toBe('pending')
  expect(await kindOf('port_check', { host: 'a.example', port: 443 })).toBe('pending')
  expect(await kindOf('dns_lookup', { hostname: 'a.example' })).toBe('failed')
})
