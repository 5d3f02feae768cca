import { password } from '@gatehouse/testkit/installation/seeds'
import { describe, expect, test } from 'vitest'
import { loginIdOf } from '../../src/transport/rest/login-cookie.ts'
import { assertSameOrigin } from '../../src/transport/web/same-origin.ts'
import { openRestKit } from './kit.ts'

const id = 'L'.repeat(43)

describe('the listener for browsers', () => {
  const openKit = () => openRestKit({}, { forBrowsers: true })

  test('answers a password with the cookie of a new login', async () => {
    await using kit = await openKit()
    const answer = await kit.call('POST', '/api/session', { body: { password } })
    expect([answer.status, answer.body.name]).toEqual([201, 'ana'])
    const cookie = answer.headers.get('set-cookie') ?? ''
    const [, login = ''] = /^gatehouse_session=([\w-]{43});/.exec(cookie) ?? []
    expect(await kit.kit.app.authenticateWebSession(login)).toMatchObject({
      actor: { label: 'ana' },
    })
    expect(JSON.stringify(answer.body)).not.toContain(login)
    const wrong = await kit.call('POST', '/api/session', { body: { password: 'wrong' } })
    expect([wrong.status, wrong.headers.get('set-cookie')]).toEqual([401, null])
  })

  test('ends a login, and has no login to end for a token', async () => {
    await using kit = await openKit()
    const ended = await kit.call('DELETE', '/api/session', { visit: await kit.logIn() })
    expect([ended.status, ended.headers.get('set-cookie')]).toEqual([
      200,
      expect.stringContaining('Max-Age=0'),
    ])
    const token = await kit.call('DELETE', '/api/session', { role: 'operator' })
    expect(token.status).toBe(409)
  })

  test('takes a page of its own for its own, at the exact host and port', async () => {
    await using kit = await openKit()
    const from = async (origin: string) => {
      const headers = { host: 'localhost:7800', origin }
      return (await kit.call('GET', '/healthz', { headers })).status
    }
    expect(await from('https://localhost:7800')).toBe(200)
    for (const origin of ['http://localhost:7800', 'https://localhost:7801', 'https://localhost'])
      expect([origin, await from(origin)]).toEqual([origin, 403])
  })

  test('ends a stream with the login that opened it', async () => {
    await using kit = await openKit()
    const visit = await kit.logIn()
    let holds = true
    const response = await kit.rest.fetch(
      new Request('https://gatehouse.localhost/api/approvals/stream'),
      { ...visit, stillValid: async () => holds },
    )
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (!text.includes('snapshot')) text += (await reader?.read())?.value ?? ''
    holds = false
    await kit.ask('Another')
    expect(await reader?.read()).toEqual({ done: true, value: undefined })
  })
})

test('no password is taken at the plain listener', async () => {
  await using kit = await openRestKit()
  for (const [path, body] of [
    ['/api/session', { password }],
    ['/api/setup', { password, token: 'x' }],
  ] as const) {
    const answer = await kit.call('POST', path, { body })
    expect([answer.status, answer.body.code]).toEqual([403, 'LoginElsewhere'])
  }
  expect(kit.calls).toEqual([])
})

test.each([
  [`gatehouse_session=${id}`, id],
  [`theme=dark; gatehouse_session=${id}; x=y`, id],
  [`gatehouse_session=${id}; gatehouse_session=other`, null],
  ['gatehouse_session=', null],
  ['xgatehouse_session=1', null],
  [null, null],
])('finds the login in the cookies %s', (header, login) => {
  expect(loginIdOf(header)).toBe(login)
})

describe('a request with a login', () => {
  const sent = (method: string, headers: Record<string, string>, hasLogin = true) => {
    try {
      assertSameOrigin(new Request('https://localhost/', { method, headers }), hasLogin)
      return 'passes'
    } catch (error) {
      return (error as { type: string }).type
    }
  }

  test.each(['POST', 'PUT', 'DELETE', 'PATCH'])('says by %s where it comes from', (method) => {
    expect(sent(method, {})).toBe('OriginNotAllowed')
    expect(sent(method, { origin: 'https://localhost' })).toBe('passes')
    const fetched = { origin: 'https://localhost', 'sec-fetch-site': 'same-site' }
    expect(sent(method, fetched)).toBe('OriginNotAllowed')
  })

  test('need not say it without one, as programs do not', () => {
    expect(sent('POST', {}, false)).toBe('passes')
    expect(sent('POST', { 'sec-fetch-site': 'cross-site' }, false)).toBe('OriginNotAllowed')
  })
})
