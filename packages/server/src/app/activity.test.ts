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
  await kit.settled('mailbot', id)
  const { events } = await kit.app.listActivity(kit.operator(), { ...page, agent: 'mailbot' })
  const about = events.filter((event) => event.approval_id === id).toReversed()
  expect(about.map(({ type, capability }) => [type, capability])).toEqual([
    ['approval_requested', 'filesystem.delete'],
    ['approval_approved', 'filesystem.delete'],
    ['approval_running', 'filesystem.delete'],
    ['capability_invoked', 'filesystem.delete'],
  ])
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
  const wrong = follow(kit, { after: 'kit:1; drop' })
  await expect(wrong.batches.next()).rejects.toMatchObject({ type: 'InvalidRequest' })
  const { batches, end } = follow(kit, { after: 'kit:999999' })
  await batches.next()
  await kit.invoke('mailbot', 'system.time')
  expect((await batches.next()).value.events).toHaveLength(1)
  end()
})
