import { createKit, type Kit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'

// A preview can change until a person decides: such a request is stale by then.

const dataOf = async (kit: Kit, agent: string, capability: string, args: object = {}) => {
  const outcome = await kit.invoke(agent, capability, args)
  if (outcome.kind !== 'succeeded') throw new Error(JSON.stringify(outcome))
  return outcome.data
}

/** Two agents; the capability asks a person, everything else that is given runs. */
const open = async (held: string): Promise<Kit> => {
  const policy = `version: 1
rules:
  - { match: "${held}", tier: approval_required }
  - { match: "*", tier: autonomous }
`
  const kit = await createKit({ policy })
  await kit.agent('alpha')
  await kit.agent('beta')
  return kit
}

const trash = async (kit: Kit, path: string) => {
  await dataOf(kit, 'alpha', 'filesystem.write', { path, content: 'x' })
  return dataOf(kit, 'alpha', 'filesystem.delete', { path })
}

type Case = {
  readonly capability: string
  readonly about: string
  /** The arguments of the call that a person is asked about. */
  readonly ask: (kit: Kit) => Promise<Record<string, unknown>>
  readonly change: (kit: Kit, args: Record<string, unknown>) => Promise<unknown>
}

const cases: readonly Case[] = [
  {
    capability: 'filesystem.restore',
    about: 'something stands at the old path by then',
    ask: async (kit) => ({ trash_id: (await trash(kit, 'a.txt'))['trash_id'] }),
    change: (kit) =>
      dataOf(kit, 'alpha', 'filesystem.write', { path: 'a.txt', content: 'another' }),
  },
  {
    capability: 'alerts.acknowledge',
    about: 'it was raised again',
    ask: async (kit) => {
      const { alert_id } = await dataOf(kit, 'alpha', 'alerts.send', { message: 'Disk is full' })
      return { alert_id }
    },
    change: (kit) => dataOf(kit, 'alpha', 'alerts.send', { message: 'Disk is full' }),
  },
  {
    capability: 'scheduler.delete',
    about: 'it is deleted already',
    ask: async (kit) => {
      const later = { capability: 'system.time', delay_seconds: 600 }
      const { schedule_id } = await dataOf(kit, 'alpha', 'scheduler.create', later)
      return { schedule_id }
    },
    change: (kit, { schedule_id }) =>
      kit.app.deleteSchedule(kit.operator(), { schedule_id: String(schedule_id) }),
  },
  {
    capability: 'comms.broadcast',
    about: 'somebody else would get it too',
    ask: async () => ({ filter: { channel: 'builds' }, message: 'green' }),
    change: (kit) => dataOf(kit, 'beta', 'comms.subscribe', { channel: 'builds' }),
  },
  {
    capability: 'comms.receive',
    about: 'another message waits',
    ask: async () => ({}),
    change: (kit) => dataOf(kit, 'beta', 'comms.send', { to: 'alpha', message: 'new' }),
  },
]

const named = cases.map((one) => [one.capability, one.about, one] as const)

test.each(named)('a pending %s is stale once %s', async (capability, _about, { ask, change }) => {
  await using kit = await open(capability)
  const args = await ask(kit)
  const id = await kit.pending('alpha', capability, args)
  const look = () => kit.app.showApproval(kit.operator(), { approval_id: id })
  expect(await look()).toMatchObject({ status: 'pending', stale: null })
  await change(kit, args)
  expect(await look()).toMatchObject({
    status: 'pending',
    stale: expect.stringContaining('changed') as string,
  })
  await expect(kit.decide(id, 'approve')).rejects.toMatchObject({ type: 'ApprovalStale' })
})

test('a pending withdrawal is stale once its request is decided', async () => {
  await using kit = await createKit({
    policy: `version: 1
rules:
  - { match: "approvals.cancel", tier: approval_required }
  - { match: "filesystem.mkdir", tier: approval_required }
`,
  })
  await kit.agent('alpha')
  const approval_id = await kit.pending('alpha', 'filesystem.mkdir', { path: 'out' })
  const id = await kit.pending('alpha', 'approvals.cancel', { approval_id })
  await kit.decide(approval_id, 'reject')
  expect(await kit.app.showApproval(kit.operator(), { approval_id: id })).toMatchObject({
    stale: expect.stringContaining('has changed') as string,
  })
})

test('a request about what stays as it was shown is approved and runs', async () => {
  await using kit = await open('comms.broadcast')
  await dataOf(kit, 'beta', 'comms.subscribe', { channel: 'builds' })
  const args = { filter: { channel: 'builds' }, message: 'green' }
  const id = await kit.pending('alpha', 'comms.broadcast', args)
  await kit.decide(id, 'approve')
  expect((await kit.resolved('alpha', id)).result).toMatchObject({ success: true })
})
