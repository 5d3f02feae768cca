import type { RequestListener } from 'node:http'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import type { OutboundDeps } from '../../src/outbound/create-outbound.ts'
import {
  get,
  namesFrom,
  never,
  openCanary,
  outboundWith,
  textOf,
  type WayOut,
} from '../../src/outbound/testing.ts'
import { leavingPeer } from '../kit/leaving-peer.ts'
import { makeAuthority, openSafe } from './safe-server.ts'

const hello: RequestListener = (_request, response) => response.end('hello')

const opened = async (
  listener: RequestListener = hello,
  settings: WayOut = {},
  deps: Partial<OutboundDeps> = {},
) => {
  const server = await openCanary('127.0.0.1', listener)
  onTestFinished(() => server[Symbol.asyncDispose]())
  const privateTargets = [`127.0.0.1:${server.port}`]
  const outbound = outboundWith({ privateTargets, ...settings }, deps)
  const keep = (url = server.url) => {
    const kept = outbound.keepConnections(url)
    onTestFinished(() => kept[Symbol.dispose]())
    return async (to = url, change: object = {}) => {
      await using response = await kept.request(get(to, change), never)
      return await textOf(response.body)
    }
  }
  /** Which connection each request came over, by the order in which they were made. */
  const over = () => {
    const sockets = [...new Set(server.hits.map(({ socket }) => socket))]
    return server.hits.map(({ socket }) => sockets.indexOf(socket))
  }
  return { server, outbound, keep, over }
}

test('requests of one caller follow each other over one connection, and those of another over another', async () => {
  const { server, keep, over } = await opened()
  const [alpha, beta] = [keep(), keep()]
  for (const ask of [alpha, alpha, beta, alpha, beta]) expect(await ask()).toBe('hello')
  expect(over()).toEqual([0, 0, 1, 0, 1])
  expect(server.hits.map(({ headers }) => headers.connection)).not.toContain('close')
  // At once they have one each.
  await Promise.all([alpha(), alpha(), alpha()])
  expect(server.connections()).toBe(4)
})

test('a request that comes before the end of a kept connection was heard is not sent into nothing', async () => {
  await using peer = await leavingPeer()
  const url = `http://127.0.0.1:${peer.port}/`
  const outbound = outboundWith({ privateTargets: [`127.0.0.1:${peer.port}`] })
  using kept = outbound.keepConnections(url)
  const ask = async () => {
    await using response = await kept.request(
      get(url, { method: 'POST', body: Buffer.of(1) }),
      never,
    )
    return textOf(response.body)
  }
  expect(await ask()).toBe('{}')
  // The connection is free again.
  await new Promise((resolve) => setImmediate(resolve))
  peer.leave()
  // Nobody listens there any more, which is known of a new connection; nothing was lost with the old one.
  await expect(ask()).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } })
})

test('an answer without a body, and one that is encoded, leave the connection good for the next', async () => {
  const { keep, over } = await opened((request, response) => {
    if (request.method === 'POST') response.writeHead(202).end()
    else response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('hello'))
  })
  const ask = keep()
  for (let i = 0; i < 3; i += 1) {
    expect(await ask(undefined, { method: 'POST', body: Buffer.from('{}') })).toBe('')
    expect(await ask()).toBe('hello')
  }
  expect(new Set(over()).size).toBe(1)
})

test('an answer that is not read to its end ends its connection', async () => {
  const { server, outbound, over } = await opened((_request, response) => {
    response.write('x'.repeat(100_000))
    setImmediate(() => response.write('and so on'))
  })
  using kept = outbound.keepConnections(server.url)
  for (let i = 0; i < 2; i += 1) {
    const response = await kept.request(get(server.url), never)
    await response[Symbol.asyncDispose]()
  }
  expect(over()).toEqual([0, 1])
  await expect.poll(() => server.hits.every(({ socket }) => socket.destroyed)).toBe(true)
})

test('a call that is given up ends its connection, and the next has another', async () => {
  const gone = new AbortController()
  const { server, outbound, over } = await opened((request, response) => {
    if (request.url === '/hangs') gone.abort(new Error('given up'))
    else response.end('hello')
  })
  using kept = outbound.keepConnections(server.url)
  await expect(kept.request(get(`${server.url}/hangs`), gone.signal)).rejects.toThrow('given up')
  await using response = await kept.request(get(server.url), never)
  expect(await textOf(response.body)).toBe('hello')
  expect(over()).toEqual([0, 1])
})

test('an address that may not be reached any more is not reached over a connection that is open', async () => {
  const ownPorts = new Set<number>()
  const { server, keep } = await opened(hello, {}, { ownPorts: () => ownPorts })
  const ask = keep()
  expect(await ask()).toBe('hello')
  ownPorts.add(server.port)
  await expect(ask()).rejects.toMatchObject({ type: 'HostUnreachable' })
  expect(server.hits).toHaveLength(1)
  expect(server.connections()).toBe(1)
})

test('a connection serves the name that it was made for alone, and stays where that name led then', async () => {
  const resolve = namesFrom({
    'a.example': [['127.0.0.1'], ['10.0.0.1']],
    'b.example': ['127.0.0.1'],
  })
  const { server, keep, over } = await opened(hello, {}, { resolve })
  const [a, b] = ['a', 'b'].map((name) => `http://${name}.example:${server.port}/`)
  const ask = keep(a)
  await ask()
  await ask()
  await ask(b)
  expect(over()).toEqual([0, 0, 1])
  expect(resolve.asked).toEqual(['a.example', 'b.example'])
  expect(server.hits[2]?.headers.connection).toBe('close')
})

test('a certificate is looked at for the name of each connection', async () => {
  const { pair, caFile } = await makeAuthority()
  const { port, hits } = await openSafe(pair)
  const resolve = namesFrom({ 'safe.example': ['127.0.0.1'], 'x.example': ['127.0.0.1'] })
  const outbound = outboundWith({ privateTargets: [`127.0.0.1:${port}`], caFile }, { resolve })
  using kept = outbound.keepConnections(`https://safe.example:${port}/`)
  for (let i = 0; i < 2; i += 1) {
    await using response = await kept.request(get(`https://safe.example:${port}/`), never)
    expect(await textOf(response.body)).toBe('safe')
  }
  expect(new Set(hits.map(({ socket }) => socket)).size).toBe(1)
  const other = kept.request(get(`https://x.example:${port}/`), never)
  await expect(other).rejects.toMatchObject({ type: 'TlsFailed' })
})

test('a request whose connection breaks off is not sent again', async () => {
  const { server, keep } = await opened((request, response) => {
    if (request.url === '/act') request.socket.destroy()
    else response.end('hello')
  })
  const ask = keep()
  await ask()
  await expect(ask(`${server.url}/act`, { method: 'POST' })).rejects.toMatchObject({
    type: 'HostUnreachable',
  })
  expect(server.hits.map(({ url }) => url)).toEqual(['/', '/act'])
  expect(await ask()).toBe('hello')
})

test('a server that waits for no other request is left, and one that closes meanwhile is called anew', async () => {
  const { server, keep, over } = await opened((request, response) => {
    if (request.url === '/short') response.setHeader('keep-alive', 'timeout=1')
    if (request.url === '/close') response.setHeader('connection', 'close')
    response.end('hello')
  })
  const ask = keep()
  for (const path of ['short', 'close', 'on'])
    expect(await ask(`${server.url}/${path}`)).toBe('hello')
  expect(over()).toEqual([0, 1, 2])
  const { socket } = server.hits[2] as { socket: import('node:net').Socket }
  const closed = new Promise((resolve) => socket.once('close', resolve))
  server.hits[2]?.socket.end()
  await closed
  expect(await ask()).toBe('hello')
})

test('whoever is done leaves no connection behind', async () => {
  const { server, outbound } = await opened()
  const kept = outbound.keepConnections(server.url)
  await using response = await kept.request(get(server.url), never)
  expect(await textOf(response.body)).toBe('hello')
  kept[Symbol.dispose]()
  await expect.poll(() => server.hits[0]?.socket.destroyed).toBe(true)
  await expect(kept.request(get(server.url), never)).rejects.toMatchObject({
    type: 'HostUnreachable',
  })
})
