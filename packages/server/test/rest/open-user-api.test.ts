import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { openUserApi } from '../../src/transport/rest/open-user-api.ts'
import { openRestServer } from '../../src/transport/rest/rest-server.ts'
import { openRestKit, useRestKit } from './kit.ts'

const shared = useRestKit()
const openApi = () => openUserApi({ ...shared().options, host: '127.0.0.1', port: 0, graceMs: 200 })

const bearer = () => `Bearer ${shared().tokens.operator}`

/** Answer of the server to these exact bytes. */
async function sendRaw(url: string, text: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  let answer = ''
  socket.on('data', (chunk) => {
    answer += chunk.toString()
  })
  socket.write(text)
  await once(socket, 'close')
  return answer
}

test('serves the routes over a socket', async () => {
  await using kit = await openRestKit()
  await using api = await openUserApi({ ...kit.options, host: '127.0.0.1', port: 0, graceMs: 200 })
  const authorization = `Bearer ${kit.tokens.operator}`
  const status = await fetch(`${api.url}/api/status`, { headers: { authorization } })
  expect(await status.json()).toMatchObject({ version: '1.2.3' })
  // As long as the gateway: a client that keeps it and comes just as it ends is not answered.
  expect(status.headers.get('keep-alive')).toBe('timeout=30')
  const paused = await fetch(`${api.url}/api/agents/mailbot/pause`, {
    method: 'POST',
    headers: { authorization },
  })
  expect(await paused.json()).toMatchObject({ status: 'paused' })
  expect((await fetch(`${api.url}/api/status`)).status).toBe(401)
})

test('refuses a header that Node would silently choose from', async () => {
  await using api = await openApi()
  const request = (extra: string) =>
    `GET /api/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${extra}\r\n`
  const good = `Authorization: ${bearer()}\r\n`
  expect(await sendRaw(api.url, request(good))).toMatch(/^HTTP\/1\.1 200 /)
  const twice = await sendRaw(api.url, request(`${good}Authorization: Bearer x\r\n`))
  expect(twice).toMatch(/^HTTP\/1\.1 400 /)
  expect(twice).toContain('stands twice')
  const many = 'X-Many: 1\r\n'.repeat(140)
  expect(await sendRaw(api.url, request(good + many))).toMatch(/^HTTP\/1\.1 4\d\d /)
})

test('refuses a foreign host over the socket', async () => {
  await using api = await openApi()
  const text = `GET /healthz HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`
  expect(await sendRaw(api.url, text)).toMatch(/^HTTP\/1\.1 421 /)
})

test.each([
  '/api/agents/../pause',
  '/api/agents/%2e%2e/pause',
  '/api/agents/%2E./pause',
  '/api/agents/x/%2e%2e/%2e%2E/pause',
  '/api/agents/..\\pause',
  '/api/agents\\..\\pause',
  '/api/./pause',
  'http://127.0.0.1/api/agents/%2e%2e/pause',
  '//127.0.0.1/../api/pause',
  '/api/agents/..%2fpause',
  '/api/agents/..%2f..%2fpause/pause',
  '/api/agents/%252e%252e/pause',
  '/api/agents/..;/pause',
  '/v1/../api/pause',
])('%s leads to no other route', async (target) => {
  await using api = await openApi()
  const lines = [
    `POST ${target} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Authorization: ${bearer()}`,
    'Content-Length: 0',
    'Connection: close',
  ]
  const answer = await sendRaw(api.url, `${lines.join('\r\n')}\r\n\r\n`)
  expect(answer).toMatch(/^HTTP\/1\.1 40[045] /)
  expect(await shared().statusOf('mailbot')).toBe('active')
})

test('serves a key that has dots and slashes in its one segment', async () => {
  await using api = await openApi()
  const answer = await fetch(`${api.url}/api/state/shared/a%2F..%2Fb..`, {
    headers: { authorization: bearer() },
  })
  expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([
    404,
    'StateNotFound',
  ])
})

test('closes with streams still open, and answers no more', async () => {
  // Long: a stream ends by itself.
  const api = await openUserApi({
    ...{ ...shared().options, host: '127.0.0.1', port: 0 },
    graceMs: 600_000,
  })
  const stream = await fetch(`${api.url}/api/approvals/stream`, {
    headers: { authorization: bearer() },
  })
  const text = stream.text()
  await api.close()
  expect(await text).toContain('event: snapshot')
  await expect(fetch(`${api.url}/healthz`)).rejects.toThrow()
  await api.close()
})

test('a connection on which nothing was said is idle, and no slow request', async () => {
  const settings = { headersTimeout: 100, connectionsCheckingInterval: 10 }
  await using server = await openRestServer(
    { ...shared().options, host: '127.0.0.1', port: 0 },
    (listener) => createServer(settings, listener),
    async () => new Response('served'),
  )
  const silent = connect(Number(server.address.split(':')[1]), '127.0.0.1')
  await once(silent, 'connect')
  expect(await sendRaw(`http://${server.address}`, 'GET / ')).toMatch(/^HTTP\/1\.1 408 /)
  silent.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  expect(await text(silent)).toMatch(/^HTTP\/1\.1 200 .*served/s)
})

test('closing waits for no connection on which nothing was said', async () => {
  // Longer than the time of the test.
  const api = await openUserApi({
    ...shared().options,
    host: '127.0.0.1',
    port: 0,
    graceMs: 600_000,
  })
  const silent = connect(Number(new URL(api.url).port), '127.0.0.1')
  await once(silent, 'connect')
  // Answered behind it, so the server has seen the silent one.
  expect((await fetch(`${api.url}/healthz`)).status).toBe(200)
  await api.close()
  silent.destroy()
})
