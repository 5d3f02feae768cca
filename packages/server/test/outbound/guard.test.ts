import { type AddressInfo, createServer, type Server } from 'node:net'
import type { GatehouseError } from '@gatehouse/contract'
import { expect, onTestFinished, test } from 'vitest'
import { Guard } from '../../src/outbound/guard.ts'
import {
  get,
  namesFrom,
  never,
  openCanary,
  outboundWith,
  textOf,
} from '../../src/outbound/testing.ts'

/** How an attacker writes this machine; each is tried with the port of a canary behind it. */
const spellings = [
  ...['127.0.0.1', '127.1', '127.0.1', '0x7f.1', '0x7f000001', '2130706433', '017700000001'],
  ...['0177.0.0.1', '①②⑦.⓪.⓪.①', '１２７.０.０.１', '127。0。0。1', '127.0.0.1.', '0', '0.0.0.0'],
  ...[
    '127.255.255.254',
    'localhost',
    'localhost.',
    'LOCALHOST',
    'foo.localhost',
    '%31%32%37.0.0.1',
  ],
  ...[
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
  ],
  ...['[64:ff9b::127.0.0.1]', '[2002:7f00:1::]', '[0:0:0:0:0:0:0:1]', '[::ffff:0:7f00:1]'],
  ...['[fe80::1]', '[fc00::1]', '169.254.169.254', '[::ffff:a9fe:a9fe]', '10.0.0.1', '192.168.0.1'],
]

/** Names that lead inside, each in its own way. */
const names = {
  'a.example': ['127.0.0.1'],
  'b.example': ['::1'],
  'c.example': ['0.0.0.0'],
  'd.example': ['::'],
  'e.example': ['::ffff:127.0.0.1'],
  'f.example': ['169.254.169.254'],
  'g.example': ['93.184.216.34', '::1'],
  'h.example': ['2606:2800:220:1::1', '127.0.0.1'],
  'i.example': ['fe80::1%lo'],
  'j.example': [],
  localhost: ['127.0.0.1', '::1'],
  'foo.localhost': ['127.0.0.1'],
}

const targets = [...spellings, ...Object.keys(names)]

/** One port on both addresses of this machine. */
const openBoth = async () => {
  for (;;) {
    const four = await openCanary('127.0.0.1')
    try {
      const six = await openCanary('::1', undefined, four.port)
      onTestFinished(async () => {
        await four[Symbol.asyncDispose]()
        await six[Symbol.asyncDispose]()
      })
      return { port: four.port, connections: () => four.connections() + six.connections() }
    } catch {
      await four[Symbol.asyncDispose]()
    }
  }
}

const refused = ['HostUnreachable', 'UrlNotAllowed', 'RedirectRefused']

test('N01 N02 N03 no spelling and no name reaches this machine: 0 connections', async () => {
  const canary = await openBoth()
  const outbound = outboundWith({ ports: [canary.port] }, { resolve: namesFrom(names) })
  for (const host of targets) {
    for (const url of [`http://${host}:${canary.port}/`, `https://${host}:${canary.port}/`])
      await expect(outbound.request(get(url), never), url).rejects.toMatchObject({
        type: expect.toBeOneOf(refused),
      })
  }
  for (const url of [`http:\\\\127.0.0.1:${canary.port}\\`, `http://x@127.0.0.1:${canary.port}/`])
    await expect(outbound.request(get(url), never)).rejects.toMatchObject({ type: 'UrlNotAllowed' })
  expect(canary.connections()).toBe(0)
})

test('what is not dialled reads word for word like what is not there', async () => {
  const canary = await openBoth()
  const outbound = outboundWith({ ports: [canary.port] }, { resolve: namesFrom(names) })
  const failure = (host: string): Promise<unknown> =>
    outbound.request(get(`http://${host}:${canary.port}/`), never).catch((cause: unknown) => {
      const { type, message, recovery } = cause as GatehouseError
      return { type, message: message.replaceAll(host, 'HOST'), recovery }
    })
  const missing = await failure('nowhere.example')
  expect(missing).toMatchObject({ type: 'HostUnreachable' })
  for (const host of ['a.example', 'g.example', 'j.example', '10.0.0.1', '127.0.0.1'])
    expect(await failure(host)).toEqual(missing)
})

test('N05 no redirect leads inside: 0 connections, and the redirecting server is reached', async () => {
  const canary = await openBoth()
  let location = ''
  await using outside = await openCanary('127.0.0.1', (_request, response) => {
    response.writeHead(302, { location }).end()
  })
  const outbound = outboundWith(
    { privateTargets: [`127.0.0.1:${outside.port}`], ports: [canary.port] },
    { resolve: namesFrom(names) },
  )
  const ways = (host: string) => [`http://${host}:${canary.port}/`, `//${host}:${canary.port}/`]
  const others = ['file:///canary', 'data:text/plain,x', 'gopher://a.example/', 'http://']
  const locations = [
    ...targets.filter((host) => !/[^\x20-\x7e]/.test(host)).flatMap(ways),
    ...others,
  ]
  for (location of locations)
    await expect(outbound.request(get(outside.url), never), location).rejects.toMatchObject({
      type: expect.toBeOneOf(refused),
    })
  expect(outside.hits.length).toBe(locations.length)
  expect(canary.connections()).toBe(0)
})

test('N04 a name that leads elsewhere the second time is dialled where it led when it was checked', async () => {
  const canary = await openBoth()
  await using honest = await openCanary('127.0.0.1')
  const resolve = namesFrom({ 'rebind.example': [['127.0.0.1'], ['::1']] })
  const outbound = outboundWith({ privateTargets: [`127.0.0.1:${honest.port}`] }, { resolve })
  await using first = await outbound.request(get(`http://rebind.example:${honest.port}/`), never)
  expect(first.status).toBe(200)
  // One question for one connection: there is no second answer to be led astray by.
  expect(resolve.asked).toEqual(['rebind.example'])
  await expect(
    outbound.request(get(`http://rebind.example:${honest.port}/`), never),
  ).rejects.toMatchObject({ type: 'HostUnreachable' })
  expect(canary.connections()).toBe(0)
})

test('an address that may no longer be reached once it is, is left without a word', async () => {
  await using server = await openCanary('127.0.0.1')
  let looks = 0
  const outbound = outboundWith(
    { privateTargets: [`127.0.0.1:${server.port}`] },
    // The literal and, for a name, the lookup are let through; the third look is at the connection.
    { ownPorts: () => (++looks > 1 ? new Set([server.port]) : new Set()) },
  )
  await expect(outbound.request(get(server.url), never)).rejects.toMatchObject({
    type: 'HostUnreachable',
  })
  expect(looks).toBe(2)
  expect(server.hits).toHaveLength(0)
})

test('its own listeners are closed to it, also where they are listed', async () => {
  await using server = await openCanary('127.0.0.1')
  const settings = { privateTargets: [`127.0.0.1:${server.port}`] }
  const closed = outboundWith(settings, { ownPorts: () => new Set([server.port]) })
  await expect(closed.request(get(server.url), never)).rejects.toMatchObject({
    type: 'HostUnreachable',
  })
  expect(server.connections()).toBe(0)
  const open = outboundWith(settings, { ownPorts: () => new Set([1]) })
  await using response = await open.request(get(server.url), never)
  expect(await textOf(response.body)).toBe('canary')
})

test('its own public address is closed on its own ports alone', () => {
  const guard = new Guard({ privateTargets: [], origin: '', ownPorts: () => new Set([7700]) })
  expect(guard.allows('93.184.216.34', 7700)).toBe(true)
  expect(guard.allows('93.184.216.34', 443)).toBe(true)
  expect(guard.allows('93.184.216.34', 443, { listedOnly: true })).toBe(false)
  expect(guard.allows('127.0.0.1', 443)).toBe(false)
})

test.each([
  '10.0.0.5',
  'intern.example:80',
  '0.0.0.0:80',
  '[::]:80',
  '10.0.0.5:0',
  '10.0.0.0/8:80',
  '',
])('the target %j is refused when the service starts, and how to write one is said', (target) => {
  expect(() =>
    outboundWith({
      privateTargets: [target],
      origins: { 'outbound.private_targets': 'gatehouse.yaml:3:1' },
    }),
  ).toThrow(/^gatehouse\.yaml:3:1: .*such as 10\.0\.0\.5:8080/)
})

test('a listed address is open on its port alone, in every spelling', async () => {
  await using listed = await openCanary('127.0.0.1')
  await using other = await openCanary('127.0.0.1')
  const outbound = outboundWith({
    privateTargets: [`127.0.0.1:${listed.port}`],
    ports: [other.port],
  })
  for (const host of ['127.0.0.1', '0x7f.1', '[::ffff:127.0.0.1]']) {
    await using response = await outbound.request(get(`http://${host}:${listed.port}/`), never)
    expect(response.status).toBe(200)
    await expect(
      outbound.request(get(`http://${host}:${other.port}/`), never),
    ).rejects.toMatchObject({ type: 'HostUnreachable' })
  }
  expect(other.connections()).toBe(0)
  expect(listed.hits).toHaveLength(3)
})

test('a port that nobody opened is refused before anything is looked up', async () => {
  const resolve = namesFrom({ 'a.example': ['93.184.216.34'] })
  const outbound = outboundWith({ privateTargets: ['10.0.0.5:8080'] }, { resolve })
  await expect(outbound.request(get('http://a.example:22/'), never)).rejects.toMatchObject({
    type: 'UrlNotAllowed',
  })
  expect(resolve.asked).toEqual([])
  // Open at the listed address does not mean open on the internet.
  await expect(outbound.request(get('http://a.example:8080/'), never)).rejects.toMatchObject({
    type: 'HostUnreachable',
  })
})

test('ports and names are asked for under the same guard', async () => {
  const canary = await openBoth()
  await using listed = await openCanary('127.0.0.1')
  const outbound = outboundWith(
    { privateTargets: [`127.0.0.1:${listed.port}`] },
    { resolve: namesFrom({ ...names, 'public.example': ['93.184.216.34', '2606:4700::1111'] }) },
  )
  const refusedHosts = targets.filter((host) => !host.includes('%'))
  for (const host of refusedHosts)
    expect(
      await outbound.connect({ host, port: canary.port, timeout_ms: 500 }, never),
      host,
    ).toMatchObject({ open: false })
  expect(canary.connections()).toBe(0)
  const open = await outbound.connect(
    { host: '127.0.0.1', port: listed.port, timeout_ms: 60_000 },
    never,
  )
  expect(open).toEqual({ open: true, latency_ms: expect.any(Number) })

  expect(await outbound.lookup('PUBLIC.example.', never)).toEqual([
    '93.184.216.34',
    '2606:4700::1111',
  ])
  expect(await outbound.lookup('a.example', never)).toEqual(['127.0.0.1'])
  for (const host of ['b.example', 'f.example', 'g.example', 'j.example', '10.0.0.1', 'no.example'])
    await expect(outbound.lookup(host, never), host).rejects.toMatchObject({
      type: 'HostUnreachable',
    })
})

const freePort = async (): Promise<{ port: number; server: Server }> => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { port: (server.address() as AddressInfo).port, server }
}

test('closed, unknown and guarded ports read the same', async () => {
  const { port, server } = await freePort()
  await new Promise((resolve) => server.close(resolve))
  const outbound = outboundWith({ privateTargets: [`127.0.0.1:${port}`] })
  for (const host of ['127.0.0.1', '10.0.0.1', 'no.example'])
    expect(await outbound.connect({ host, port, timeout_ms: 1_000 }, never)).toEqual({
      open: false,
      latency_ms: expect.any(Number),
    })
})
