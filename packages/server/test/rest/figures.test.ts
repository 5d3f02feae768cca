import type { Figures } from '@gatehouse/contract'
import { createKit, type Kit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import { createRestApp } from '../../src/transport/rest/create-rest-app.ts'

const openApi = async (kit: Kit) => {
  const silent = () => undefined
  const rest = createRestApp({
    app: kit.app,
    version: '1.2.3',
    ids: { next: (prefix) => `${prefix}-${'1'.padStart(26, '0')}` },
    log: { debug: silent, info: silent, warn: silent, error: silent },
  })
  const { token } = await kit.app.createUserToken(kit.operator(), { label: 'eyes', role: 'viewer' })
  return async (query = '') => {
    const url = `http://gatehouse.localhost/api/figures${query}`
    const response = await rest.fetch(
      new Request(url, { headers: { authorization: `Bearer ${token}` } }),
    )
    return {
      status: response.status,
      body: (await response.json()) as Figures & { errors: object },
    }
  }
}

test('a viewer gets the last 24 hours in parts of 15 minutes', async () => {
  await using kit = await createKit()
  await kit.agent('mailbot')
  const get = await openApi(kit)
  const { status, body } = await get()
  expect(status).toBe(200)
  const now = kit.clock.wall()
  expect([body.from, body.to]).toEqual(
    [now - 86_400_000, now].map((ms) => new Date(ms).toISOString()),
  )
  expect(body.step_seconds).toBe(900)
  expect(body.times).toHaveLength(96)
  expect([body.times[0], body.times[1]]).toEqual([
    body.from,
    new Date(now - 86_400_000 + 900_000).toISOString(),
  ])
  expect(body.calls).toEqual(body.times.map(() => 0))
  expect(body.duration_p95_ms).toEqual(body.times.map(() => null))
  expect([body.by_capability, body.by_agent, body.edges]).toEqual([[], [], []])
})

test('figures of an agent are of its calls alone', async () => {
  await using kit = await createKit()
  for (const name of ['mailbot', 'other']) await kit.agent(name)
  await kit.invoke('mailbot', 'system.time')
  await kit.invoke('other', 'system.time')
  await kit.invoke('other', 'filesystem.read', { path: 'missing' })
  kit.clock.move(1_000)
  const get = await openApi(kit)
  expect((await get('?step=86400')).body).toMatchObject({ calls: [3], failed: [1] })
  const { body } = await get('?step=86400&agent=other')
  expect(body).toMatchObject({
    calls: [2],
    failed: [1],
    by_capability: [
      { capability: 'filesystem.read', calls: 1, failed: 1, denied: 0 },
      { capability: 'system.time', calls: 1, failed: 0, denied: 0 },
    ],
    by_agent: [{ agent: 'other', calls: 2, failed: 1, denied: 0, held: 0 }],
    edges: [
      { agent: 'other', group: 'filesystem', service: null, calls: 1, denied: 0, held: 0 },
      { agent: 'other', group: 'system', service: null, calls: 1, denied: 0, held: 0 },
    ],
  })
  expect(body.duration_p50_ms[0]).toBeTypeOf('number')
  expect((await get('?agent=nobody')).body.by_agent).toEqual([])
})

test.each([
  ['from=2026-01-02&to=2026-01-01', '?from', 'must be before "to"'],
  ['from=2026-01-01&to=2026-03-01', '?from', 'must be at most 31 days before the end'],
  ['from=9999-01-01', '?from', 'must be before now'],
  ['step=1', '?step', 'makes 86400 parts of this range; at most 500, so 173 or more'],
  ['step=0', '?step', expect.stringContaining('expected an integer from 1')],
  ['to=yesterday', '?to', expect.stringContaining('ISO 8601')],
  ['until=2026-01-01', '?until', expect.any(String)],
])('refuses %s, and says which field is wrong', async (query, pointer, detail) => {
  await using kit = await createKit()
  const { status, body } = await (await openApi(kit))(`?${query}`)
  expect([status, body.errors]).toEqual([400, [{ pointer, detail }]])
})
