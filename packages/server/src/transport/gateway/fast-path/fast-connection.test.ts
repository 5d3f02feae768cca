import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { GatehouseError } from '@gatehouse/contract'
import { until } from '@gatehouse/testkit/until'
import { describe, expect, test } from 'vitest'
import { openKit, tokens } from '../../../../test/kit/gateway-kit.ts'
import { keepAliveMs } from '../../http/limits.ts'
import { FastConnection, type FastPath } from './fast-connection.ts'
import type { FastResponse } from './fast-response.ts'

const request = (id: string, capability: string): string => {
  const params = { capability, arguments: { text: id } }
  const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'capabilities.invoke', params })
  const lines = [
    'POST /rpc HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${tokens.alpha}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ]
  return [...lines, '', body].join('\r\n')
}

/** A peer and what it has heard. */
const peerOf = async (port: number) => {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const heard = { text: '', closed: false }
  socket.on('data', (chunk) => (heard.text += chunk.toString('latin1')))
  socket.on('error', () => undefined)
  socket.on('close', () => (heard.closed = true))
  await once(socket, 'connect')
  return { socket, heard }
}

/** One connection of a fast path that answers nothing by itself, and its other end. */
const openPair = async () => {
  const handedOver: Socket[] = []
  const responses: FastResponse[] = []
  const path: FastPath = {
    connections: new Set(),
    serve: (_post, _socket, res) => void responses.push(res),
    handOver: (socket) => void handedOver.push(socket),
  }
  const server = createServer((socket) => void new FastConnection(path, socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const peer = await peerOf((server.address() as AddressInfo).port)
  await until(() => path.connections.size === 1)
  const [connection] = path.connections
  if (!connection) throw new Error('nobody came')
  return {
    ...peer,
    ...{ path, connection, responses, handedOver },
    [Symbol.dispose]() {
      peer.socket.destroy()
      connection.socket.destroy()
      server.close()
    },
  }
}

const answer = (res: FastResponse | undefined): void => {
  res?.writeHead(200, ['Content-Length', '2'])
  res?.end('ok')
}

describe('a connection that is quiet', () => {
  test('between two requests is closed after as long as its answers say', async () => {
    using pair = await openPair()
    pair.socket.write(request('a', 'test.echo'))
    await until(() => pair.responses.length === 1)
    answer(pair.responses[0])
    await until(() => pair.heard.text.endsWith('ok'))
    expect(pair.heard.text).toContain(`Keep-Alive: timeout=${keepAliveMs / 1000}\r\n`)
    pair.connection.sweep(1_000)
    pair.connection.sweep(1_000 + keepAliveMs - 1)
    expect(pair.connection.socket.destroyed).toBe(false)
    pair.connection.sweep(1_000 + keepAliveMs)
    await until(() => pair.heard.closed)
    expect(pair.path.connections.size).toBe(0)
  })

  test('because its request takes long stays open, and has its full time afterwards', async () => {
    using pair = await openPair()
    pair.socket.write(request('a', 'test.echo'))
    await until(() => pair.responses.length === 1)
    for (const looks of [1, 2, 3]) pair.connection.sweep(looks * keepAliveMs)
    pair.connection.closeIdle()
    answer(pair.responses[0])
    await until(() => pair.heard.text.endsWith('ok'))
    pair.connection.sweep(4 * keepAliveMs)
    expect(pair.connection.socket.destroyed).toBe(false)
  })

  test('and has never said anything is waited for as long, and closed without a word', async () => {
    using pair = await openPair()
    pair.connection.sweep(1_000)
    pair.connection.sweep(1_000 + keepAliveMs - 1)
    expect(pair.connection.socket.destroyed).toBe(false)
    pair.connection.sweep(1_000 + keepAliveMs)
    await until(() => pair.heard.closed)
    expect(pair.heard.text).toBe('')
    expect(pair.handedOver).toHaveLength(0)
    expect(pair.path.connections.size).toBe(0)
  })
})

test('slow peers meet the timeouts of node:http', async () => {
  await using kit = await openKit({
    limits: { headersTimeoutMs: 1_000, requestTimeoutMs: 2_000, sweepEveryMs: 5 },
  })
  const silent = await peerOf(kit.port)
  const whole = request('a', 'test.echo')
  const starts = [whole.slice(0, 1), whole.slice(0, 60), whole.slice(0, -1)]
  const behind = starts.map((start) => [whole, start])
  const peers = await Promise.all(
    [...starts.map((start) => [start]), ...behind].map(async (chunks) => {
      const peer = await peerOf(kit.port)
      for (const [i, chunk] of chunks.entries()) {
        peer.socket.write(chunk)
        if (i > 0) continue
        if (chunk === whole) await until(() => peer.heard.text.includes('"id":"a"'))
      }
      return peer
    }),
  )
  await until(() => peers.every(({ heard }) => heard.closed))
  for (const { heard } of peers) expect(heard.text).toMatch(/HTTP\/1\.1 408 .*it came too slowly/s)
  // One that has said nothing is not slow: it was there before them, and its request is served.
  expect(silent.heard).toEqual({ text: '', closed: false })
  silent.socket.write(whole)
  await until(() => silent.heard.text.includes('"id":"a"'))
  silent.socket.destroy()
  await until(() => kit.connections() === 0)
})

describe('while a call runs', () => {
  test.each([
    ['is cut off', (socket: Socket) => socket.resetAndDestroy()],
    ['is closed', (socket: Socket) => socket.destroy()],
    ['is ended by its peer', (socket: Socket) => socket.end()],
  ])('it is aborted when its connection %s', async (_name, leave) => {
    await using kit = await openKit()
    for (const behind of ['', request('b', 'test.echo').slice(0, 90)]) {
      const { socket, heard } = await peerOf(kit.port)
      socket.write(request('a', 'test.wait'))
      await until(() => kit.waiting.length === 1)
      socket.write(behind)
      leave(socket)
      await until(() => kit.waiting[0]?.signal.aborted === true)
      await until(() => kit.connections() === 0 && kit.memory.used === 0)
      expect(heard.text).toBe('')
      kit.waiting.length = 0
    }
  })

  test.each([
    ['a request', [request('b', 'test.echo')]],
    [
      'a request in three parts',
      [0, 50, 100].map((at) =>
        request('b', 'test.echo').slice(at, at === 100 ? undefined : at + 50),
      ),
    ],
    ['many requests', Array.from({ length: 20 }, () => request('b', 'test.echo'))],
    ['more than is kept', [request('b', 'test.echo').repeat(1_000)]],
  ])('%s behind it is answered after it, once', async (_name, chunks) => {
    await using kit = await openKit()
    const count = chunks.join('').split('POST ').length - 1
    const { socket, heard } = await peerOf(kit.port)
    socket.write(request('a', 'test.wait'))
    await until(() => kit.waiting.length === 1)
    for (const chunk of chunks) await new Promise((resolve) => socket.write(chunk, resolve))
    expect(kit.ran).toHaveLength(1)
    kit.waiting[0]?.fail(new GatehouseError('FileNotFound', { path: '/x' }))
    await until(() => heard.text.split('"id":"b"').length === count + 1)
    expect(heard.text.indexOf('"id":"a"')).toBeLessThan(heard.text.indexOf('"id":"b"'))
    expect(kit.ran).toHaveLength(count + 1)
    socket.destroy()
  })
})

test('an answer that its peer does not read keeps its memory, and no next request begins', async () => {
  await using kit = await openKit()
  const { socket, heard } = await peerOf(kit.port)
  socket.pause()
  socket.write(request('a', 'test.wait_large'))
  await until(() => kit.waiting.length === 1)
  const text = 'x'.repeat(9 * 1024 * 1024)
  kit.waiting[0]?.finish(text)
  await until(() => kit.memory.used > text.length)
  socket.write(request('b', 'test.echo'))
  for (let i = 0; i < 50; i++) await new Promise<void>((resolve) => setImmediate(resolve))
  expect(kit.memory.used).toBeGreaterThan(0)
  expect(kit.ran).toHaveLength(1)
  socket.resume()
  await until(() => heard.text.endsWith('}') && heard.text.includes('"id":"b"'))
  expect(heard.text.length).toBeGreaterThan(text.length)
  await until(() => kit.memory.used === 0)
  socket.destroy()
})

test('closing the gateway waits for no connection between two requests', async () => {
  await using kit = await openKit()
  const { socket, heard } = await peerOf(kit.port)
  socket.write(request('a', 'test.echo'))
  await until(() => heard.text.includes('"id":"a"'))
  await kit.close(60_000)
  await until(() => heard.closed)
  expect(heard.text.split('HTTP/1.1 200')).toHaveLength(2)
})
