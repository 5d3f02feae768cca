import type { StoredJob } from '@gatehouse/server/ports/jobs'
import type { Storage } from '@gatehouse/server/ports/storage'
import { createKit } from '@gatehouse/testkit'
import { replacing } from '@gatehouse/testkit/replacing'
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
  await expect(kit.app.forgetNode(op, { name })).rejects.toMatchObject({
    type: 'Conflict',
    message: `${name} is the node that answers this; another node can forget it once it has stopped.`,
    recovery: [{ action: `gatehouse nodes drain ${name}` }, {}],
  })
  for (const unknown of [kit.app.drainNode, kit.app.resumeNode, kit.app.forgetNode])
    await expect(unknown(op, { name: 'node-x' })).rejects.toMatchObject({ type: 'NodeNotFound' })
  expect((await kit.app.listNodes(op)).nodes).toMatchObject([{ name, answering: true }])
})

test('a node is drained and forgotten by how it is when that is stored', async () => {
  /** What the other node says of itself while the request waits for the log. */
  let meanwhile: ((storage: Storage) => Promise<unknown>) | null = null
  await using kit = await createKit({
    storage: (opened) => ({
      ...opened,
      async transaction(work) {
        const says = meanwhile
        meanwhile = null
        await says?.(opened)
        return opened.transaction(work)
      },
    }),
  })
  const { storage, app } = kit
  const nowMs = await storage.wallMs()
  const facts = { version: '0.1.0', address: null, facts_json: '{}' }
  const other = {
    name: 'node-b',
    place: 'b:/data',
    state: 'active',
    started_ms: 0,
    ...facts,
  } as const
  const name = { name: other.name }
  await storage.nodes.put({ ...other, seen_ms: nowMs + 3_600_000 })
  meanwhile = ({ nodes }) => nodes.setState('node-b', 'stopped')
  await expect(app.drainNode(kit.operator(), name)).rejects.toMatchObject({
    type: 'Conflict',
    message: expect.stringContaining('node-b has stopped') as string,
  })
  expect((await storage.nodes.find('node-b'))?.state).toBe('stopped')

  await storage.nodes.put({ ...other, seen_ms: nowMs - 3_600_000 })
  meanwhile = ({ nodes }) => nodes.beat('node-b', { seen_ms: nowMs + 3_600_000, facts_json: '{}' })
  await expect(app.forgetNode(kit.operator(), name)).rejects.toMatchObject({
    type: 'Conflict',
    message: 'node-b is running; stop it first.',
  })
  expect(await storage.nodes.find('node-b')).not.toBeNull()
})

test('a node that a person drains while it starts stays so', async () => {
  const nowMs = Date.UTC(2026, 0, 1)
  let listed = async (): Promise<unknown> => undefined
  await using kit = await createKit({
    storage: (opened) => ({
      ...{ ...opened, isShared: true, isNetworked: true },
      wallMs: async () => nowMs,
      nodes: replacing(opened.nodes, {
        async list() {
          await listed()
          listed = async () => undefined
          return opened.nodes.list()
        },
      }),
    }),
    startsLater: true,
    nowMs,
  })
  await kit.app.nodes.assertFits()
  // As late as can be: the list is read before it enters to serve.
  listed = () => kit.storage.nodes.setState(kit.parts.node, 'draining')
  await kit.app.start()
  expect((await kit.storage.nodes.find(kit.parts.node))?.state).toBe('draining')
})

test('only a node that hears it is drained or resumed, and what is so already is not recorded again', async () => {
  await using kit = await createKit()
  const { storage, app } = kit
  const op = kit.operator()
  const own = { name: kit.parts.node }
  const acts = async () => {
    const { entries } = await app.queryAudit(op, { capability: 'node.*', limit: 9, offset: 0 })
    return entries.map(({ capability }) => capability)
  }
  expect(await app.resumeNode(op, own)).toMatchObject({ status: 'active' })
  expect(await acts()).toEqual([])
  for (let i = 0; i < 2; i += 1)
    expect(await app.drainNode(op, own)).toMatchObject({ status: 'draining' })
  expect(await acts()).toEqual(['node.drained'])
  app.listeners.expect('gateway')
  app.listeners.ready()
  expect((await app.status(op)).health_reasons.join()).toContain(
    `the node is draining; to end that, run: gatehouse nodes resume ${own.name}`,
  )

  const seen = { seen_ms: (await storage.wallMs()) - 3_600_000, facts_json: '{}' }
  const other = { name: 'node-b', place: 'b:/data', version: '0.1.0', address: null }
  for (const [state, said] of [
    ['active', 'node-b is missing, and was last seen at '],
    ['draining', 'node-b is missing, and was last seen at '],
    ['stopped', 'node-b has stopped: it takes no work, '],
  ] as const) {
    await storage.nodes.put({ ...other, state, started_ms: 0, ...seen })
    for (const tell of [app.drainNode, app.resumeNode])
      await expect(tell(op, { name: 'node-b' })).rejects.toMatchObject({
        type: 'Conflict',
        message: expect.stringContaining(said) as string,
        recovery: [
          { action: 'start the service of b:/data' },
          { action: 'gatehouse nodes forget node-b' },
        ],
      })
  }
  expect(await acts()).toEqual(['node.drained'])
  expect(await app.forgetNode(op, { name: 'node-b' })).toEqual({ name: 'node-b' })
})
