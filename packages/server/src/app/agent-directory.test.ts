import { createKit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import { createDigest } from '../platform/digest.ts'
import { AgentDirectory } from './agent-directory.ts'

test('what the service does in the name of an agent ends with rotation and revocation too', async () => {
  await using kit = await createKit()
  await kit.agent('alpha')
  const { storage, clock } = kit
  const directory = new AgentDirectory({ storage, clock, digest: createDigest() })
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
