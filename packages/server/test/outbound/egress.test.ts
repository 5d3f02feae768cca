import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { request as send } from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createDialler } from '../../src/outbound/dial.ts'
import { createHostPatterns } from '../../src/outbound/egress-patterns.ts'
import { Guard } from '../../src/outbound/guard.ts'
import { openEgress } from '../../src/outbound/open-egress.ts'
import { namesFrom, openCanary, outboundWith } from '../../src/outbound/testing.ts'
import type { Egress } from '../../src/ports/outbound.ts'

type Answer = { readonly status: number; readonly text: string }

/** As curl does by `https_proxy`: CONNECT, and then whatever the tunnel is for. */
const throughTunnel = (egress: Egress, authority: string, bytes = ''): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const socket = connect(egress.socket, () =>
      socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`),
    )
    let text = ''
    let sent = false
    socket.on('data', (chunk) => {
      text += chunk.toString()
      if (sent || !text.startsWith('HTTP/1.1 200')) return
      sent = true
      text = ''
      socket.write(bytes)
    })
    socket.on('error', reject)
    socket.on('close', () =>
      resolve({
        status: sent ? 200 : Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0),
        text: text.split('\r\n\r\n').slice(1).join(''),
      }),
    )
  })

const plainly = (egress: Egress, url: string, headers = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const host = url.startsWith('/') ? 'a.example' : new URL(url).host
    send({ socketPath: egress.socket, path: url, headers: { host, ...headers }, agent: false })
      .on('error', reject)
      .on('response', (response) => {
        let text = ''
        response.on('data', (chunk) => {
          text += chunk
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      })
      .end()
  })

const httpGet = (host: string) => `GET /x HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`

test('lets a child reach what a pattern names, and says what it refused', async () => {
  await using server = await openCanary('127.0.0.1')
  const outbound = outboundWith(
    { privateTargets: [`127.0.0.1:${server.port}`] },
    { resolve: namesFrom({ 'a.example': ['127.0.0.1'], 'b.a.example': ['127.0.0.1'] }) },
  )
  await using egress = await outbound.openEgress([
    `a.example:${server.port}`,
    `*.a.example:${server.port}`,
  ])
  for (const host of ['a.example', 'B.A.example.']) {
    const answer = await throughTunnel(egress, `${host}:${server.port}`, httpGet(host))
    expect(answer.status).toBe(200)
    expect(answer.text).toContain('canary')
  }
  expect(server.hits.map(({ url }) => url)).toEqual(['/x', '/x'])
  for (const host of ['x.example', 'a.example.x.example', 'xa.example'])
    for (let times = 0; times < 2; times += 1)
      expect(await throughTunnel(egress, `${host}:${server.port}`)).toEqual({
        status: 403,
        text: `host ${host}:${server.port} is not allowed by policy\n`,
      })
  expect((await throughTunnel(egress, 'a.example:443')).status).toBe(403)
  expect(egress.refused()).toEqual([
    { host: 'x.example', port: server.port, times: 2 },
    { host: 'a.example.x.example', port: server.port, times: 2 },
    { host: 'xa.example', port: server.port, times: 2 },
    { host: 'a.example', port: 443, times: 1 },
  ])
  expect(server.hits).toHaveLength(2)
})

test('what a pattern names is still reached under the guard: 0 connections', async () => {
  await using canary = await openCanary('127.0.0.1')
  const { port } = canary
  const outbound = outboundWith(
    {},
    { resolve: namesFrom({ 'a.example': ['127.0.0.1'], 'b.example': ['93.184.216.34', '::1'] }) },
  )
  const hosts = ['a.example', 'b.example', 'no.example', '127.0.0.1', '127.1', '[::1]', 'localhost']
  await using egress = await outbound.openEgress(hosts.map((host) => `${host}:${port}`))
  for (const host of [...hosts, '0x7f.1', '2130706433', '[::ffff:127.0.0.1]']) {
    expect((await throughTunnel(egress, `${host}:${port}`)).status, host).toBeOneOf([403, 502])
    expect((await plainly(egress, `http://${host}:${port}/`)).status, host).toBeOneOf([403, 502])
  }
  expect(canary.connections()).toBe(0)
})

test.each([
  'a.example',
  'a.example:0',
  'a.example:99999',
  '/path',
  'a@b:80',
  '',
  'a.example:80:81',
])('CONNECT %j is no request and is refused', async (authority) => {
  await using egress = await outboundWith().openEgress(['a.example:80'])
  expect((await throughTunnel(egress, authority)).status).toBe(400)
  expect(egress.refused()).toEqual([])
})

test('plain http is passed on where a pattern names its port, without what speaks of the connection', async () => {
  await using server = await openCanary('127.0.0.1', (request, response) => {
    response.setHeader('x-path', request.url ?? '')
    response.end('plain')
  })
  const outbound = outboundWith(
    { privateTargets: [`127.0.0.1:${server.port}`] },
    { resolve: namesFrom({ 'a.example': ['127.0.0.1'] }) },
  )
  await using egress = await outbound.openEgress([`a.example:${server.port}`, 'b.example:443'])
  const headers = {
    connection: 'close, x-hop',
    'x-hop': '1',
    'proxy-authorization': 'Basic x',
    'x-stay': '2',
    host: 'evil.example',
  }
  const url = `http://a.example:${server.port}/p?q=1`
  expect(await plainly(egress, url, headers)).toEqual({ status: 200, text: 'plain' })
  expect(server.hits[0]?.url).toBe('/p?q=1')
  expect(server.hits[0]?.headers).toEqual({
    host: `a.example:${server.port}`,
    'x-stay': '2',
    connection: 'close',
  })
  expect((await plainly(egress, 'http://b.example/')).status).toBe(403)
  expect((await plainly(egress, 'https://b.example/')).status).toBe(400)
  expect((await plainly(egress, '/p')).status).toBe(400)
  expect((await plainly(egress, 'http://u:p@a.example/')).status).toBe(400)
})

test('the folder is closed to others, the socket open to the child, and both are gone in the end', async () => {
  const egress = await outboundWith().openEgress([])
  expect(statSync(dirname(egress.socket)).mode & 0o777).toBe(0o700)
  expect(statSync(egress.socket).mode & 0o777).toBe(0o777)
  expect(Buffer.byteLength(egress.socket)).toBeLessThan(108)
  await egress[Symbol.asyncDispose]()
  expect(existsSync(dirname(egress.socket))).toBe(false)
})

const settings = async (port: number) => ({
  connector: await createDialler({
    guard: new Guard({
      privateTargets: [`127.0.0.1:${port}`],
      origin: '',
      ownPorts: () => new Set(),
    }),
    resolve: namesFrom({}),
    proxy: null,
    secureContext: undefined,
    connectTimeoutMs: 20_000,
    isOpenPort: () => true,
  }),
  folder: '/tmp',
})

const openSilent = async () => {
  const sockets: Socket[] = []
  const server = createServer((socket) => sockets.push(socket.on('error', () => {})))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, sockets }
}

test('a tunnel in which nothing moves is closed at both ends', async () => {
  const { port, sockets } = await openSilent()
  await using egress = await openEgress([`127.0.0.1:${port}`], {
    ...(await settings(port)),
    idleMs: 2_000,
  })
  expect(await throughTunnel(egress, `127.0.0.1:${port}`, 'x')).toEqual({ status: 200, text: '' })
  for (const socket of sockets) socket.resume()
  await expect.poll(() => sockets.every(({ destroyed }) => destroyed)).toBe(true)
})

test('one that says nothing is idle, and no slow request', async () => {
  const egress = await openEgress([], { ...(await settings(1)), headMs: 100 })
  onTestFinished(() => egress[Symbol.asyncDispose]())
  const open = async () => {
    const heard: string[] = []
    const socket = connect(egress.socket).on('data', (chunk) => heard.push(chunk.toString()))
    await once(socket, 'connect')
    return { socket, heard }
  }
  const silent = await open()
  const slow = await open()
  slow.socket.write('CONNECT a')
  await once(slow.socket, 'close')
  expect(slow.heard.join('')).toMatch(/^HTTP\/1\.1 408 /)
  expect(silent.heard).toEqual([])
  silent.socket.write('CONNECT a.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\n')
  await expect.poll(() => silent.heard.join('')).toMatch(/^HTTP\/1\.1 403 /)
})

test('no more connections are open at once than allowed, and the next one passes when one ends', async () => {
  const { port, sockets } = await openSilent()
  await using egress = await openEgress([`127.0.0.1:${port}`], {
    ...(await settings(port)),
    connectionsMax: 2,
  })
  const open = () => {
    const socket = connect(egress.socket, () =>
      socket.write(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: a\r\n\r\n`),
    )
    return socket.on('error', () => {})
  }
  const first = open()
  const second = open()
  await expect.poll(() => sockets.length).toBe(2)
  await expect(
    throughTunnel(egress, `127.0.0.1:${port}`).then(
      ({ status }) => status,
      () => 0,
    ),
  ).resolves.toBe(0)
  first.destroy()
  await expect
    .poll(async () => {
      const third = open()
      await new Promise((resolve) => third.once('data', resolve).once('close', resolve))
      return sockets.length
    })
    .toBe(3)
  second.destroy()
})

test('when it ends, the connections that it made end with it', async () => {
  const { port, sockets } = await openSilent()
  const egress = await openEgress([`127.0.0.1:${port}`], await settings(port))
  const open = throughTunnel(egress, `127.0.0.1:${port}`, 'x').catch(() => null)
  await expect.poll(() => sockets.length).toBe(1)
  sockets[0]?.resume()
  await egress[Symbol.asyncDispose]()
  await open
  await expect.poll(() => sockets[0]?.destroyed).toBe(true)
})

test.each([
  ['a.example:443', 'a.example', 443, true],
  ['A.example.:443', 'a.example', 443, true],
  ['bücher.example:443', 'xn--bcher-kva.example', 443, true],
  ['*.a.example:443', 'x.a.example', 443, true],
  ['*.a.example:443', 'x.y.a.example', 443, true],
  ['*.a.example:443', 'a.example', 443, false],
  ['*.a.example:443', 'xa.example', 443, false],
  ['a.example:443', 'x.a.example', 443, false],
  ['a.example:443', 'a.example', 80, false],
  ['a.example:443', 'a.example.evil.example', 443, false],
  ['[::1]:80', '::1', 80, true],
])('the pattern %s and %s:%i: %j', (pattern, host, port, allowed) => {
  expect(createHostPatterns([pattern])(host, port)).toBe(allowed)
})

test.each([
  '*',
  '*:443',
  '*.*:443',
  'a.*:443',
  'a.example',
  'a.example:*',
  'a.example:0',
  '',
  'a b:80',
  '*.:80',
  'http://a:80',
])('the pattern %j is refused, with an example', (pattern) => {
  expect(() => createHostPatterns([pattern])).toThrow(/such as|is a name or an address|host/)
})
