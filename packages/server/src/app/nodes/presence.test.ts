import { createKit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'

test('a node with another policy is named once it has had it for two beats, and no longer when it follows', async () => {
  await using kit = await createKit({
    storage: (opened) => ({ ...opened, isShared: true, isNetworked: true }),
  })
  const { storage, clock, app } = kit
  const nowMs = await storage.wallMs()
  const said = (policy_version: string) => ({
    seen_ms: nowMs + 3_600_000,
    facts_json: JSON.stringify({ policy_version, sessions: 1, processes: 0 }),
  })
  const other = { name: 'node-b', place: 'b:/data', version: '0.1.0', address: null } as const
  await storage.nodes.put({ ...other, state: 'active', started_ms: nowMs, ...said('sha256:other') })
  const policyReason = async () =>
    (await app.health(kit.operator())).components.nodes.reason?.split('; ').at(-1) ?? ''
  const named = 'node-b decides by another policy than this node'
  /** Each beat writes when it was. */
  const beat = async () => {
    const before = (await storage.nodes.find(kit.parts.node))?.seen_ms ?? 0
    await expect
      .poll(async () => {
        clock.move(2_000)
        return (await storage.nodes.find(kit.parts.node))?.seen_ms ?? 0
      })
      .toBeGreaterThan(before)
  }
  await beat()
  await expect
    .poll(async () => {
      await beat()
      return policyReason()
    })
    .toBe(named)
  await storage.nodes.beat('node-b', said(kit.parts.policy.current().version))
  await expect
    .poll(async () => {
      await beat()
      return policyReason()
    })
    .not.toBe(named)
  expect(
    (await app.listNodes(kit.operator())).nodes.find(({ name }) => name === 'node-b'),
  ).toMatchObject({ status: 'active', sessions: 1, answering: false })
})
