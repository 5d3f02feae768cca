import { createKit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'

const page = { limit: 50, offset: 0 }

test('tells of each call once, when it ended, in the words of the contract', async () => {
  await using kit = await createKit()
  await kit.agent('mailbot')
  await kit.invoke('mailbot', 'filesystem.write', { path: 'a', content: 'x' })
  await kit.invoke('mailbot', 'filesystem.read', { path: 'missing' })
  const { events, total } = await kit.app.listActivity(kit.operator(), page)
  const [failed, written, created] = events
  expect(failed).toMatchObject({
    capability: 'filesystem.read',
    success: false,
    error: 'FileNotFound',
  })
  expect(written).toMatchObject({
    type: 'capability_invoked',
    agent: 'mailbot',
    capability: 'filesystem.write',
    object: 'a',
    success: true,
    result: 'success',
  })
  expect(Number.isInteger(written?.duration_ms)).toBe(true)
  expect(written?.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  expect(created).toMatchObject({ type: 'agent_created', agent: 'mailbot', capability: '' })
  expect(total).toBe(events.length)
  expect(events.filter(({ capability }) => capability === 'filesystem.write')).toHaveLength(1)
})

test('tells of an approval as it is asked for, decided, run and done', async () => {
  await using kit = await createKit()
  await kit.agent('mailbot')
  await kit.invoke('mailbot', 'filesystem.write', { path: 'a', content: 'x' })
  const id = await kit.pending('mailbot', 'filesystem.delete', { path: 'a' })
  await kit.decide(id, 'approve')
  await kit.resolved('mailbot', id)
  const { events } = await kit.app.listActivity(kit.operator(), { ...page, agent: 'mailbot' })
  const about = events.filter((event) => event.approval_id === id).toReversed()
  expect(about.map(({ type, capability, object }) => [type, capability, object])).toEqual([
    ['approval_requested', 'filesystem.delete', 'a'],
    ['approval_approved', 'filesystem.delete', 'a'],
    ['approval_running', 'filesystem.delete', 'a'],
    ['capability_invoked', 'filesystem.delete', 'a'],
  ])
})

test('every act about a call says which call that is', async () => {
  await using kit = await createKit({ settings: { 'approvals.ttl': 60_000 } })
  await kit.agent('mailbot')
  const ask = async (path: string) => {
    await kit.invoke('mailbot', 'filesystem.write', { path, content: path })
    return kit.pending('mailbot', 'filesystem.delete', { path })
  }
  await kit.decide(await ask('rejected'), 'reject')
  await kit.invoke('mailbot', 'approvals.cancel', { approval_id: await ask('withdrawn') })
  await kit.decide(await ask('changed'), 'approve', { arguments: { path: 'rejected' } })
  const remember = { ttl_seconds: 600, match: 'same_arguments' } as const
  const id = await ask('remembered')
  await kit.decide(id, 'approve', { remember })
  await kit.resolved('mailbot', id)
  await ask('stale')
  await kit.invoke('mailbot', 'filesystem.write', { path: 'stale', content: 'other' })
  await kit.pending('mailbot', 'filesystem.delete', { path: 'stale' })
  const later = { capability: 'filesystem.read', arguments: { path: 'later' }, delay_seconds: 60 }
  const made = await kit.invoke('mailbot', 'scheduler.create', later)
  if (made.kind !== 'succeeded') throw new Error(JSON.stringify(made))
  const schedule_id = String(made.data['schedule_id'])
  await kit.app.deleteSchedule(kit.operator(), { schedule_id })
  const left = await ask('left')
  await kit.app.revokeAgent(kit.operator(), { name: 'mailbot' })
  const { events } = await kit.app.listActivity(kit.operator(), { limit: 200, offset: 0 })
  const acts = events
    .filter(({ type }) => /^(approval|grant|schedule)_/.test(type))
    .map(({ type, capability, object }) => `${type} ${capability} ${object}`)
  for (const act of [
    'approval_rejected filesystem.delete rejected',
    'approval_cancelled filesystem.delete withdrawn',
    'approval_approved filesystem.delete changed',
    'approval_edited filesystem.delete rejected',
    'approval_approved filesystem.delete remembered',
    'grant_created filesystem.delete remembered',
    'approval_cancelled filesystem.delete stale',
    'schedule_deleted filesystem.read later',
    'grant_revoked filesystem.delete remembered',
    'approval_cancelled filesystem.delete left',
  ])
    expect(acts).toContain(act)
  const [entry] = (await kit.audit()).filter(({ approval_id }) => approval_id === left)
  expect(entry).toMatchObject({
    capability: 'approval.cancelled',
    arguments: { approval_id: left, capability: 'filesystem.delete', object: 'left' },
  })
})

test('an approval that expires says of which call', async () => {
  await using kit = await createKit({ settings: { 'approvals.ttl': 60_000 } })
  await kit.agent('mailbot')
  await kit.invoke('mailbot', 'filesystem.write', { path: 'a', content: 'x' })
  const id = await kit.pending('mailbot', 'filesystem.delete', { path: 'a' })
  kit.clock.move(61_000)
  await kit.resolved('mailbot', id)
  const { events } = await kit.app.listActivity(kit.operator(), page)
  expect(events.find(({ type }) => type === 'approval_expired')).toMatchObject({
    capability: 'filesystem.delete',
    object: 'a',
  })
})

test('tells of sessions and keeps to the agent that is asked for', async () => {
  await using kit = await createKit()
  await kit.agent('mailbot')
  await kit.agent('other')
  const session = await kit.app.openSession(kit.op('mailbot'), { transport: 'rpc', client: null })
  const op = kit.op('mailbot', { session_id: session.session_id })
  await kit.app.endSession(op, { session_id: session.session_id })
  const { events, total } = await kit.app.listActivity(kit.operator(), {
    ...page,
    agent: 'mailbot',
  })
  expect(events.map(({ type }) => type)).toEqual([
    'session_ended',
    'session_started',
    'agent_created',
  ])
  expect(events[0]?.session_id).toBe(session.session_id)
  expect(total).toBe(3)
})

const follow = (
  kit: Awaited<ReturnType<typeof createKit>>,
  input: { after?: string; agent?: string },
) => {
  const ending = new AbortController()
  const op = { ...kit.operator(), signal: ending.signal }
  const batches = kit.app.followActivity(op, input)[Symbol.asyncIterator]()
  return { batches, end: () => ending.abort() }
}

test('follows what is committed, from now on, without asking again', async () => {
  await using kit = await createKit()
  await kit.agent('mailbot')
  const { batches, end } = follow(kit, {})
  const first = await batches.next()
  expect(first.value).toMatchObject({ events: [] })
  const coming = batches.next()
  await kit.invoke('mailbot', 'system.time')
  const { value } = await coming
  expect(value.events).toMatchObject([{ event: { capability: 'system.time' } }])
  const ended = batches.next()
  end()
  expect(await ended).toMatchObject({ done: true })
})

test('goes on exactly behind the event that a reader saw last', async () => {
  await using kit = await createKit()
  await kit.agent('mailbot')
  await kit.agent('other')
  const start = follow(kit, {})
  const { value: now } = await start.batches.next()
  start.end()
  for (const agent of ['mailbot', 'other', 'mailbot']) await kit.invoke(agent, 'system.time')
  const seen: string[] = []
  let after = now.place
  for (let n = 0; n < 3; n += 1) {
    const { batches, end } = follow(kit, { after })
    await batches.next()
    const { value } = await batches.next()
    const [next] = value.events
    seen.push(`${next.event.agent} ${next.event.capability}`)
    after = next.place
    end()
  }
  expect(seen).toEqual(['mailbot system.time', 'other system.time', 'mailbot system.time'])
  const only = follow(kit, { after: now.place, agent: 'other' })
  await only.batches.next()
  const { value } = await only.batches.next()
  expect(value.events).toMatchObject([{ event: { agent: 'other' } }])
  only.end()
})

test('refuses a place that no stream ever named, and takes a place beyond the end for the end', async () => {
  await using kit = await createKit()
  await kit.agent('mailbot')
  const wrong = follow(kit, { after: `${kit.parts.node}:1; drop` })
  await expect(wrong.batches.next()).rejects.toMatchObject({ type: 'InvalidRequest' })
  const { batches, end } = follow(kit, { after: `${kit.parts.node}:999999` })
  await batches.next()
  await kit.invoke('mailbot', 'system.time')
  expect((await batches.next()).value.events).toHaveLength(1)
  end()
})
