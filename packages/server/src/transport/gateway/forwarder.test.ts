import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect as connectTcp } from 'node:net'
import { connect, createServer, type TLSSocket } from 'node:tls'
import { until } from '@gatehouse/testkit/until'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type GatewayKit, openKit, tokens } from '../../../test/kit/gateway-kit.ts'
import { KeptLog } from '../../../test/kit/kept-log.ts'
import { leavingPeer } from '../../../test/kit/leaving-peer.ts'
import type { Way } from '../../app/nodes/ways.ts'
import { issueOwn, type Pair } from '../../tls/issue.ts'
import { fingerprintOf } from '../../tls/judge.ts'
import type { TokenFailureReport } from '../http/token-failures.ts'
import { NodeLinks } from './node-links.ts'
import { type Gateway, openGateway } from './open-gateway.ts'

/** Certificates of two nodes and of somebody else. */
const [own, other, stranger] = (await Promise.all(
  ['a', 'b', 'c'].map((name) => issueOwn({ name, nowMs: Date.now() })),
)) as [Pair, Pair, Pair]

/** Facts that the database would tell a node of the other one. */
class Known {
  readonly faults: string[] = []
  readonly certificates = new Set<string>()
  way: Way | null = null
  readonly #away: string | null

  constructor(away: string | null) {
    this.#away = away
  }

  readonly areNeeded = true
  isAway(agent: { readonly name?: string }): boolean {
    return this.#away !== null && agent.name === this.#away
  }
  async to(): Promise<Way | null> {
    return this.faults.length > 0 ? null : this.way
  }
  async all(): Promise<readonly Way[]> {
    return this.way ? [this.way] : []
  }
  /** As files and programs are. */
  isOfNode({ capability }: { readonly capability: string }): boolean {
    return capability.startsWith('test.')
  }
  async isKnown(certificate: string): Promise<boolean> {
    return this.certificates.has(certificate)
  }
  failed({ node }: Way, reason: string): void {
    this.faults.push(`${node}: ${reason}`)
  }
  reached(): void {
    this.faults.length = 0
  }
}

/** `there` has the folders of alpha; `here` is another node on the same store, which serves everybody else. */
let there: GatewayKit
let here: Gateway
let known: { readonly here: Known; readonly there: Known }
let links: { readonly here: NodeLinks; readonly there: NodeLinks }
/** Calls that `here` ran itself. */
let ranHere: number
let failures: TokenFailureReport[]

beforeEach(async () => {
  // The other one believes alpha to be here: nothing may go to and fro.
  known = { here: new Known('alpha'), there: new Known('alpha') }
  const log = new KeptLog()
  links = {
    here: new NodeLinks({ ways: known.here, identity: own, log }),
    there: new NodeLinks({ ways: known.there, identity: other, log }),
  }
  failures = []
  there = await openKit({
    nodes: { links: links.there, ways: known.there as never },
    onTokenFailures: (report) => failures.push(report),
  })
  ranHere = 0
  const app = new Proxy(there.kit.app, {
    get(target, name) {
      if (name === 'invoke') ranHere += 1
      return Reflect.get(target, name)
    },
  })
  here = await openGateway({
    ...{ host: '127.0.0.1', port: 0, app, ids: there.kit.parts.ids, log, version: '1.1.1' },
    ...{ allowedHosts: [], allowedOrigins: ['https://dash.example'] },
    nodes: { links: links.here, ways: known.here as never },
  })
  const [host, certificate] = ['127.0.0.1', fingerprintOf(other.cert)]
  known.here.way = {
    node: 'node-b',
    site: 'site-b',
    url: there.url,
    host,
    port: there.port,
    certificate,
  }
  known.there.way = {
    ...{ node: 'node-a', site: 'site-a', url: here.url, host, port: here.port },
    certificate: fingerprintOf(own.cert),
  }
  known.here.certificates.add(certificate)
  known.there.certificates.add(fingerprintOf(own.cert))
})
afterEach(async () => {
  await here.close(0)
  links.here[Symbol.dispose]()
  await there.close(0)
  links.there[Symbol.dispose]()
})

const headersOf = (agent: keyof typeof tokens) => ({
  Authorization: `Bearer ${tokens[agent]}`,
  'Content-Type': 'application/json',
})
const callOf = (capability: string, args: object = { text: 'x' }) => ({
  ...{ jsonrpc: '2.0', id: 1, method: 'capabilities.invoke' },
  params: { capability, arguments: args },
})

const rpc = async (agent: keyof typeof tokens, name: string, args?: object) => {
  const body = JSON.stringify(callOf(name, args))
  const answer = await fetch(`${here.url}/rpc`, { method: 'POST', headers: headersOf(agent), body })
  return { status: answer.status, value: (await answer.json()) as Record<string, unknown> }
}

const clientFor = (agent: keyof typeof tokens) =>
  new StreamableHTTPClientTransport(new URL(`${here.url}/mcp`), {
    requestInit: { headers: headersOf(agent) },
  })

test('a whole request is answered by the node that has the folders, and everybody else here', async () => {
  const away = await rpc('alpha', 'test.echo')
  expect(away).toMatchObject({ status: 200, value: { id: 1, result: { success: true } } })
  expect(ranHere).toBe(0)
  expect(there.connections()).toBe(1)
  const home = await rpc('beta', 'test.echo')
  expect(home.value['result']).toMatchObject({ success: true })
  expect(ranHere).toBeGreaterThan(0)
  // What needs no folder is answered where it comes.
  const before = ranHere
  await rpc('alpha', 'agent.whoami', {})
  expect(ranHere).toBeGreaterThan(before)
  // A batch with one such call is answered there as a whole.
  const batch = [callOf('agent.whoami', {}), { ...callOf('test.echo'), id: 2 }]
  const answers = await fetch(`${here.url}/rpc`, {
    ...{ method: 'POST', headers: headersOf('alpha'), body: JSON.stringify(batch) },
  })
  expect(await answers.json()).toMatchObject([
    { id: 1, result: { success: true } },
    { id: 2, result: { success: true } },
  ])
  expect(ranHere).toBe(before + 1)
  // The connection between the nodes is used again.
  await rpc('alpha', 'test.echo')
  expect(there.connections()).toBe(1)
})

test('calls of a session of MCP are answered there, and its notifications come from here', async () => {
  const client = new Client({ name: 'probe', version: '1' })
  let changes = 0
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++)
  const transport = clientFor('alpha')
  await client.connect(transport as never)
  const result = await client.callTool({ name: 'test__echo', arguments: { text: 'x' } })
  expect(result.isError ?? false).toBe(false)
  await until(() => {
    there.emit('alpha', 'tools.changed')
    return changes > 0
  })
  await transport.terminateSession()
  await client.close()
  expect(ranHere).toBe(0)
})

test('how far a call is comes from there while it runs', async () => {
  const client = new Client({ name: 'probe', version: '1' })
  await client.connect(clientFor('alpha') as never)
  const told: unknown[] = []
  const ended = client.callTool({ name: 'test__wait', arguments: { text: 'x' } }, undefined, {
    onprogress: ({ progress, total, message }) => told.push([progress, total, message]),
  })
  await until(() => there.waiting.length > 0)
  there.waiting[0]?.progress(1, 2, 'half')
  await until(() => told.length > 0)
  expect(told).toEqual([[1, 2, 'half']])
  there.waiting[0]?.finish()
  expect((await ended).isError ?? false).toBe(false)
  expect(ranHere).toBe(0)
  await client.close()
})

test('a WebSocket goes on there, wherever its token stands, and closes with it', async () => {
  const socket = new WebSocket(`${here.mcpUrl}?token=${tokens.alpha}`)
  await once(socket, 'open')
  const params = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'p', version: '1' },
  }
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }))
  const [bytes] = (await once(socket, 'message')) as [Buffer]
  expect(JSON.parse(bytes.toString())).toMatchObject({ id: 1, result: {} })
  expect(there.connections()).toBe(1)
  expect(ranHere).toBe(0)
  socket.close()
  await once(socket, 'close')
  await until(() => there.connections() === 0 && here.connections() === 0)

  const again = new WebSocket(here.mcpUrl, { headers: headersOf('alpha') })
  await once(again, 'open')
  const closed = once(again, 'close')
  await there.close(0)
  await closed
})

test('agents of both nodes may use one connection, as those behind a proxy do', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ask = (name: keyof typeof tokens): Promise<string> =>
    new Promise((resolve, reject) => {
      const { port } = here
      const req = request({ agent, port, path: '/rpc', method: 'POST', headers: headersOf(name) })
      req.on('error', reject).on('response', (answer) => {
        let text = ''
        answer
          .on('data', (chunk: Buffer) => (text += chunk.toString()))
          .on('end', () => resolve(text))
      })
      // In chunks it is no plain post: node:http reads it.
      const body = JSON.stringify(callOf('test.echo'))
      req.write(body.slice(0, 9))
      setImmediate(() => req.end(body.slice(9)))
    })
  for (const name of ['alpha', 'beta', 'alpha', 'beta'] as const) {
    const before = ranHere
    expect(await ask(name)).toContain('"success":true')
    expect(ranHere > before).toBe(name === 'beta')
  }
  expect(here.connections()).toBe(1)
  agent.destroy()
})

test('a client that goes away takes its call there back', async () => {
  const leaving = new AbortController()
  const body = JSON.stringify(callOf('test.wait'))
  const call = fetch(`${here.url}/rpc`, {
    ...{ method: 'POST', headers: headersOf('alpha'), body, signal: leaving.signal },
  }).catch(() => 'gone')
  await until(() => there.waiting.length === 1)
  leaving.abort()
  expect(await call).toBe('gone')
  await until(() => there.underWay() === 0)
})

test('what the other node refuses is refused, with its reason', async () => {
  const large = { text: 'x'.repeat(11 * 1024 * 1024) }
  // The body is read here.
  const refused = await rpc('alpha', 'test.echo', large)
  expect(refused).toMatchObject({ status: 413, value: { error: { code: -32600 } } })
  expect(await rpc('alpha', 'test.blocked')).toMatchObject({
    value: { error: { message: expect.stringContaining('Policy says no.') as string } },
  })
  expect(ranHere).toBe(0)
})

test('where the other node does not answer the call is served here, and why is known', async () => {
  known.here.way = { ...(known.here.way as Way), port: 1 }
  expect((await rpc('alpha', 'test.echo')).value).toMatchObject({ result: { success: true } })
  expect(known.here.faults).toEqual(['node-b: ECONNREFUSED'])
  expect(ranHere).toBeGreaterThan(0)
})

test('a call that comes before the end of a kept connection was heard is served, and not sent into nothing', async () => {
  await using node = await leavingPeer({ secured: other, greeting: Buffer.of(6) })
  known.here.way = { ...(known.here.way as Way), port: node.port }
  expect((await rpc('alpha', 'test.echo')).value).toEqual({})
  expect(ranHere).toBe(0)
  const { to } = known.here
  known.here.to = async () => {
    const way = await to.call(known.here)
    node.leave()
    known.here.to = to
    return way
  }
  expect((await rpc('alpha', 'test.echo')).value).toMatchObject({ result: { success: true } })
  expect(known.here.faults).toEqual(['node-b: ECONNREFUSED'])
  expect(ranHere).toBeGreaterThan(0)
})

test('somebody else at the address of the other node is sent nothing', async () => {
  const heard: string[] = []
  const impostor = createServer({ ...stranger, requestCert: true, rejectUnauthorized: false })
  impostor.on('secureConnection', (socket) => {
    socket.on('data', (chunk: Buffer) => heard.push(chunk.toString())).on('error', () => undefined)
  })
  impostor.listen(0, '127.0.0.1')
  await once(impostor, 'listening')
  const { port } = impostor.address() as { port: number }
  known.here.way = { ...(known.here.way as Way), port }
  expect((await rpc('alpha', 'test.echo')).value).toMatchObject({ result: { success: true } })
  expect(known.here.faults).toEqual(['node-b: another certificate is shown there'])
  expect(heard).toEqual([])
  impostor.close()
})

/** What a connection of TLS to `there` hears of a request, until it closes. */
const heardBy = async (options: Partial<Pair>): Promise<string> => {
  const { port } = there
  const socket = connect({ ...options, host: '127.0.0.1', port, rejectUnauthorized: false })
  return heardOf(socket)
}

const heardOf = async (socket: TLSSocket): Promise<string> => {
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString())).on('error', () => undefined)
  socket.write(
    'POST /rpc HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 192.0.2.7\r\nConnection: close\r\n' +
      `Authorization: Bearer ${'0'.repeat(64)}\r\nContent-Length: 0\r\n\r\n`,
  )
  await once(socket, 'close')
  return text
}

test('who shows no certificate of a node that runs is told nothing', async () => {
  expect(await heardBy({})).toBe('')
  expect(await heardBy(stranger)).toBe('')
  expect(failures).toEqual([])
  // A node's own requests are judged like any other, under the address that it names.
  expect(await heardBy(own)).toContain('401 Unauthorized')
  expect(failures).toMatchObject([{ address: '192.0.2.7' }])
  known.there.certificates.clear()
  expect(await heardBy(own)).toBe('')
})

test('where the other node does not know this one the call is served here', async () => {
  known.there.certificates.clear()
  expect((await rpc('alpha', 'test.echo')).value).toMatchObject({ result: { success: true } })
  expect(known.here.faults).toEqual(['node-b: the connection was closed'])
  known.here.reached()
  const socket = new WebSocket(here.mcpUrl, { headers: headersOf('alpha') })
  await once(socket, 'open')
  expect(known.here.faults).toHaveLength(1)
  expect(there.connections()).toBe(0)
  socket.close()
})

test('noise that begins like TLS is closed, and takes no place', async () => {
  const socket = connectTcp(there.port, '127.0.0.1')
  socket.on('error', () => undefined).resume()
  socket.write(Buffer.from([0x16, 3, 1, 0, 5, 9, 9, 9, 9, 9]))
  await once(socket, 'close')
  await until(() => there.connections() === 0)
  expect((await rpc('alpha', 'test.echo')).status).toBe(200)
  expect(ranHere).toBe(0)
})

test.each([
  ['gone', () => (known.here.way = null), 1],
  ['cut off', () => (known.here.way = { ...(known.here.way as Way), port: 1 }), 3],
])('a node that is %s is left, with all that waits for it', async (_, happens, looks) => {
  const body = JSON.stringify(callOf('test.wait'))
  const call = fetch(`${here.url}/rpc`, { method: 'POST', headers: headersOf('alpha'), body }).then(
    () => 'answered',
    () => 'gone',
  )
  await until(() => there.waiting.length === 1)
  await links.here.look()
  happens()
  for (let look = 0; look < looks; look += 1) await links.here.look()
  expect(await call).toBe('gone')
})

test('a node that takes no new connection is kept as long as it says something', async () => {
  const socket = new WebSocket(here.mcpUrl, { headers: headersOf('alpha') })
  await once(socket, 'open')
  known.here.way = { ...(known.here.way as Way), port: 1 }
  for (let look = 0; look < 6; look += 1) {
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: look, method: 'ping' }))
    await once(socket, 'message')
    await links.here.look()
  }
  expect(socket.readyState).toBe(WebSocket.OPEN)
  socket.close()
})

test('a node that stops ends what waits for nothing, and lets a call be answered', async () => {
  const idle = new WebSocket(here.mcpUrl, { headers: headersOf('alpha') })
  await once(idle, 'open')
  const body = JSON.stringify(callOf('test.wait'))
  const call = fetch(`${here.url}/rpc`, { method: 'POST', headers: headersOf('alpha'), body })
  await until(() => there.waiting.length === 1)
  const idleClosed = once(idle, 'close')
  const closed = here.close(60_000)
  await idleClosed
  there.waiting[0]?.finish()
  expect((await call).status).toBe(200)
  await closed
})
