import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import {
  type Canary,
  get,
  namesFrom,
  never,
  openCanary,
  outboundWith,
  textOf,
} from '../../src/outbound/testing.ts'

const redirecting = (status: number, location: () => string | readonly string[]) =>
  openCanary('127.0.0.1', (request, response) => {
    request.resume().on('end', () => {
      if (request.url === '/end') return response.end('end')
      response.statusCode = status
      return response.setHeader('location', location()).end('moved')
    })
  })

const outboundTo = (...servers: readonly Canary[]) =>
  outboundWith(
    { privateTargets: servers.map(({ port }) => `127.0.0.1:${port}`) },
    { resolve: namesFrom({ 'other.example': ['127.0.0.1'] }) },
  )

const secrets = {
  authorization: 'Bearer abc',
  cookie: 'session=abc',
  'x-api-key': 'abc',
  'content-type': 'text/plain',
  accept: 'text/html',
  range: 'bytes=0-9',
}

const post = (url: string, change: object = {}) =>
  get(url, { method: 'POST', headers: secrets, body: Buffer.from('body'), ...change })

const bodyBytes = (request: IncomingMessage | undefined) =>
  Number(request?.headers['content-length'] ?? 0)

test.each([
  [301, 'GET', 0],
  [302, 'GET', 0],
  [303, 'GET', 0],
  [307, 'POST', 4],
  [308, 'POST', 4],
])('%i at the same origin goes on as %s', async (status, method, bytes) => {
  await using server = await redirecting(status, () => '/end')
  await using response = await outboundTo(server).request(post(server.url), never)
  expect(await textOf(response.body)).toBe('end')
  expect(response.url).toBe(`${server.url}/end`)
  const [, second] = server.hits
  expect(second?.method).toBe(method)
  expect(bodyBytes(second)).toBe(bytes)
  expect(second?.headers).toMatchObject({ authorization: 'Bearer abc', 'x-api-key': 'abc' })
  expect(second?.headers['content-type']).toBe(bytes > 0 ? 'text/plain' : undefined)
})

test.each([301, 302, 303, 307, 308])(
  '%i to another origin takes neither body nor anything that could be a credential along',
  async (status) => {
    await using other = await redirecting(200, () => '')
    await using server = await redirecting(status, () => `http://other.example:${other.port}/end`)
    const outbound = outboundTo(server, other)
    await using response = await outbound.request(
      post(server.url, {
        credentials: (url: URL) =>
          url.origin === server.url ? { 'x-secret': 'made for one' } : {},
      }),
      never,
    )
    expect(await textOf(response.body)).toBe('end')
    expect(server.hits[0]?.headers['x-secret']).toBe('made for one')
    const [second] = other.hits
    expect(second?.method).toBe('GET')
    expect(bodyBytes(second)).toBe(0)
    expect(second?.headers).toEqual({
      host: `other.example:${other.port}`,
      connection: 'close',
      'user-agent': 'gatehouse',
      accept: 'text/html',
      'accept-encoding': 'identity',
      range: 'bytes=0-9',
    })
  },
)

test('another port is another origin', async () => {
  await using other = await redirecting(200, () => '')
  await using server = await redirecting(307, () => `${other.url}/end`)
  await using response = await outboundTo(server, other).request(post(server.url), never)
  expect(response.status).toBe(200)
  expect(other.hits[0]?.headers.authorization).toBeUndefined()
})

test('HEAD stays HEAD, and nothing is read of it', async () => {
  await using other = await redirecting(200, () => '')
  await using server = await redirecting(302, () => `${other.url}/end`)
  await using response = await outboundTo(server, other).request(
    get(server.url, { method: 'HEAD' }),
    never,
  )
  expect(other.hits[0]?.method).toBe('HEAD')
  expect(await textOf(response.body)).toBe('')
})

test('five are followed, a sixth is not, and none where the caller wants none', async () => {
  let left = 5
  await using server = await redirecting(302, () => (left-- > 1 ? '/again' : '/end'))
  const outbound = outboundTo(server)
  await using response = await outbound.request(get(server.url), never)
  expect(await textOf(response.body)).toBe('end')
  expect(server.hits).toHaveLength(6)
  left = 6
  await expect(outbound.request(get(server.url), never)).rejects.toMatchObject({
    type: 'RedirectRefused',
  })
  expect(server.hits).toHaveLength(12)
  left = 20
  await expect(
    outbound.request(get(server.url, { redirects_max: 20 }), never),
  ).rejects.toMatchObject({ type: 'RedirectRefused' })
  expect(server.hits).toHaveLength(18)
  await using plain = await outbound.request(get(server.url, { redirects_max: 0 }), never)
  expect(plain).toMatchObject({ status: 302, headers: { location: '/again' } })
  expect(server.hits).toHaveLength(19)
})

test('each hop is asked about, and a refusal ends it before it is made', async () => {
  await using other = await redirecting(200, () => '')
  await using server = await redirecting(302, () => `${other.url}/end?q=1`)
  const asked: string[] = []
  const allows = (url: URL) => {
    asked.push(url.href)
    if (url.origin === other.url) throw new Error('not there')
  }
  await expect(
    outboundTo(server, other).request(get(server.url, { allows }), never),
  ).rejects.toThrow()
  expect(asked).toEqual([`${server.url}/`, `${other.url}/end?q=1`])
  expect(other.connections()).toBe(0)
})

test('a host that hands the secret on in a redirect is not followed', async () => {
  await using other = await redirecting(200, () => '')
  let location = ''
  await using server = await redirecting(302, () => location)
  const outbound = outboundTo(server, other)
  const request = get(server.url, {
    credential_query: (url: URL): Record<string, string> =>
      url.origin === server.url ? { key: 'a secret+value/1' } : {},
  })
  for (location of [
    `${other.url}/end?key=a%20secret%2Bvalue%2F1`,
    `${other.url}/a%20secret+value/1`,
  ])
    await expect(outbound.request(request, never), location).rejects.toMatchObject({
      type: 'RedirectRefused',
    })
  expect(other.connections()).toBe(0)
  expect(server.hits[0]?.url).toBe('/?key=a%20secret%2Bvalue%2F1')
  location = `${other.url}/end`
  await using response = await outbound.request(request, never)
  expect(response.url).toBe(`${other.url}/end`)
  expect(other.hits[0]?.url).toBe('/end')
})

test('an answer that names several places, or none, leads nowhere', async () => {
  await using several = await redirecting(302, () => ['/end', '/end'])
  await expect(outboundTo(several).request(get(several.url), never)).rejects.toMatchObject({
    type: 'RedirectRefused',
  })
  expect(several.hits).toHaveLength(1)
  await using none = await openCanary('127.0.0.1', (_request, response) => {
    response.writeHead(302).end('nowhere')
  })
  await using response = await outboundTo(none).request(get(none.url), never)
  expect(response.status).toBe(302)
})
