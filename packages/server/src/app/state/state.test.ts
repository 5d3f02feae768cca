import { createKit, failureIn, type Kit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'

const dataOf = async (
  kit: Kit,
  agent: string,
  capability: string,
  args: object = {},
  session?: string,
) => {
  const outcome = await kit.invoke(agent, capability, args, session ? { session_id: session } : {})
  if (outcome.kind !== 'succeeded') throw new Error(JSON.stringify(outcome))
  return outcome.data
}
const failure = async (kit: Kit, agent: string, capability: string, args: object) =>
  failureIn(await kit.invoke(agent, capability, args))

const openKit = async () => {
  const kit = await createKit()
  await kit.agent('alpha')
  await kit.agent('beta')
  return kit
}

test('keeps a value, its versions and what it was before', async () => {
  await using kit = await openKit()
  const set = (value: unknown) => dataOf(kit, 'alpha', 'state.set', { key: 'k', value })
  expect(await set({ done: 1 })).toMatchObject({ version: 1, size_bytes: 10, expires_at: null })
  expect(await set(null)).toMatchObject({ version: 2 })
  expect(await dataOf(kit, 'alpha', 'state.get', { key: 'k' })).toMatchObject({
    value: null,
    version: 2,
  })
  expect(await dataOf(kit, 'alpha', 'state.delete', { key: 'k' })).toMatchObject({ version: 3 })
  expect(await failure(kit, 'alpha', 'state.get', { key: 'k' })).toMatchObject({
    type: 'StateNotFound',
  })
  expect(await set('again')).toMatchObject({ version: 4 })
  const { versions } = await dataOf(kit, 'alpha', 'state.history', { key: 'k' })
  expect(versions).toMatchObject([
    { version: 4, value: 'again' },
    { version: 3, deleted: true },
    { version: 2, value: null, kept: true },
    { version: 1, value: { done: 1 } },
  ])
})

test('keeps the values of one agent from every other', async () => {
  await using kit = await openKit()
  await dataOf(kit, 'alpha', 'state.set', { key: 'secret', value: 1 })
  for (const key of ['secret', 'agent:alpha/secret', '../alpha/secret']) {
    expect(await failure(kit, 'beta', 'state.get', { key })).toMatchObject({
      type: 'StateNotFound',
    })
    expect(await failure(kit, 'beta', 'state.delete', { key })).toMatchObject({
      type: 'StateNotFound',
    })
  }
  expect(await dataOf(kit, 'beta', 'state.list')).toMatchObject({ keys: [], total: 0 })
  expect(await dataOf(kit, 'alpha', 'state.get', { key: 'secret' })).toMatchObject({ value: 1 })
})

test.each([
  '../../x',
  '__proto__',
  "a'; DROP TABLE state",
  'agent:other:k',
  '日本/é',
  'x'.repeat(512),
])('takes the key %s for what it is: a text', async (key) => {
  await using kit = await openKit()
  await dataOf(kit, 'alpha', 'state.set', { key, value: { constructor: { prototype: 1 } } })
  expect(await dataOf(kit, 'alpha', 'state.get', { key })).toMatchObject({ key, version: 1 })
  expect(await dataOf(kit, 'beta', 'state.list')).toMatchObject({ total: 0 })
  expect(({} as Record<string, unknown>)['x']).toBeUndefined()
})

test.each(['', 'x'.repeat(513), 'a\0b', 'a\nb', '..'])('refuses the key %j', async (key) => {
  await using kit = await openKit()
  expect(await failure(kit, 'alpha', 'state.set', { key, value: 1 })).toMatchObject({
    type: 'InvalidKey',
  })
})

test('holds values to a size and an agent to its quota', async () => {
  await using kit = await openKit()
  const value = 'x'.repeat(1_048_574)
  const set = (n: number) => ({ key: `k${n}`, value })
  expect(await failure(kit, 'alpha', 'state.set', { key: 'k', value: `${value}y` })).toMatchObject({
    type: 'ValueTooLarge',
  })
  for (let n = 0; n < 100; n += 1) await dataOf(kit, 'alpha', 'state.set', set(n))
  expect(await failure(kit, 'alpha', 'state.set', { key: 'one more', value: 1 })).toMatchObject({
    type: 'StateQuotaExceeded',
  })
  await dataOf(kit, 'alpha', 'state.set', { key: 'k1', value: 1 })
  await dataOf(kit, 'alpha', 'state.set', { key: 'one more', value: 1 })
  await dataOf(kit, 'beta', 'state.set', set(1))
})

test('lets a value end after its time, for reading, listing and counting', async () => {
  await using kit = await openKit()
  await dataOf(kit, 'alpha', 'state.set', { key: 'k', value: 1, ttl_seconds: 10 })
  kit.clock.move(9_999)
  expect(await dataOf(kit, 'alpha', 'state.get', { key: 'k' })).toMatchObject({ value: 1 })
  kit.clock.move(1)
  expect(await failure(kit, 'alpha', 'state.get', { key: 'k' })).toMatchObject({
    type: 'StateNotFound',
  })
  expect(await dataOf(kit, 'alpha', 'state.list')).toMatchObject({ keys: [] })
  kit.clock.move(120_000)
  await expect
    .poll(() => kit.storage.state.usage('agent:alpha'))
    .toEqual({ keys: 0, size_bytes: 0 })
  expect(
    await dataOf(kit, 'alpha', 'state.set', { key: 'k', value: 2, expected_version: 0 }),
  ).toMatchObject({ version: 3 })
})

test('finds values by their prefix and fields, a page at a time', async () => {
  await using kit = await openKit()
  for (let n = 0; n < 7; n += 1)
    await dataOf(kit, 'alpha', 'state.set', { key: `task/${n}`, value: { open: n % 2 === 0 } })
  await dataOf(kit, 'alpha', 'state.set', { key: 'other', value: { open: true } })
  const query = { prefix: 'task/', where: { open: true }, limit: 3 }
  const first = await dataOf(kit, 'alpha', 'state.query', query)
  expect(first).toMatchObject({
    entries: [{ key: 'task/0' }, { key: 'task/2' }, { key: 'task/4' }],
  })
  const rest = await dataOf(kit, 'alpha', 'state.query', { ...query, cursor: first['next_cursor'] })
  expect(rest).toMatchObject({ entries: [{ key: 'task/6' }], truncated: false, next_cursor: null })
  const keys = await dataOf(kit, 'alpha', 'state.list', { limit: 5 })
  expect(keys).toMatchObject({ total: 8, truncated: true, next_cursor: 'task/3' })
})

test('lets one of many agents win a shared key, and tells the others what stands there', async () => {
  await using kit = await openKit()
  const set = (agent: string, value: unknown, expected_version?: number) =>
    kit.invoke(agent, 'shared.set', {
      key: 'k',
      value,
      ...(expected_version === undefined ? {} : { expected_version }),
    })
  expect((await set('alpha', 1)).kind).toBe('succeeded')
  const outcomes = await Promise.all(
    ['alpha', 'beta', 'alpha', 'beta'].map((agent) => set(agent, agent, 1)),
  )
  expect(outcomes.filter(({ kind }) => kind === 'succeeded')).toHaveLength(1)
  const lost = failureIn(outcomes.find(({ kind }) => kind === 'failed') ?? outcomes[0]!)
  expect(lost).toMatchObject({ type: 'VersionConflict' })
  expect(lost?.message).toMatch(/is at version 2, not 1: agent:(alpha|beta) set it at /)
  expect(failureIn(await set('beta', 2))).toMatchObject({ type: 'VersionConflict' })
  expect(
    await failure(kit, 'beta', 'shared.delete', { key: 'k', expected_version: 1 }),
  ).toMatchObject({
    type: 'VersionConflict',
  })
  expect(
    await dataOf(kit, 'beta', 'shared.delete', { key: 'k', expected_version: 2 }),
  ).toMatchObject({
    deleted: true,
  })
})

test('says how it came that a key has no value where one was expected', async () => {
  await using kit = await openKit()
  const says = async (key: string) => {
    const input = { key, value: 1, expected_version: 9 }
    return failureIn(await kit.invoke('alpha', 'state.set', input))?.message
  }
  expect(await says('never')).toBe('The key never is at version 0, not 9: it was never set.')
  await dataOf(kit, 'alpha', 'state.set', { key: 'deleted', value: 1 })
  await dataOf(kit, 'alpha', 'state.delete', { key: 'deleted' })
  expect(await says('deleted')).toMatch(
    /^The key deleted is at version 0, not 9: agent:alpha deleted it at 2[^ ]+Z[.]$/,
  )
  await dataOf(kit, 'alpha', 'state.set', { key: 'expired', value: 1, ttl_seconds: 60 })
  kit.clock.move(61_000)
  expect(await says('expired')).toBe(
    'The key expired is at version 0, not 9: its value has expired.',
  )
})

test('wakes who watches a shared key, and answers at once who is behind', async () => {
  await using kit = await openKit()
  await dataOf(kit, 'alpha', 'shared.set', { key: 'k', value: 1 })
  const behind = await dataOf(kit, 'beta', 'shared.watch', { key: 'k', after_version: 0 })
  expect(behind).toMatchObject({ changed: true, value: 1, version: 1, updated_by: 'agent:alpha' })
  const waiting = dataOf(kit, 'beta', 'shared.watch', { key: 'k', after_version: 1 })
  await dataOf(kit, 'alpha', 'shared.set', { key: 'other', value: 1 })
  await dataOf(kit, 'alpha', 'shared.set', { key: 'k', value: 2, expected_version: 1 })
  expect(await waiting).toMatchObject({ changed: true, value: 2, version: 2 })
})

test('gives scratch values to their session alone, and ends them with it', async () => {
  await using kit = await openKit()
  const client = { transport: 'rpc', client: null } as const
  const { session_id } = await kit.app.openSession(kit.op('alpha'), client)
  const other = await kit.app.openSession(kit.op('alpha'), client)
  await dataOf(kit, 'alpha', 'scratch.set', { key: 'k', value: [1] }, session_id)
  expect(await dataOf(kit, 'alpha', 'scratch.get', { key: 'k' }, session_id)).toMatchObject({
    value: [1],
  })
  expect(await dataOf(kit, 'alpha', 'scratch.list', {}, other.session_id)).toMatchObject({
    total: 0,
  })
  expect(await failure(kit, 'alpha', 'scratch.set', { key: 'k', value: 1 })).toMatchObject({
    type: 'NoSession',
  })
  await kit.app.endSession(kit.op('alpha', { session_id }), { session_id })
  expect(await kit.storage.state.find(`session:${session_id}`, 'k')).toBeNull()
})

test('records what people change in the values of agents, by whom', async () => {
  await using kit = await openKit()
  const place = { agent: 'alpha', key: 'a/b' }
  await kit.app.changeState(kit.operator(), { ...place, value: { x: 1 } })
  expect(await kit.app.showState(kit.operator(), place)).toMatchObject({
    value: { x: 1 },
    version: 1,
  })
  expect(await kit.app.listState(kit.operator(), { agent: 'alpha', limit: 10 })).toMatchObject({
    agent: 'alpha',
    keys: [{ key: 'a/b', size_bytes: 7, version: 1 }],
    ...{ total: 1, size_bytes: 7, quota_bytes: 104_857_600 },
  })
  expect(await kit.app.deleteState(kit.operator(), place)).toEqual({ ...place, deleted: true })
  const acts = await kit.audit({ capability: 'state.*' })
  expect(
    acts.map(({ capability, actor, agent, arguments: args }) => [
      capability,
      actor,
      agent,
      args['key'],
    ]),
  ).toEqual([
    ['state.deleted', 'user:ana', 'alpha', 'a/b'],
    ['state.set', 'user:ana', 'alpha', 'a/b'],
  ])
  await expect(kit.app.deleteState(kit.operator(), place)).rejects.toMatchObject({
    type: 'StateNotFound',
  })
  const nobody = { ...place, agent: 'nobody' }
  await expect(kit.app.showState(kit.operator(), nobody)).rejects.toMatchObject({
    type: 'AgentNotFound',
  })
})
