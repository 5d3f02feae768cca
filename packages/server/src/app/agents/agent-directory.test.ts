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

/** A directory over the store of a kit in which the test acts between what a look finds and its answer. */
const openBetween = async () => {
  const kit = await createKit()
  await kit.agent('alpha')
  const between: { act: (() => Promise<void>) | null } = { act: null }
  const agents = new Proxy(kit.storage.agents, {
    get(target, name: keyof typeof kit.storage.agents) {
      const look = target[name] as (...given: unknown[]) => Promise<unknown>
      return async (...given: unknown[]) => {
        const found = await look(...given)
        const { act } = between
        between.act = null
        await act?.()
        return found
      }
    },
  })
  const directory = new AgentDirectory({
    ...{ storage: { agents }, clock: kit.clock, files },
    digest: createDigest(),
  })
  return { kit, directory, between }
}

test('a record that another node changed while it was looked up is never kept', async () => {
  const { kit, directory, between } = await openBetween()
  await using _kit = kit
  await directory.reload()
  between.act = async () => {
    await kit.app.revokeAgent(kit.operator(), { name: 'alpha' })
    await directory.reload()
  }
  expect(await directory.standIn('alpha')).toBeNull()
})

test('rows that were read before a change of this process do not undo it', async () => {
  const { kit, directory, between } = await openBetween()
  await using _kit = kit
  await directory.find('alpha')
  between.act = async () => {
    await kit.app.pauseAgent(kit.operator(), { name: 'alpha' })
    const changed = await kit.storage.agents.find('alpha')
    if (changed) directory.changed(changed)
  }
  await directory.reload()
  expect(await directory.find('alpha')).toMatchObject({ status: 'paused' })
})

test('a change of this process that is told late does not undo a later one of another node', async () => {
  const { kit, directory } = await openBetween()
  await using _kit = kit
  await kit.app.pauseAgent(kit.operator(), { name: 'alpha' })
  const own = await kit.storage.agents.find('alpha')
  await directory.find('alpha')
  await kit.app.revokeAgent(kit.operator(), { name: 'alpha' })
  await directory.reload()
  if (own) directory.changed(own)
  expect(await directory.find('alpha')).toMatchObject({ status: 'revoked' })
})

test('what another node changed is taken over by whichever look finds it first', async () => {
  const { kit, directory } = await openBetween()
  await using _kit = kit
  await directory.reload()
  const told: string[] = []
  directory.onChange((name) => told.push(name))
  const met = await directory.standIn('alpha')
  const { token } = await kit.app.rotateAgent(kit.operator(), { name: 'alpha', overlap_seconds: 0 })
  expect(await directory.authenticate(token)).not.toBeNull()
  expect(directory.holder('alpha', met?.credential ?? 0)).toBeNull()
  expect(told).toEqual(['alpha'])
})

test('an agent that is met while another one is changed is known from then on', async () => {
  const { kit, directory, between } = await openBetween()
  await using _kit = kit
  await kit.agent('beta')
  between.act = async () => {
    const other = await kit.storage.agents.find('beta')
    if (other) directory.changed(other)
  }
  const met = await directory.standIn('alpha')
  expect(directory.holder('alpha', met?.credential ?? 0)).not.toBeNull()
})
