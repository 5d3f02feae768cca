import { createKit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'

const policy = `version: 1
rules:
  - { match: state.set, tier: approval_required }
  - { match: approvals.cancel, tier: approval_required }
  - { match: "*", tier: autonomous }
`

const openKit = async () => {
  const kit = await createKit({ policy, settings: { 'approvals.ttl': 3_600_000 } })
  for (const name of ['alpha', 'beta']) await kit.agent(name)
  const asked = async (agent: string, value: number): Promise<string> => {
    kit.clock.move(1_000)
    return kit.pending(agent, 'state.set', { key: 'k', value })
  }
  return { kit, asked, [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose]() }
}

test('an agent lists its own requests, newest first, all or those of one status, and is told of the rest', async () => {
  await using opened = await openKit()
  const { kit, asked } = opened
  const first = await asked('alpha', 1)
  const askedMs = kit.clock.wall()
  await asked('beta', 2)
  const second = await asked('alpha', 3)
  await kit.decide(second, 'reject', { reason: 'Not today' })
  const list = (args: object = {}) => kit.run('alpha', 'approvals.list', args)
  const shown = {
    approval_id: first,
    capability: 'state.set',
    status: 'pending',
    requested_at: new Date(askedMs).toISOString(),
    expires_at: new Date(askedMs + 3_600_000).toISOString(),
    decision_reason: null,
    execution: 'waiting',
  }
  const rejected = { approval_id: second, status: 'rejected', decision_reason: 'Not today' }
  expect(await list()).toMatchObject({ approvals: [rejected, shown], total: 2, truncated: false })
  expect(await list({ limit: 1 })).toMatchObject({
    ...{ approvals: [rejected], total: 2, truncated: true },
  })
  expect(await list({ status: 'pending' })).toEqual({
    ...{ approvals: [shown], total: 1, truncated: false },
  })
  expect(await list({ status: 'expired' })).toEqual({ approvals: [], total: 0, truncated: false })
})

test('an agent gets, waits for and withdraws its own requests alone', async () => {
  await using opened = await openKit()
  const { kit, asked } = opened
  const id = await asked('alpha', 1)
  const get = (agent: string) => kit.invoke(agent, 'approvals.get', { approval_id: id })
  expect(await get('alpha')).toMatchObject({
    data: { approval_id: id, status: 'pending', arguments: { key: 'k', value: 1 } },
  })
  const unknown = { kind: 'failed', error: { type: 'ApprovalNotFound' } }
  expect(await get('beta')).toMatchObject(unknown)
  const wait = (seconds: number) =>
    kit.invoke('alpha', 'approvals.wait', { approval_id: id, timeout_seconds: seconds })
  expect(await wait(0)).toMatchObject({ data: { status: 'pending' } })
  const waiting = wait(60)
  await kit.decide(id, 'approve')
  expect(await waiting).toMatchObject({ data: { status: 'approved', result: { success: true } } })

  // What is to be withdrawn is shown to the person who is asked.
  const next = await asked('alpha', 2)
  const askedAt = new Date(kit.clock.wall()).toISOString()
  const cancel = await kit.pending('alpha', 'approvals.cancel', { approval_id: next })
  const { preview } = await kit.app.showApproval(kit.operator(), { approval_id: cancel })
  expect(preview?.text).toContain(`since ${askedAt}`)
  expect(preview?.text).toContain('"value": 2')
  await kit.decide(cancel, 'approve')
  await expect.poll(async () => (await kit.storage.approvals.find(next))?.status).toBe('cancelled')
})

test('the connection of an agent waits for a request, follows it, finds it by the call, and withdraws it', async () => {
  await using opened = await openKit()
  const { kit, asked } = opened
  const approval_id = await asked('alpha', 1)
  const [op, other] = [kit.op('alpha'), kit.op('beta')]
  const unknown = { type: 'ApprovalNotFound' }
  const wait = { approval_id, timeout_ms: 0 }
  expect(await kit.app.waitApprovalOutcome(op, wait)).toMatchObject({
    approval_id,
    status: 'pending',
  })
  await expect(kit.app.waitApprovalOutcome(other, wait)).rejects.toMatchObject(unknown)
  const follow = { approval_id, deliver: false }
  expect(JSON.stringify(await kit.app.followApproval(op, follow))).toContain('pending')
  await expect(kit.app.followApproval(other, follow)).rejects.toMatchObject(unknown)
  const call = { name: 'state.set', arguments: { key: 'k', value: 1 } }
  const seal = await kit.app.sealCall(op, { approval_id, call })
  expect(await kit.app.openCallSeal(op, { seal, call })).toBe(approval_id)
  await expect(kit.app.sealCall(other, { approval_id, call })).rejects.toMatchObject(unknown)
  await expect(kit.app.openCallSeal(other, { seal, call })).rejects.toMatchObject({
    type: 'InvalidParams',
  })
  await expect(kit.app.cancelApproval(other, { approval_id })).rejects.toMatchObject(unknown)
  expect(await kit.app.cancelApproval(op, { approval_id })).toBeUndefined()
  expect((await kit.storage.approvals.find(approval_id))?.status).toBe('cancelled')
})

test('people list and see requests, and hear of each until they listen no more', async () => {
  await using opened = await openKit()
  const { kit, asked } = opened
  const heard: string[] = []
  const listening = kit.app.subscribeApprovals(
    ({ id, status }) => void heard.push(`${id} ${status}`),
  )
  const [first, second] = [await asked('alpha', 1), await asked('beta', 2)]
  const list = (filter: object) =>
    kit.app.listApprovals(kit.operator(), { limit: 1, offset: 0, ...filter })
  expect(await list({})).toMatchObject({ approvals: [{ id: second, agent: 'beta' }], total: 2 })
  expect(await list({ offset: 1 })).toMatchObject({ approvals: [{ id: first }], total: 2 })
  expect(await list({ agent: 'alpha' })).toMatchObject({ approvals: [{ id: first }], total: 1 })
  const show = (approval_id: string) => kit.app.showApproval(kit.operator(), { approval_id })
  expect(await show(first)).toMatchObject({ id: first, status: 'pending' })
  await expect(show('appr-0')).rejects.toMatchObject({
    ...{ type: 'ApprovalNotFound', facts: { approval_id: 'appr-0' } },
  })
  await kit.decide(first, 'reject')
  await expect
    .poll(() => heard)
    .toEqual([`${first} pending`, `${second} pending`, `${first} rejected`])
  listening[Symbol.dispose]()
  await kit.decide(second, 'reject')
  expect(heard).toHaveLength(3)
})

test('an agent that is revoked loses its requests and grants, each with an entry, and those who watch hear of it', async () => {
  await using opened = await openKit()
  const { kit, asked } = opened
  const granted = await asked('alpha', 1)
  await kit.decide(granted, 'approve', {
    remember: { ttl_seconds: 3_600, match: 'same_arguments' },
  })
  await kit.resolved('alpha', granted)
  const ids = [await asked('alpha', 2), await asked('alpha', 3)]
  const other = await asked('beta', 4)
  const heard: string[] = []
  using _listening = kit.app.subscribeApprovals(
    ({ id, status }) => void heard.push(`${id} ${status}`),
  )
  await kit.app.revokeAgent(kit.operator('ben'), { name: 'alpha' })
  for (const id of ids)
    expect(await kit.storage.approvals.find(id)).toMatchObject({
      ...{ status: 'cancelled', decided_by: 'user:ben' },
    })
  expect(heard.toSorted()).toEqual(ids.map((id) => `${id} cancelled`).toSorted())
  expect((await kit.storage.approvals.find(other))?.status).toBe('pending')
  const entries = (await kit.audit({ capability: 'approval.cancelled' })).map(
    ({ agent, approval_id, actor }) => `${agent} ${approval_id} ${actor}`,
  )
  const grants = await kit.app.listGrants(kit.operator(), { all: true, limit: 9, offset: 0 })
  expect(grants.grants).toMatchObject([{ status: 'revoked' }])
  expect(await kit.audit({ capability: 'grant.revoked' })).toMatchObject([{ actor: 'user:ben' }])
  expect(entries.toSorted()).toEqual(ids.map((id) => `alpha ${id} user:ben`).toSorted())
})
