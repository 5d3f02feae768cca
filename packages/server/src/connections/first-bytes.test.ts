import { once } from 'node:events'
import { createServer as createPlain, type Server } from 'node:http'
import { createServer as createSecure } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { connect as connectSecure } from 'node:tls'
import { until } from '@gatehouse/testkit/until'
import { expect, onTestFinished, test } from 'vitest'
import { issueAuthority, issueLeaf } from '../tls/issue.ts'
import { awaitFirstBytes } from './first-bytes.ts'

const names = { dns: [], ip: ['127.0.0.1'] }
const request = 'GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n'

const settings = { headersTimeout: 100, connectionsCheckingInterval: 10, keepAliveTimeout: 60_000 }

type Made = { readonly server: Server; readonly dial: (port: number) => Socket }

const makers: Record<'http' | 'https', () => Promise<Made>> = {
  http: async () => ({
    server: createPlain(settings),
    dial: (port) => connect(port, '127.0.0.1'),
  }),
  async https() {
    const authority = await issueAuthority({ names, nowMs: Date.now() })
    const leaf = await issueLeaf({ authority, names, nowMs: Date.now() })
    return {
      server: createSecure({ ...settings, ...leaf }),
      dial: (port) => connectSecure({ port, host: '127.0.0.1', ca: authority.cert }),
    }
  },
}

/** A server that waits `silentMs` for first bytes, and how to connect to it. */
const open = async (kind: keyof typeof makers, silentMs: number) => {
  const { server, dial } = await makers[kind]()
  awaitFirstBytes(server, kind === 'http' ? 'connection' : 'secureConnection', silentMs)
  server.on('request', (req, res) => res.end(`served ${req.url}`))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const peers: Socket[] = []
  onTestFinished(() => {
    for (const peer of peers) peer.destroy()
    server.close()
  })
  return async () => {
    const socket = dial(port)
    peers.push(socket)
    const heard = { text: '', closed: false }
    socket.on('data', (chunk) => (heard.text += chunk.toString('latin1')))
    socket.on('error', () => undefined)
    socket.on('close', () => (heard.closed = true))
    await once(socket, kind === 'http' ? 'connect' : 'secureConnect')
    return { socket, heard }
  }
}

test.each(['http', 'https'] as const)(
  '%s: a request is served however late it comes, and one that comes slowly is refused',
  async (kind) => {
    const peer = await open(kind, 60_000)
    const silent = await peer()
    const slow = await peer()
    slow.socket.write(request.slice(0, 9))
    // Node looks at all connections at once: it has looked at the silent one, too.
    await until(() => slow.heard.closed)
    expect(slow.heard.text).toContain('408 Request Timeout')
    expect(silent.heard).toEqual({ text: '', closed: false })
    for (const times of [1, 2]) {
      silent.socket.write(request)
      await until(() => silent.heard.text.split('served /x').length === times + 1)
    }
  },
)

test.each(['http', 'https'] as const)(
  '%s: a connection on which nothing is said is closed in its time, without a word',
  async (kind) => {
    const peer = await open(kind, 50)
    const { heard } = await peer()
    await until(() => heard.closed)
    expect(heard.text).toBe('')
  },
)

test('a peer that ends without a word is let go', async () => {
  const peer = await open('http', 60_000)
  const { socket, heard } = await peer()
  socket.end()
  await until(() => heard.closed)
  expect(heard.text).toBe('')
})
