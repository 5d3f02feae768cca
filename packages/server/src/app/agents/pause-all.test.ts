import { createKit, type Kit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'

const kindOf = async (kit: Kit, agent: string) => (await kit.invoke(agent, 'system.time')).kind

const pauseAll = (kit: Kit, who = 'ana', reason = '') =>
  kit.app.pauseAll(kit.operator(who), { reason })
const resumeAll = (kit: Kit, who = 'ana', agents?: string[]) =>
  kit.app.resumeAll(kit.operator(who), agents ? { agents } : {})

test('stops every agent on its next call and brings back those that it stopped', async () => {
  await using kit = await createKit()
  for (const name of ['a', 'b', 'c']) await kit.agent(name)
  await kit.app.pauseAgent(kit.operator(), { name: 'c' })
  expect(await pauseAll(kit)).toMatchObject({ agents: ['a', 'b'], count: 2 })
  expect([await kindOf(kit, 'a'), await kindOf(kit, 'b')]).toEqual(['denied', 'denied'])
  expect(await pauseAll(kit)).toMatchObject({ agents: [], count: 0 })
  expect(await resumeAll(kit)).toMatchObject({ agents: ['a', 'b'], count: 2 })
  expect([await kindOf(kit, 'a'), await kindOf(kit, 'c')]).toEqual(['succeeded', 'denied'])
  expect(await resumeAll(kit)).toMatchObject({ agents: [], count: 0 })
})

test('leaves alone whom a person paused or resumed by name meanwhile', async () => {
  await using kit = await createKit()
  for (const name of ['a', 'b', 'c']) await kit.agent(name)
  await pauseAll(kit)
  await kit.app.pauseAgent(kit.operator(), { name: 'a' })
  await kit.app.resumeAgent(kit.operator(), { name: 'b' })
  await kit.app.pauseAgent(kit.operator(), { name: 'b' })
  expect(await resumeAll(kit)).toMatchObject({ agents: ['c'], count: 1 })
  expect([await kindOf(kit, 'a'), await kindOf(kit, 'b')]).toEqual(['denied', 'denied'])
})

test('records who stopped everything, and each agent it stopped', async () => {
  await using kit = await createKit()
  for (const name of ['a', 'b']) await kit.agent(name)
  await pauseAll(kit, 'ben')
  await resumeAll(kit, 'ana')
  const acts = (await kit.audit()).filter(({ capability }) => /paused|resumed/.test(capability))
  expect(
    acts.toReversed().map(({ capability, actor, agent }) => [capability, actor, agent]),
  ).toEqual([
    ['agent.paused', 'user:ben', 'a'],
    ['agent.paused', 'user:ben', 'b'],
    ['service.paused', 'user:ben', ''],
    ['agent.resumed', 'user:ana', 'a'],
    ['agent.resumed', 'user:ana', 'b'],
    ['service.resumed', 'user:ana', ''],
  ])
})

test('says who paused it and why until everybody is back, and agents come back some first', async () => {
  await using kit = await createKit()
  for (const name of ['a', 'b', 'c']) await kit.agent(name)
  const stands = () => kit.app.showPause(kit.operator())
  expect(await stands()).toEqual({
    ...{ paused: false, reason: '', paused_by: null, since: null, agents: [] },
  })
  await pauseAll(kit, 'ben', 'a token has leaked')
  const { since } = await stands()
  expect(Date.parse(since ?? '')).not.toBeNaN()
  await kit.app.rotateAgent(kit.operator(), { name: 'b', overlap_seconds: 0 })
  expect(await resumeAll(kit, 'ana', ['a'])).toMatchObject({ agents: ['a'], count: 1 })
  expect([await kindOf(kit, 'a'), await kindOf(kit, 'c')]).toEqual(['succeeded', 'denied'])
  const paused = { paused: true, reason: 'a token has leaked', paused_by: 'user:ben', since }
  expect(await stands()).toEqual({ ...paused, agents: ['b', 'c'] })
  expect((await kit.app.status(kit.operator())).pause).toEqual(await stands())
  expect(await resumeAll(kit)).toMatchObject({ agents: ['b', 'c'], pause: { paused: false } })
  expect((await stands()).since).toBeNull()
})

test('brings back nobody where one of the names did not come with the pause', async () => {
  await using kit = await createKit()
  for (const name of ['a', 'b']) await kit.agent(name)
  await kit.app.pauseAgent(kit.operator(), { name: 'b' })
  await pauseAll(kit)
  await expect(resumeAll(kit, 'ana', ['a', 'b'])).rejects.toMatchObject({
    type: 'AgentStateConflict',
  })
  await expect(resumeAll(kit, 'ana', ['a', 'x'])).rejects.toMatchObject({ type: 'AgentNotFound' })
  expect(await kindOf(kit, 'a')).toBe('denied')
})

test('holds agents that are created or restored meanwhile, until everybody is back', async () => {
  await using kit = await createKit()
  for (const name of ['a', 'gone']) await kit.agent(name)
  await kit.app.revokeAgent(kit.operator(), { name: 'gone' })
  await pauseAll(kit)
  await kit.agent('late')
  await kit.app.restoreAgent(kit.operator(), { name: 'gone' })
  expect(await kindOf(kit, 'late')).toBe('denied')
  const statuses = async () =>
    (await kit.app.listAgents(kit.operator())).map(({ name, status }) => [name, status])
  expect(await statuses()).toContainEqual(['gone', 'paused'])
  expect(await resumeAll(kit)).toMatchObject({ agents: ['a', 'gone', 'late'] })
  expect(await kindOf(kit, 'late')).toBe('succeeded')
  await kit.agent('later')
  expect(await kindOf(kit, 'later')).toBe('succeeded')
})
