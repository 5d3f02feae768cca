import { createKit, type Kit } from '@gatehouse/testkit'
import { replacing } from '@gatehouse/testkit/replacing'
import { expect, test } from 'vitest'
import type { StoredApproval } from '../../ports/approvals.ts'
import type { Storage } from '../../ports/storage.ts'

const policy = `version: 1
rules:
  - { match: state.set, tier: approval_required }
`
const call = (value: unknown) => ({ key: 'a', value })
const hour = { ttl_seconds: 3600, match: 'same_arguments' } as const

const ask = async (kit: Kit, value: unknown = 1): Promise<string> => {
  await kit.agent('alpha')
  return kit.pending('alpha', 'state.set', call(value))
}
const stored = async (kit: Kit, id: string) =>
  (await kit.storage.approvals.find(id)) ?? expect.fail('nothing stored')
const actsOf = async (kit: Kit, id: string) =>
  (await kit.audit()).filter((entry) => entry.approval_id === id && entry.kind === 'act')
const grantsIn = async (kit: Kit) => (await kit.storage.grants.list({ limit: 9, offset: 0 })).total

test('a decision is on record with who decided, what about, why, and what it is remembered for', async () => {
  await using kit = await createKit({ policy, runsApproved: false })
  const id = await ask(kit)
  await kit.decide(id, 'approve', { reason: 'Fine', remember: hour })
  const { digest, arguments_json } = await stored(kit, id)
  const acts = await actsOf(kit, id)
  const [act, granted] = acts.toSorted((a, b) => a.capability.localeCompare(b.capability))
  expect(act).toMatchObject({
    capability: 'approval.approved',
    actor: 'user:ana',
    agent: 'alpha',
    arguments: { approval_id: id, capability: 'state.set', digest },
    result: 'success',
  })
  const grant_id = granted?.arguments['grant_id']
  expect(grant_id).toMatch(/^grant-/)
  expect(act?.detail).toEqual({ reason: 'Fine', grant_id })
  expect(JSON.parse(arguments_json)).toMatchObject(call(1))
})

test('a decision without a reason says none, and a rejection is one in the log', async () => {
  await using kit = await createKit({ policy, runsApproved: false })
  const id = await ask(kit)
  await kit.decide(id, 'reject')
  expect(await actsOf(kit, id)).toMatchObject([
    { capability: 'approval.rejected', result: 'rejected' },
  ])
  expect((await actsOf(kit, id))[0]?.detail).toEqual({})
})

test('a rejection is not remembered and changes no arguments, whatever comes with it', async () => {
  await using kit = await createKit({ policy, runsApproved: false })
  const id = await ask(kit)
  const more = { remember: hour, arguments: { nothing: 'that fits' } }
  expect((await kit.decide(id, 'reject', more)).kind).toBe('decided')
  expect(await stored(kit, id)).toMatchObject({ status: 'rejected', edit: null })
  expect(await grantsIn(kit)).toBe(0)
})

test('a wrong digest is told with the right one', async () => {
  await using kit = await createKit({ policy })
  const id = await ask(kit)
  await expect(kit.decide(id, 'approve', { digest: 'sha256:00' })).rejects.toMatchObject({
    type: 'ApprovalDigestMismatch',
    facts: { approval_id: id, digest: (await stored(kit, id)).digest },
  })
})

test('of what is decided already only the record is shown, though it could not run now', async () => {
  await using kit = await createKit({ policy, runsApproved: false })
  const id = await ask(kit)
  await kit.decide(id, 'reject')
  await kit.app.pauseAgent(kit.operator(), { name: 'alpha' })
  const shown = { kind: 'not_pending', approval: { id, status: 'rejected' } }
  expect(await kit.decide(id, 'approve')).toMatchObject(shown)
  expect(await kit.decide(id, 'approve', { arguments: { bad: 1 } })).toMatchObject(shown)
  const unknown = 'appr-nothing'
  for (const facts of [{}, { arguments: call(2) }])
    await expect(kit.decide(unknown, 'approve', facts)).rejects.toMatchObject({
      type: 'ApprovalNotFound',
      facts: { approval_id: unknown },
    })
  expect(await kit.decide(id, 'reject')).toMatchObject(shown)
})

test('a decision that comes too late lets nothing run, and the request expires with it', async () => {
  // Its upkeep does not run: the decision itself finds that the time is over.
  await using kit = await createKit({
    policy,
    startsLater: true,
    settings: { 'approvals.ttl': 60_000 },
  })
  const id = await ask(kit)
  const told: string[] = []
  using _listening = kit.app.subscribeApprovals(({ status }) => void told.push(status))
  kit.clock.move(60_000)
  expect(await kit.decide(id, 'approve', { remember: hour })).toMatchObject({
    kind: 'not_pending',
    approval: { status: 'expired', execution: { state: 'waiting' } },
  })
  expect(told).toEqual(['expired'])
  expect(await actsOf(kit, id)).toMatchObject([{ capability: 'approval.expired' }])
  expect(await grantsIn(kit)).toBe(0)
  expect(await kit.decide(id, 'approve')).toMatchObject({ kind: 'not_pending' })
  expect(told).toEqual(['expired'])
})

test('other arguments that come too late make no request', async () => {
  const settings = { 'approvals.ttl': 60_000 }
  await using kit = await createKit({ policy, startsLater: true, settings })
  const id = await ask(kit)
  kit.clock.move(60_000)
  expect(await kit.decide(id, 'approve', { arguments: call(2) })).toMatchObject({
    kind: 'not_pending',
  })
  const left = { status: 'expired', execution: 'waiting', edit: null }
  expect(await stored(kit, id)).toMatchObject(left)
  expect((await kit.storage.approvals.list({ limit: 9, offset: 0 })).total).toBe(1)
})

test('people who watch hear of a decision once', async () => {
  await using kit = await createKit({ policy, runsApproved: false })
  const id = await ask(kit)
  const told: string[] = []
  using _listening = kit.app.subscribeApprovals((one) => void told.push(`${one.id} ${one.status}`))
  await kit.decide(id, 'reject')
  await kit.decide(id, 'reject')
  expect(told).toEqual([`${id} rejected`])
})

type Tx = { readonly approvals: Storage['approvals'] }
type Log = { transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> }

/** A transaction that finds each row changed by another node. */
const late = (tx: Tx): Tx => {
  const replace = async (approval: StoredApproval) => ({ changed: false, approval })
  return replacing(tx, { approvals: replacing(tx.approvals, { replace }) })
}

test('a decision that another node was quicker with is no decision', async () => {
  let isLate = false
  const lateIn = (log: Log): Log =>
    replacing(log, {
      transaction: (work) => log.transaction((tx) => work(isLate ? late(tx) : tx)),
    })
  const ports = <T extends object>(name: string, port: T): T =>
    name === 'auditLog' ? (lateIn(port as never) as never) : port
  await using kit = await createKit({ policy, runsApproved: false, ports })
  const id = await ask(kit)
  isLate = true
  const told: string[] = []
  using _listening = kit.app.subscribeApprovals(({ status }) => void told.push(status))
  expect(await kit.decide(id, 'approve', { remember: hour })).toMatchObject({ kind: 'not_pending' })
  expect(told).toEqual([])
  expect(await grantsIn(kit)).toBe(0)
  expect(await actsOf(kit, id)).toEqual([])
})
