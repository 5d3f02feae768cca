import type { StoredJob } from '@gatehouse/server/ports/jobs'
import { createKit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'

const jobOf = (id: string, over: Partial<StoredJob>): StoredJob => ({
  ...{
    id,
    kind: 'scheduled_call',
    subject: 'none',
    agent: 'bot',
    payload_json: '{}',
    state: 'waiting',
  },
  ...{ due_ms: 0, attempts: 0, attempts_max: 1, owner: null, lease_ms: null, created_ms: 0 },
  ...{ started_ms: null, finished_ms: null, outcome_json: null },
  ...over,
})

test('a node that is draining begins no job that is due, and goes on once it is resumed', async () => {
  await using kit = await createKit()
  const { storage, clock, app } = kit
  const name = { name: kit.parts.node }
  const state = async (id: string) => (await storage.jobs.find(id))?.state
  /** Lost jobs are reported in each look, before the node takes new ones. */
  const lookTwice = async () => {
    for (const id of ['lost-1', 'lost-2'].map((lost) => `${lost}-${clock.now()}`)) {
      await storage.jobs.insert(jobOf(id, { state: 'running', owner: 'gone', lease_ms: 1 }))
      clock.move(60_000)
      await expect.poll(() => state(id)).toBe('interrupted')
    }
  }
  expect(await app.drainNode(kit.operator(), name)).toMatchObject({ status: 'draining' })
  expect(app.readiness()).toBe('unhealthy')
  expect((await app.health(kit.operator())).components.nodes).toMatchObject({ draining: true })
  await storage.jobs.insert(jobOf('due', {}))
  await lookTwice()
  expect(await state('due')).toBe('waiting')

  await app.resumeNode(kit.operator(), name)
  expect(app.readiness()).toBe('healthy')
  clock.move(60_000)
  await expect.poll(() => state('due')).not.toBe('waiting')
})

test('a node that runs is not forgotten, and one that is unknown is not drained', async () => {
  await using kit = await createKit()
  const name = kit.parts.node
  const op = kit.operator()
  await expect(kit.app.forgetNode(op, { name })).rejects.toMatchObject({ type: 'Conflict' })
  for (const unknown of [kit.app.drainNode, kit.app.resumeNode, kit.app.forgetNode])
    await expect(unknown(op, { name: 'node-x' })).rejects.toMatchObject({ type: 'NodeNotFound' })
  expect((await kit.app.listNodes(op)).nodes).toMatchObject([{ name, answering: true }])
})
