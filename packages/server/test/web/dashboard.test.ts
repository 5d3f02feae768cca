import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect as connectPlain } from 'node:net'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { LoginList } from '@gatehouse/contract'
import { until } from '@gatehouse/testkit/until'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Answered,
  type DashboardKit,
  openDashboardKit,
  password,
  setUp,
  setupTokenOf,
} from './kit.ts'

const countsOf = (statuses: readonly number[]): Record<number, number> => {
  const counts: Record<number, number> = {}
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

test('makes one operator of one setup link, however many people use it at once', async () => {
  await using kit = await openDashboardKit()
  const token = setupTokenOf(kit)
  expect(new URL(kit.service.setupLink ?? '').hostname).toBe('gatehouse.localhost')
  expect((await kit.send('GET', '/api/setup')).text).toBe('{"needed":true}')
  const use = async () =>
    (await kit.send('POST', '/api/setup', { body: { token, password } })).status
  const counts = countsOf(await Promise.all(Array.from({ length: 50 }, use)))
  expect(counts[201]).toBe(1)
  expect(Object.keys(counts).every((status) => ['201', '410', '429'].includes(status))).toBe(true)
  expect(await use()).toBe(410)
  expect((await kit.send('GET', '/api/setup')).text).toBe('{"needed":false}')
})

test('bounds what many logins and long passwords cost, and goes on serving', async () => {
  await using kit = await openDashboardKit()
  await setUp(kit)
  const logIn = async (text: string) =>
    (await kit.send('POST', '/api/session', { body: { password: text } })).status
  const counts = countsOf(await Promise.all(Array.from({ length: 200 }, () => logIn('wrong'))))
  expect(counts).toEqual({ 401: 5, 429: 195 })
  const limited = await kit.send('POST', '/api/session', { body: { password } })
  expect(limited.status).toBe(429)
  expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0)
  expect(await logIn('x'.repeat(1_000_000))).toBe(413)
  expect(await logIn('x'.repeat(1_025))).toBe(400)
  expect((await kit.send('GET', '/healthz')).status).toBe(200)
})

describe('a logged-in browser', () => {
  let kit: DashboardKit
  let cookie: string
  let origin: string
  let approval: string

  /** An agent that asks for something a person must allow. */
  const ask = async (): Promise<string> => {
    const authorization = `Bearer ${readFileSync(join(kit.folder, 'cli-token'), 'utf8').trim()}`
    const made = await kit.send('POST', '/api/agents', {
      headers: { authorization },
      body: { name: `bot-${Date.now().toString(36)}` },
    })
    const { token } = JSON.parse(made.text) as { token: string }
    const invoke = async (capability: string, args: object) => {
      const response = await fetch(`${kit.service.run.gateway_url}/rpc`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'capabilities.invoke',
          params: { capability, arguments: args },
        }),
      })
      return (await response.json()) as { error?: { data?: { approval_id?: string } } }
    }
    await invoke('filesystem.write', { path: 'notes.txt', content: 'kept' })
    const held = await invoke('filesystem.delete', { path: 'notes.txt' })
    return held.error?.data?.approval_id ?? 'none'
  }

  beforeAll(async () => {
    kit = await openDashboardKit()
    cookie = await setUp(kit)
    origin = kit.url
    approval = await ask()
  })
  afterAll(() => kit[Symbol.asyncDispose]())

  const statusOf = async (): Promise<string> => {
    const answer = await kit.send('GET', `/api/approvals/${approval}`, { headers: { cookie } })
    return (JSON.parse(answer.text) as { status: string }).status
  }

  test('has a cookie that no script reads and no other site sends', async () => {
    const answer = await kit.send('POST', '/api/session', { body: { password, name: 'ana' } })
    const [set = ''] = answer.headers['set-cookie'] ?? []
    const [pair, ...flags] = set.split('; ')
    expect(pair).toMatch(/^gatehouse_session=[A-Za-z0-9_-]{43}$/)
    expect(flags.toSorted()).toEqual([
      'HttpOnly',
      'Max-Age=43200',
      'Path=/',
      'SameSite=Strict',
      'Secure',
    ])
  })

  test('says who is logged in', async () => {
    const answer = await kit.send('GET', '/api/session', { headers: { cookie } })
    expect(JSON.parse(answer.text)).toMatchObject({ name: 'ana', role: 'operator', via: 'login' })
    const twice = `${cookie}; gatehouse_session=${'x'.repeat(43)}`
    expect((await kit.send('GET', '/api/session', { headers: { cookie: twice } })).status).toBe(401)
  })

  test.each([
    ['no Origin', {}],
    ['the Origin of another site', { origin: 'https://evil.example' }],
    ['the Origin of another port', { origin: 'https://127.0.0.1:1' }],
    ['the Origin of the same port without TLS', { origin: 'plain' }],
    ['an opaque Origin', { origin: 'null' }],
    ['a cross-site fetch', { 'sec-fetch-site': 'cross-site', origin: 'own' }],
    ['a fetch from another port', { 'sec-fetch-site': 'same-site', origin: 'own' }],
  ])('cannot be made to approve by a request with %s', async (_name, given) => {
    const said = (given as { origin?: string }).origin
    const own = said === 'own' ? origin : said === 'plain' ? origin.replace('https', 'http') : said
    const headers = { cookie, ...given, ...(own === undefined ? {} : { origin: own }) }
    const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' }
    for (const sent of [headers, form]) {
      const answer = await kit.send('POST', `/api/approvals/${approval}/approve`, { headers: sent })
      expect([answer.status, await statusOf()]).toEqual([403, 'pending'])
    }
  })

  test('pauses nobody by a path that a URL would resolve to another route', async () => {
    for (const path of ['/api/agents/%2e%2e/pause', '/api/agents/../pause', '/x/../api/pause']) {
      const answer = await kit.send('POST', path, { headers: { cookie, origin } })
      expect([path, answer.status]).toEqual([path, 400])
    }
    const { text } = await kit.send('GET', '/api/agents', { headers: { cookie } })
    expect(text).toContain('"status":"active"')
    expect(text).not.toContain('"status":"paused"')
  })

  test('cannot be read by a page of another port, and can by the person who types the address', async () => {
    const read = async (site: string) =>
      (await kit.send('GET', '/api/status', { headers: { cookie, 'sec-fetch-site': site } })).status
    expect([await read('same-site'), await read('cross-site')]).toEqual([403, 403])
    expect([await read('same-origin'), await read('none')]).toEqual([200, 200])
  })

  test('approves what it was shown, and nothing else', async () => {
    const shown = await kit.send('GET', `/api/approvals/${approval}`, { headers: { cookie } })
    const { digest } = JSON.parse(shown.text) as { digest: string }
    const headers = { cookie, origin, 'sec-fetch-site': 'same-origin' }
    const decide = async (sent: string) =>
      (
        await kit.send('POST', `/api/approvals/${approval}/approve`, {
          headers,
          body: { digest: sent },
        })
      ).status
    expect(await decide(`sha256:${'0'.repeat(64)}`)).toBe(409)
    expect(await statusOf()).toBe('pending')
    expect(await decide(digest)).toBe(200)
    expect(await statusOf()).toBe('approved')
    const entries = await kit.send('GET', '/api/audit?capability=approval.approved', {
      headers: { cookie },
    })
    expect(entries.text).toContain('"actor":"user:ana"')
  })

  test('logs out, and its cookie opens nothing more', async () => {
    const made = await kit.send('POST', '/api/session', { body: { password, name: 'ana' } })
    const headers = { cookie: made.cookie, origin }
    expect(
      (await kit.send('DELETE', '/api/session', { headers: { cookie: made.cookie } })).status,
    ).toBe(403)
    const ended = await kit.send('DELETE', '/api/session', { headers })
    expect(ended.status).toBe(200)
    expect(ended.headers['set-cookie']?.[0]).toContain('Max-Age=0')
    expect((await kit.send('GET', '/api/session', { headers })).status).toBe(401)
  })

  test('is shown where it was last used, and ended from another browser with its streams', async () => {
    const logIn = async () =>
      (await kit.send('POST', '/api/session', { body: { password, name: 'ana' } })).cookie
    const [stolen, mine] = [await logIn(), await logIn()]
    const streams: Promise<Answered>[] = []
    await new Promise<void>((onBegun) => {
      const headers = { cookie: stolen }
      streams.push(kit.send('GET', '/api/activity/stream', { headers, onBegun }))
    })
    const loginOf = async (cookie: string) => {
      const { text } = await kit.send('GET', '/api/logins', { headers: { cookie } })
      return LoginList.parse(JSON.parse(text)).logins.find(({ current }) => current)
    }
    const login = await loginOf(stolen)
    expect(login).toMatchObject({
      name: 'ana',
      address: expect.stringMatching(/^(?:::1|(?:::ffff:)?127\.0\.0\.1)$/),
    })
    // The look at the list counts: it came after the other login.
    const since = (await loginOf(mine))?.created_at ?? ''
    expect(Date.parse(login?.last_used_at ?? '')).toBeGreaterThanOrEqual(Date.parse(since))
    const headers = { cookie: mine, origin }
    const ended = await kit.send('DELETE', `/api/logins/${login?.id}`, { headers })
    expect([ended.status, ended.headers['set-cookie']]).toEqual([200, undefined])
    const [stream] = await Promise.all(streams)
    expect([stream?.status, stream?.text]).toEqual([200, expect.not.stringContaining('event:')])
    const after = async (cookie: string) =>
      (await kit.send('GET', '/api/session', { headers: { cookie } })).status
    expect([await after(stolen), await after(mine)]).toEqual([401, 200])
    const own = await kit.send('DELETE', `/api/logins/${(await loginOf(mine))?.id}`, { headers })
    expect([own.status, String(own.headers['set-cookie'])]).toEqual([
      200,
      expect.stringContaining('Max-Age=0'),
    ])
  })

  test('is not served at the plain listener, and no password is taken there', async () => {
    const { user_api_url } = kit.service.run
    const read = await fetch(`${user_api_url}/api/session`, { headers: { cookie } })
    expect(read.status).toBe(401)
    const login = await fetch(`${user_api_url}/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ password, name: 'ana' }),
    })
    expect([login.status, login.headers.get('set-cookie')]).toEqual([403, null])
  })
})

describe('the host guard', () => {
  let kit: DashboardKit
  beforeAll(async () => {
    kit = await openDashboardKit()
  })
  afterAll(() => kit[Symbol.asyncDispose]())

  const bearer = (): string =>
    `Bearer ${readFileSync(join(kit.folder, 'cli-token'), 'utf8').trim()}`

  test('takes a user token without an Origin, and not with a foreign one', async () => {
    const read = async (headers: Record<string, string>) =>
      (await kit.send('GET', '/api/status', { headers: { authorization: bearer(), ...headers } }))
        .status
    expect(await read({})).toBe(200)
    expect(await read({ origin: 'https://evil.example' })).toBe(403)
    expect((await kit.send('GET', '/api/status')).status).toBe(401)
  })

  test('serves a page that runs its own scripts only and stands in nobody’s frame', async () => {
    const page = await kit.send('GET', '/')
    expect(page.status).toBe(200)
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
    const policy = String(page.headers['content-security-policy'])
    expect(policy).toBe(
      "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    )
    expect(page.headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
    })
    expect(page.headers['strict-transport-security']).toBeUndefined()
    expect(page.text).not.toMatch(/<script(?![^>]*\ssrc=)|\son\w+=|\sstyle=|https?:\/\//)
    const parts = [...page.text.matchAll(/(?:href|src)="(\/[^"]+)"/g)].map(([, path]) => path)
    expect(parts).toContain('/theme.js')
    expect(parts.some((path) => path?.startsWith('/assets/'))).toBe(true)
    for (const path of new Set(parts)) {
      const part = await kit.send('GET', path ?? '')
      expect([path, part.status]).toEqual([path, 200])
    }
    const again = await kit.send('GET', '/', {
      headers: { 'if-none-match': String(page.headers['etag']) },
    })
    expect([again.status, again.text]).toEqual([304, ''])
  })

  test.each([
    '/../../etc/passwd',
    '/%2e%2e/%2e%2e/etc/passwd',
    '//etc/passwd',
    '/assets/..%5c..%5cetc%5cpasswd',
    '/%00',
    '/main.js/../../../../../../etc/passwd',
    '/..%2fpackage.json',
    '/package.json',
    '/api/../../etc/passwd',
    '/main.js%00.html',
    '/API/status',
    '/Api/agents/mailbot',
  ])('gives nothing away for %s', async (path) => {
    const answer = await kit.send('GET', path)
    expect([400, 401, 404]).toContain(answer.status)
    expect(answer.text).not.toMatch(/root:|"workspaces"|dependencies/)
  })

  test('answers its views with the one page, compressed where that is taken, and keeps files with a hash', async () => {
    const page = await kit.send('GET', '/')
    const view = await kit.send('GET', '/agents/my.bot')
    expect((await kit.send('GET', '/state/mailbot/A%3Fb%2fc')).status).toBe(404)
    expect((await kit.send('GET', '/state/mailbot/A%3Fb%3fc')).text).toBe(page.text)
    expect([view.status, view.text]).toEqual([200, page.text])
    expect(view.headers['cache-control']).toBe('no-cache')
    const [, script = ''] = /src="(\/assets\/[^"]+)"/.exec(page.text) ?? []
    const plain = await kit.send('GET', script)
    expect(plain.headers['cache-control']).toContain('immutable')
    const zipped = await kit.send('GET', script, { headers: { 'accept-encoding': 'br, gzip' } })
    expect(zipped.headers['content-encoding']).toBe('gzip')
    const [small, large] = [zipped, plain].map(({ headers }) => Number(headers['content-length']))
    expect(small).toBeLessThan((large ?? 0) / 2)
    // The first load: what index.html names, as it travels.
    expect(small).toBeLessThan(175_000)
    expect((await kit.send('GET', '/assets/none.js')).status).toBe(404)
  })

  test('answers under its own names only', async () => {
    const port = new URL(kit.url).port
    const read = async (host: string) => (await kit.send('GET', '/', { headers: { host } })).status
    expect(await read('evil.example')).toBe(421)
    expect(await read(`gatehouse.localhost:${port}`)).toBe(200)
    const api = await kit.send('GET', '/api/setup', { headers: { host: 'evil.example' } })
    expect(api.status).toBe(421)
  })

  test('speaks TLS 1.2 and newer, and nothing that is older or no TLS', async () => {
    const { hostname: host, port } = new URL(kit.url)
    const at = { host, port: Number(port) }
    const shake = (version: 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3') =>
      new Promise<string>((resolve) => {
        const range = { minVersion: version, maxVersion: version }
        // The oldest are switched off in the client too, unless it is told otherwise.
        const socket = connect({ ...at, ca: kit.ca, ...range, ciphers: 'DEFAULT@SECLEVEL=0' })
        socket.once('secureConnect', () => {
          resolve(socket.getProtocol() ?? '')
          socket.destroy()
        })
        socket.once('error', () => resolve('refused'))
      })
    expect(await shake('TLSv1')).toBe('refused')
    expect(await shake('TLSv1.1')).toBe('refused')
    expect(await shake('TLSv1.2')).toBe('TLSv1.2')
    expect(await shake('TLSv1.3')).toBe('TLSv1.3')
    for (const bytes of [
      'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n',
      '\x16\x03\x01\x00\x05junk!',
    ]) {
      const socket = connectPlain(at)
      socket.on('error', () => undefined)
      let received = ''
      socket.on('data', (chunk) => {
        received += chunk.toString('latin1')
      })
      socket.write(bytes)
      await once(socket, 'close')
      expect(received).not.toContain('HTTP/1.1 200')
    }
    expect((await kit.send('GET', '/healthz')).status).toBe(200)
  })

  test('serves honest people while 1,100 handshakes stand half open, and closes those', async () => {
    const { hostname: host, port } = new URL(kit.url)
    const sockets = Array.from({ length: 1_100 }, () => {
      const socket = connectPlain({ host, port: Number(port) })
      socket.on('error', () => undefined)
      socket.write('\x16\x03')
      return socket
    })
    const closed = sockets.map((socket) => once(socket, 'close'))
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    expect((await kit.send('GET', '/healthz')).status).toBe(200)
    expect(sockets.some((socket) => !socket.closed)).toBe(true)
    await Promise.all(closed)
    expect((await kit.send('GET', '/healthz')).status).toBe(200)
  })
})

test('ends with the service, also for a browser that was in its handshake just then', async () => {
  const kit = await openDashboardKit()
  const { hostname: host, port } = new URL(kit.url)
  const socket = connectPlain({ host, port: Number(port) })
  const closed = once(socket.resume(), 'close').then(() => false)
  await once(socket, 'connect')
  // Connections are accepted in their order.
  await kit.send('GET', '/')
  const closing = kit[Symbol.asyncDispose]()
  await until(
    () =>
      new Promise<boolean>((resolve) => {
        const probe = connectPlain({ host, port: Number(port) })
        probe.once('connect', () => {
          probe.destroy()
          resolve(false)
        })
        probe.once('error', () => resolve(true))
      }),
  )
  const served = async (): Promise<boolean> => {
    if (socket.closed) return false
    const secured = connect({ socket, ca: kit.ca, servername: 'localhost' })
    const failed = once(secured, 'error').then(() => false)
    return Promise.race([failed, closed, once(secured, 'secureConnect').then(() => true)])
  }
  expect(await served()).toBe(false)
  await closing
})
