import { chmodSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import {
  get,
  namesFrom,
  never,
  openCanary,
  outboundWith,
  textOf,
} from '../../src/outbound/testing.ts'
import { makeAuthority, openSafe, temporaryFolder } from './safe-server.ts'

const openSafeAlone = async () => {
  const { pair, caFile } = await makeAuthority()
  const { port, hits } = await openSafe(pair)
  const seen = () => hits.map(({ method, headers, url }) => `${method} ${headers.host}${url}`)
  return { port, caFile, seen }
}

test('a certificate counts by the authority that the operator named, and for its names alone', async () => {
  const { port, caFile, seen } = await openSafeAlone()
  const settings = { privateTargets: [`127.0.0.1:${port}`] }
  const deps = { resolve: namesFrom({ 'safe.example': ['127.0.0.1'], 'x.example': ['127.0.0.1'] }) }
  const strangers = outboundWith(settings, deps)
  await expect(
    strangers.request(get(`https://safe.example:${port}/`), never),
  ).rejects.toMatchObject({
    type: 'TlsFailed',
  })
  const outbound = outboundWith({ ...settings, caFile }, deps)
  for (const host of ['safe.example', '127.0.0.1']) {
    await using response = await outbound.request(get(`https://${host}:${port}/a`), never)
    expect(await textOf(response.body)).toBe('safe')
  }
  await expect(outbound.request(get(`https://x.example:${port}/`), never)).rejects.toMatchObject({
    type: 'TlsFailed',
  })
  expect(seen()).toEqual([`GET safe.example:${port}/a`, `GET 127.0.0.1:${port}/a`])
})

test('plain http on a port of https, and https on one of http, both fail by name', async () => {
  const { port, caFile } = await openSafeAlone()
  await using canary = await openCanary('127.0.0.1')
  const outbound = outboundWith({
    caFile,
    privateTargets: [`127.0.0.1:${port}`, `127.0.0.1:${canary.port}`],
  })
  await expect(
    outbound.request(get(`https://127.0.0.1:${canary.port}/`), never),
  ).rejects.toMatchObject({ type: 'TlsFailed' })
  await using response = await outbound.request(get(`https://127.0.0.1:${port}/`), never)
  expect(response.status).toBe(200)
})

test('no variable of the environment leaves certificates unchecked', async () => {
  const { port, seen } = await openSafeAlone()
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
  onTestFinished(() => {
    delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
  })
  const outbound = outboundWith({ privateTargets: [`127.0.0.1:${port}`] })
  await expect(outbound.request(get(`https://127.0.0.1:${port}/`), never)).rejects.toMatchObject({
    type: 'TlsFailed',
  })
  expect(seen()).toEqual([])
})

test('what must go by https does, from the first hop to the last', async () => {
  await using plain = await openCanary('127.0.0.1')
  const { port, caFile } = await openSafeAlone()
  const outbound = outboundWith({
    caFile,
    privateTargets: [`127.0.0.1:${port}`, `127.0.0.1:${plain.port}`],
  })
  await expect(outbound.request(get(plain.url, { https_only: true }), never)).rejects.toMatchObject(
    { type: 'UrlNotAllowed' },
  )
  expect(plain.connections()).toBe(0)
})

/** A proxy as companies have them; it notes what it was asked for, and leads it all to one place. */
const openProxy = async (to: number, answer = 'HTTP/1.1 200 OK\r\n\r\n') => {
  const heads: string[] = []
  const server = createServer((client: Socket) => {
    client.on('error', () => {})
    client.once('data', (head) => {
      heads.push(head.toString())
      client.write(answer)
      const upstream = connect({ host: '127.0.0.1', port: to })
      upstream.on('error', () => client.destroy())
      upstream.pipe(client).pipe(upstream)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heads }
}

test('a proxy is asked for the address that was checked, and never for a name', async () => {
  const { port, caFile, seen } = await openSafeAlone()
  const proxy = await openProxy(port)
  const resolve = namesFrom({ 'safe.example': [['93.184.216.34'], ['127.0.0.1']] })
  const outbound = outboundWith({ caFile, proxy: proxy.url, ports: [port] }, { resolve })
  await using response = await outbound.request(get('https://safe.example/a'), never)
  expect(await textOf(response.body)).toBe('safe')
  expect(seen()).toEqual(['GET safe.example/a'])
  expect(proxy.heads).toEqual([
    'CONNECT 93.184.216.34:443 HTTP/1.1\r\nHost: 93.184.216.34:443\r\n\r\n',
  ])
  expect(resolve.asked).toEqual(['safe.example'])
  for (const host of [
    'safe.example',
    '127.0.0.1',
    '[::1]',
    '2130706433',
    'localhost',
    'no.example',
  ])
    await expect(
      outbound.request(get(`https://${host}:${port}/`), never),
      host,
    ).rejects.toMatchObject({ type: 'HostUnreachable' })
  expect(proxy.heads).toHaveLength(1)
})

test('plain http goes through the proxy as well, with its password from a file', async () => {
  await using server = await openCanary('127.0.0.1')
  const proxy = await openProxy(server.port)
  const proxyAuthFile = join(temporaryFolder(), 'auth')
  writeFileSync(proxyAuthFile, 'me:pass word\n', { mode: 0o600 })
  const outbound = outboundWith(
    { proxy: proxy.url, proxyAuthFile },
    { resolve: namesFrom({ 'a.example': ['2606:4700::1111'] }) },
  )
  await using response = await outbound.request(get('http://a.example/x'), never)
  expect(await textOf(response.body)).toBe('canary')
  expect(server.hits[0]?.headers.host).toBe('a.example')
  const basic = Buffer.from('me:pass word').toString('base64')
  expect(proxy.heads[0]).toBe(
    `CONNECT [2606:4700::1111]:80 HTTP/1.1\r\nHost: [2606:4700::1111]:80\r\nProxy-Authorization: Basic ${basic}\r\n\r\n`,
  )
  chmodSync(proxyAuthFile, 0o644)
  expect(() => outboundWith({ proxy: proxy.url, proxyAuthFile })).toThrow('others can read')
})

test.each(['HTTP/1.1 407 Proxy Authentication Required\r\n\r\n', 'SSH-2.0-x\r\n\r\n'])(
  'a proxy that answers %j leaves the host unreachable',
  async (answer) => {
    await using server = await openCanary('127.0.0.1')
    const proxy = await openProxy(server.port, answer)
    const outbound = outboundWith(
      { proxy: proxy.url },
      { resolve: namesFrom({ 'a.example': ['93.184.216.34'] }) },
    )
    await expect(outbound.request(get('http://a.example/'), never)).rejects.toMatchObject({
      type: 'HostUnreachable',
    })
    expect(proxy.heads).toHaveLength(1)
    expect(server.hits).toEqual([])
  },
)

test('hosts that the operator excepts are dialled directly, under the same guard', async () => {
  await using server = await openCanary('127.0.0.1')
  const proxy = await openProxy(server.port)
  const outbound = outboundWith(
    {
      proxy: proxy.url,
      noProxy: ['.intern.example', 'one.example'],
      privateTargets: [`127.0.0.1:${server.port}`],
    },
    {
      resolve: namesFrom({
        'a.intern.example': ['127.0.0.1'],
        'one.example': ['127.0.0.1'],
        'b.intern.example': ['::1'],
      }),
    },
  )
  for (const host of ['a.intern.example', 'one.example']) {
    await using response = await outbound.request(get(`http://${host}:${server.port}/`), never)
    expect(response.status).toBe(200)
  }
  await expect(
    outbound.request(get(`http://b.intern.example:${server.port}/`), never),
  ).rejects.toMatchObject({ type: 'HostUnreachable' })
  expect(proxy.heads).toEqual([])
})

test('a proxy that only the environment names is not used', async () => {
  await using server = await openCanary('127.0.0.1')
  const proxy = await openProxy(server.port)
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy', 'ALL_PROXY']
  for (const name of names) process.env[name] = proxy.url
  onTestFinished(() => {
    for (const name of names) delete process.env[name]
  })
  const outbound = outboundWith({ privateTargets: [`127.0.0.1:${server.port}`] })
  await using response = await outbound.request(get(server.url), never)
  expect(response.status).toBe(200)
  expect(proxy.heads).toEqual([])
})

test.each([
  [{ proxy: 'proxy.example' }, 'outbound.proxy must'],
  [{ proxy: 'socks5://proxy.example:1080' }, 'outbound.proxy must begin with'],
  [{ proxy: 'http://u:p@proxy.example' }, 'outbound.proxy must hold no password'],
  [{ caFile: '/nowhere/ca.pem' }, 'cannot be read (ENOENT)'],
  [{ proxy: 'http://p.example', proxyAuthFile: '/nowhere/auth' }, 'cannot be read (ENOENT)'],
])('%j is refused when the service starts', (settings, message) => {
  expect(() => outboundWith(settings)).toThrow(message)
})

test('a file of authorities that holds none is refused when the service starts', () => {
  const caFile = join(temporaryFolder(), 'ca.pem')
  writeFileSync(caFile, 'nothing')
  expect(() => outboundWith({ caFile })).toThrow('holds no certificate')
  writeFileSync(caFile, '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n')
  expect(() => outboundWith({ caFile })).toThrow('cannot be read')
})
