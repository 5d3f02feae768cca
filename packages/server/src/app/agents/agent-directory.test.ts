import { createKit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import { createDigest } from '../../platform/digest.ts'
import { AgentDirectory } from './agent-directory.ts'

const files = { note: () => {} }

test('takes over what other nodes changed with one query, however many agents it knows', async () => {
  await using kit = await createKit()
  const names = Array.from({ length: 30 }, (_, i) => `agent-${i}`)
  for (const name of names) await kit.agent(name)
  const { storage, clock } = kit
  const asked: string[] = []
  const agents = new Proxy(storage.agents, {
    get(target, name: keyof typeof storage.agents) {
      asked.push(name)
      return target[name]
    },
  })
  const directory = new AgentDirectory({
    ...{ storage: { agents }, clock, files },
    digest: createDigest(),
  })
  const credentials = new Map<string, number>()
  for (const name of names)
    credentials.set(name, (await directory.standIn(name))?.credential ?? Number.NaN)
  const admitted = () =>
    names.filter((name) => directory.holder(name, credentials.get(name) ?? Number.NaN) !== null)
  await directory.reload()
  expect(admitted()).toEqual(names)

  await kit.app.revokeAgent(kit.operator(), { name: 'agent-7' })
  await kit.app.rotateAgent(kit.operator(), { name: 'agent-9', overlap_seconds: 0 })
  asked.length = 0
  await directory.reload()
  expect(asked).toEqual(['changedSince'])
  expect(admitted()).toEqual(names.filter((name) => !['agent-7', 'agent-9'].includes(name)))
})

test('what the service does in the name of an agent ends with rotation and revocation too', async () => {
  await using kit = await createKit()
  await kit.agent('alpha')
  const { storage, clock } = kit
  const directory = new AgentDirectory({ ...{ storage, clock, files }, digest: createDigest() })
  const reread = async () => {
    const agent = await storage.agents.find('alpha')
    if (agent) directory.changed(agent)
  }
  const first = await directory.standIn('alpha')
  expect(directory.holder('alpha', first?.credential ?? 0)).toMatchObject({ status: 'active' })
  await kit.app.rotateAgent(kit.operator(), { name: 'alpha', overlap_seconds: 0 })
  await reread()
  expect(directory.holder('alpha', first?.credential ?? 0)).toBeNull()
  const second = await directory.standIn('alpha')
  expect(directory.holder('alpha', second?.credential ?? 0)).not.toBeNull()
  await kit.app.revokeAgent(kit.operator(), { name: 'alpha' })
  await reread()
  expect(directory.holder('alpha', second?.credential ?? 0)).toBeNull()
  expect(await directory.standIn('alpha')).toBeNull()
  expect(await directory.standIn('nobody')).toBeNull()
})
