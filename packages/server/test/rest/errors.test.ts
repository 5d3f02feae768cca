import { GatehouseError, Problem } from '@gatehouse/contract'
import { seeded } from '@gatehouse/testkit/installation/seeds'
import { replacing } from '@gatehouse/testkit/replacing'
import { expect, test } from 'vitest'
import type { AuditReader } from '../../src/ports/audit.ts'
import type { Storage } from '../../src/ports/storage.ts'
import { openRestKit, useRestKit } from './kit.ts'

const role = 'operator' as const
const shared = useRestKit()

/** A service whose store has this part, beside what it had. */
const openStored = (parts: (storage: Storage) => Partial<Storage>) =>
  openRestKit({
    ports(name, port) {
      if (name !== 'storage') return port
      return { ...port, ...parts(port as unknown as Storage) }
    },
  })

const openUnlisted = (cause: Error) =>
  openStored(({ agents }) => ({ agents: replacing(agents, { list: () => Promise.reject(cause) }) }))

test('answers every error as a problem document with a request id', async () => {
  await using kit = await openRestKit()
  const answer = await kit.call('GET', '/api/agents/nobody', { role })
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  expect(answer.headers.get('gatehouse-request-id')).toBe(answer.body.request_id)
  expect(Problem.parse(answer.body)).toEqual({
    type: 'urn:gatehouse:error:AgentNotFound',
    title: 'Agent not found',
    status: 404,
    detail: 'There is no agent nobody.',
    code: 'AgentNotFound',
    request_id: 'req-00000000000000000000000001',
    recovery: [{ action: 'check the name', description: 'Use the name of an agent that exists.' }],
  })
})

test('asks strangers for a token, and tells them nothing of what exists', async () => {
  const kit = shared()
  for (const path of ['/api/status', '/api/nowhere', '/', '/api/agents/nobody']) {
    const answer = await kit.call('GET', path)
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toContain('Bearer')
  }
  expect((await kit.call('GET', '/healthz')).body).toEqual({ status: 'healthy' })
})

test.each([
  ['Basic b3A6b3A=', 'the Authorization header is not'],
  ['Bearer ', 'the Authorization header is not'],
  [`Bearer gatehouse_user_${'x'.repeat(43)}`, 'unknown or revoked'],
  [`Bearer gatehouse_user_${'o'.repeat(42)}`, 'user tokens'],
  ['Bearer undefined', 'user tokens'],
])('refuses the credential %s', async (authorization, detail) => {
  const answer = await shared().call('GET', '/api/status', { headers: { authorization } })
  expect(answer.status).toBe(401)
  expect(answer.body.detail).toContain(detail)
})

test('says 404 for what is not there and 405 for what is there under another method', async () => {
  const kit = shared()
  expect((await kit.call('GET', '/api/nowhere', { role })).body.code).toBe('NotFound')
  const wrong = await kit.call('DELETE', '/api/agents', { role })
  expect(wrong.status).toBe(405)
  expect(wrong.headers.get('allow')).toBe('GET, HEAD, POST')
  expect((await kit.call('GET', '/api/approvals/appr-x', { role })).status).toBe(404)
  expect((await kit.call('GET', '/api/agents/%00', { role })).status).toBe(404)
  expect((await kit.call('GET', '/api/agents/NoSuch', { role })).status).toBe(404)
})

test('points at every field that does not fit', async () => {
  const answer = await shared().call('POST', '/api/agents', {
    role,
    body: { name: 'Mail Bot', approvals: 'never', colour: 'red', mounts: [{ path: '' }] },
  })
  expect(answer.status).toBe(400)
  const errors = answer.body.errors as { pointer: string; detail: string }[]
  expect(errors.map(({ pointer }) => pointer).toSorted()).toEqual([
    '/approvals',
    '/colour',
    '/mounts/0/path',
    '/name',
  ])
  expect(errors.find(({ pointer }) => pointer === '/colour')?.detail).toContain('purpose')
})

test.each([
  '/api/audit?limit=0',
  '/api/audit?limit=1001',
  '/api/audit?limit=ten',
  '/api/audit?limit=1.5',
  '/api/audit?limit=',
  '/api/audit?limit=1&limit=2',
  '/api/audit?offset=-1',
  '/api/audit?since=yesterday',
  '/api/audit?since=2026-13-45',
  '/api/audit?result=great',
  '/api/audit?agnet=mailbot',
  '/api/audit?capability=*.read',
  '/api/approvals?status=open',
  '/api/approvals?limit=100000',
])('refuses %s, naming the parameter', async (path) => {
  const answer = await shared().call('GET', path, { role })
  expect(answer.status).toBe(400)
  const [error] = answer.body.errors as { pointer: string }[]
  expect(error?.pointer).toBe(`?${/\?(\w+)/.exec(path)?.[1]}`)
})

test('hands the filters of the log on as they are meant', async () => {
  const asked: unknown[] = []
  await using kit = await openRestKit({
    ports(name, port) {
      if (name !== 'audit') return port
      const reader = port as unknown as AuditReader
      const query: AuditReader['query'] = (filter) => {
        asked.push(filter)
        return reader.query(filter)
      }
      return replacing<AuditReader>(reader, { query }) as unknown as typeof port
    },
  })
  await kit.call('GET', '/api/audit', { role })
  const query = 'agent=a&capability=filesystem.*&since=2026-03-01&until=2026-03-01T10:00:00%2B02:00'
  await kit.call('GET', `/api/audit?${query}&limit=1000&offset=5&result=denied`, { role })
  expect(asked).toEqual([
    { limit: 100, offset: 0 },
    {
      agent: 'a',
      capability: 'filesystem.*',
      since: '2026-03-01T00:00:00.000Z',
      until: '2026-03-01T08:00:00.000Z',
      result: 'denied',
      limit: 1000,
      offset: 5,
    },
  ])
})

test('takes JSON only, and nothing that hides what it says', async () => {
  await using kit = await openRestKit()
  const send = (body: string, headers: Record<string, string>) =>
    kit.call('POST', '/api/user-tokens', { role, body, headers })
  const good = '{"label":"phone"}'
  expect((await send(good, { 'content-type': 'text/plain' })).status).toBe(415)
  expect((await send(good, { 'content-encoding': 'gzip' })).status).toBe(415)
  expect((await send('{"label":', {})).body.code).toBe('ParseError')
  expect((await send('{"label":"a","label":"b"}', {})).status).toBe(400)
  expect((await send(JSON.stringify({ label: 'x'.repeat(3_000_000) }), {})).status).toBe(413)
  expect((await send(good, {})).status).toBe(201)
})

test('lets a body be left out where nothing in it is needed', async () => {
  await using kit = await openRestKit()
  const path = `/api/approvals/${seeded.approval}/reject`
  expect((await kit.call('POST', path, { role })).body.status).toBe('rejected')
})

test('tells of its own faults nothing but a number that the log has too', async () => {
  await using kit = await openUnlisted(new Error('SELECT * FROM agents failed in /srv/secret.db'))
  const answer = await kit.call('GET', '/api/agents', { role })
  expect(answer.status).toBe(500)
  expect(JSON.stringify(answer.body)).not.toMatch(/SELECT|secret/)
  expect(answer.body.detail).toContain(answer.body.request_id)
  expect(kit.logged.join()).toContain(String(answer.body.request_id))
  expect(kit.logged.join()).toContain('SELECT')
})

test('says when to come back while it cannot serve', async () => {
  const full = new GatehouseError('StorageUnavailable', { detail: 'the disk is full' })
  await using kit = await openUnlisted(full)
  const answer = await kit.call('GET', '/api/agents', { role })
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
})

test('is not ready while a part is unhealthy, and tells strangers no more than that', async () => {
  // Tools that wait for a person keep nobody out.
  const ready = await shared().call('GET', '/readyz')
  expect([ready.status, ready.body]).toEqual([200, { status: 'degraded' }])
  await using sick = await openStored(({ clock }) => ({
    clock: replacing(clock, { read: () => Promise.reject(new Error('it is gone')) }),
  }))
  const answer = await sick.call('GET', '/readyz')
  expect([answer.status, answer.body]).toEqual([503, { status: 'unhealthy' }])
})

test('counts wrong tokens by address, and lets a right one pass all the same', async () => {
  const kit = shared()
  const visit = { address: '127.0.0.1' }
  const host = { host: 'localhost:7703' }
  const wrong = { ...host, authorization: `Bearer gatehouse_user_${'x'.repeat(43)}` }
  for (let i = 0; i < 60; i++)
    expect((await kit.call('GET', '/api/status', { headers: wrong, visit })).status).toBe(401)
  const mapped = { address: '::ffff:127.0.0.1' }
  const limited = await kit.call('GET', '/api/status', { headers: wrong, visit: mapped })
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '60'])
  const right = await kit.call('GET', '/api/status', { role, headers: host, visit })
  expect(right.status).toBe(200)
})
