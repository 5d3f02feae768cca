import { createKit, type Kit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'

const kindOf = async (kit: Kit, agent: string) => (await kit.invoke(agent, 'system.time')).kind

test('stops every agent on its next call and brings back those that it stopped', async () => {
  await using kit = await createKit()
  for (const name of ['a', 'b', 'c']) await kit.agent(name)
  await kit.app.pauseAgent(kit.operator(), { name: 'c' })
  expect(await kit.app.pauseAll(kit.operator())).toEqual({ agents: ['a', 'b'], count: 2 })
  expect([await kindOf(kit, 'a'), await kindOf(kit, 'b')]).toEqual(['denied', 'denied'])
  expect(await kit.app.pauseAll(kit.operator())).toEqual({ agents: [], count: 0 })
  expect(await kit.app.resumeAll(kit.operator())).toEqual({ agents: ['a', 'b'], count: 2 })
  expect([await kindOf(kit, 'a'), await kindOf(kit, 'c')]).toEqual(['succeeded', 'denied'])
  expect(await kit.app.resumeAll(kit.operator())).toEqual({ agents: [], count: 0 })
})

test('leaves alone whom a person paused or resumed by name meanwhile', async () => {
  await using kit = await createKit()
  for (const name of ['a', 'b', 'c']) await kit.agent(name)
  await kit.app.pauseAll(kit.operator())
  await kit.app.pauseAgent(kit.operator(), { name: 'a' })
  await kit.app.resumeAgent(kit.operator(), { name: 'b' })
  await kit.app.pauseAgent(kit.operator(), { name: 'b' })
  expect(await kit.app.resumeAll(kit.operator())).toEqual({ agents: ['c'], count: 1 })
  expect([await kindOf(kit, 'a'), await kindOf(kit, 'b')]).toEqual(['denied', 'denied'])
})

test('records who stopped everything, and each agent it stopped', async () => {
  await using kit = await createKit()
  for (const name of ['a', 'b']) await kit.agent(name)
  await kit.app.pauseAll(kit.operator('ben'))
  await kit.app.resumeAll(kit.operator('ana'))
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
