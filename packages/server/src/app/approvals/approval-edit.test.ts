import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GatehouseEvent } from '@gatehouse/contract'
import { createKit, type Kit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import { closeTicket } from '../../../test/kit/tickets.ts'
import { transfer } from '../../../test/kit/transfer.ts'
import type { Capability } from '../../ports/capability.ts'

const policy = `version: 1
rules:
  - { match: filesystem.append, when: args.content == "blocked", tier: blocked }
  - { match: filesystem.append, tier: approval_required }
`
/** Refused where there is no such capability. */
const withTransfer = `${policy}  - { match: bank.transfer, tier: approval_required }\n`
const line = (content: string) => ({ path: 'log.txt', content })
const changed = { arguments: line('better') }

const withFile = async (kit: Kit, approvals: 'pending' | 'hold' = 'pending') => {
  await kit.agent('alpha', approvals)
  mkdirSync(kit.workspace('alpha'), { recursive: true })
  const file = join(kit.workspace('alpha'), 'log.txt')
  writeFileSync(file, '')
  return () => readFileSync(file, 'utf8')
}
const shown = (kit: Kit, approval_id: string) =>
  kit.app.showApproval(kit.operator(), { approval_id })

test('what a person changed is what runs, and the agent gets its result where it waits', async () => {
  await using kit = await createKit({ policy })
  const text = await withFile(kit)
  const events: GatehouseEvent[] = []
  using _listening = kit.app.subscribeEvents('alpha', (event) => events.push(event) > 0)
  const id = await kit.pending('alpha', 'filesystem.append', line('worse'))
  const { digest } = await shown(kit, id)
  expect(await kit.decide(id, 'approve', { ...changed, digest })).toMatchObject({
    kind: 'decided',
    approval: { id, status: 'approved', arguments: line('worse') },
  })
  expect(await kit.resolved('alpha', id)).toMatchObject({
    approval_id: id,
    status: 'approved',
    result: { success: true, data: { size_bytes: 6 } },
    edited: { arguments: line('better'), note: expect.stringContaining('changed') as string },
  })
  expect(text()).toBe('better')
  expect(events).toMatchObject([
    { data: { approval_id: id, edited: { arguments: line('better') } } },
  ])
})

test('proposed, decided and effective arguments are kept, each under a digest of its own', async () => {
  await using kit = await createKit({ policy })
  await withFile(kit)
  const id = await kit.pending('alpha', 'filesystem.append', line('worse'))
  await kit.decide(id, 'approve', { ...changed, reason: 'Better' })
  await kit.resolved('alpha', id)
  const original = await shown(kit, id)
  const request = String(original.edit?.request)
  const edited = await shown(kit, request)
  expect(original.arguments).toMatchObject(line('worse'))
  expect(original.edit).toEqual({
    original: id,
    request,
    decided: line('better'),
    effective: edited.arguments,
  })
  expect(edited).toMatchObject({
    status: 'approved',
    decided_by: 'user:ana',
    arguments: line('better'),
    execution: { state: 'succeeded' },
    edit: { original: id },
  })
  expect(edited.digest).not.toBe(original.digest)
  const entries = (await kit.audit()).filter(({ approval_id }) =>
    [id, request].includes(String(approval_id)),
  )
  expect(
    entries
      .map((e) => [e.approval_id === id ? 'original' : 'edited', e.capability, e.result, e.actor])
      .toReversed(),
  ).toEqual([
    ['original', 'filesystem.append', 'pending', 'agent:alpha'],
    ['original', 'approval.approved', 'success', 'user:ana'],
    ['original', 'approval.edited', 'success', 'user:ana'],
    ['edited', 'filesystem.append', 'pending', 'user:ana'],
    ['edited', 'filesystem.append', 'pending', 'agent:alpha'],
    ['edited', 'filesystem.append', 'success', 'agent:alpha'],
  ])
  const texts = entries.map(({ arguments: args }) => args.content).filter(Boolean)
  expect(texts.toReversed()).toEqual(['worse', 'better', 'better', 'better', 'better'])
})

test('a repeated call gets the result of the changed one, once, and the changed call is a new one', async () => {
  await using kit = await createKit({ policy })
  const text = await withFile(kit)
  const id = await kit.pending('alpha', 'filesystem.append', line('worse'))
  await kit.decide(id, 'approve', changed)
  await kit.resolved('alpha', id)
  const own = await kit.pending('alpha', 'filesystem.append', line('better'))
  const { edit } = await shown(kit, own)
  expect(edit).toBeUndefined()
  const same = await kit.invoke('alpha', 'filesystem.append', line('worse'))
  expect(same).toMatchObject({
    kind: 'succeeded',
    data: { size_bytes: 6 },
    note: expect.stringContaining('changed the arguments') as string,
  })
  expect(await kit.pending('alpha', 'filesystem.append', line('worse'))).not.toBe(id)
  expect(text()).toBe('better')
})

test.each([
  ['the schema refuses', { path: 'log.txt' }, 'InvalidArguments'],
  ['the schema does not know', { ...line('a'), mood: 'good' }, 'InvalidArguments'],
  ['policy blocks', line('blocked'), 'EditRefused'],
  ['lead outside', { path: '/etc/log', content: 'a' }, 'PathOutOfScope'],
])('arguments that %s decide nothing', async (_what, args, type) => {
  await using kit = await createKit({ policy })
  const text = await withFile(kit)
  const id = await kit.pending('alpha', 'filesystem.append', line('worse'))
  const { total } = await kit.storage.approvals.list({ limit: 9, offset: 0 })
  await expect(kit.decide(id, 'approve', { arguments: args })).rejects.toMatchObject({ type })
  expect((await shown(kit, id)).status).toBe('pending')
  expect((await kit.storage.approvals.list({ limit: 9, offset: 0 })).total).toBe(total)
  await kit.decide(id, 'approve')
  await kit.resolved('alpha', id)
  expect(text()).toBe('worse')
})

test('a change is decided under the digest that was shown, and is not remembered', async () => {
  await using kit = await createKit({ policy })
  await withFile(kit)
  const id = await kit.pending('alpha', 'filesystem.append', line('worse'))
  await expect(
    kit.decide(id, 'approve', { ...changed, digest: 'sha256:00' }),
  ).rejects.toMatchObject({ type: 'ApprovalDigestMismatch' })
  const remember = { ttl_seconds: 60, match: 'same_arguments' } as const
  await expect(kit.decide(id, 'approve', { ...changed, remember })).rejects.toMatchObject({
    type: 'EditRefused',
    facts: { detail: expect.stringContaining('approve one or the other') as string },
  })
  expect(await kit.storage.approvals.list({ limit: 9, offset: 0 })).toMatchObject({ total: 1 })
})

test('of 20 people who change it at once one does, and one call runs', async () => {
  await using kit = await createKit({ policy })
  const text = await withFile(kit)
  const id = await kit.pending('alpha', 'filesystem.append', line('worse'))
  const heard: unknown[] = []
  using _listening = kit.app.subscribeEvents(
    'alpha',
    ({ type, data }) => heard.push([type, data['approval_id']]) > 0,
  )
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      kit.decide(id, 'approve', { as: `p${i}`, arguments: line(`by ${i};`) }),
    ),
  )
  const winner = outcomes.findIndex(({ kind }) => kind === 'decided')
  expect(outcomes.filter(({ kind }) => kind === 'decided')).toHaveLength(1)
  await kit.resolved('alpha', id)
  expect(text()).toBe(`by ${winner};`)
  // The agent knows nothing of the request that ran in place of its own.
  expect(heard).toEqual([['approval.resolved', id]])
  expect(await kit.storage.approvals.list({ limit: 9, offset: 0 })).toMatchObject({ total: 2 })
})

test('a changed call that is refused by then tells the original why', async () => {
  await using kit = await createKit({ policy, runsApproved: false })
  const text = await withFile(kit)
  const id = await kit.pending('alpha', 'filesystem.append', line('worse'))
  await kit.decide(id, 'approve', changed)
  expect((await shown(kit, id)).execution.state).toBe('running')
  await kit.app.pauseAgent(kit.operator(), { name: 'alpha' })
  kit.clock.move(1_000)
  expect(await kit.resolved('alpha', id)).toMatchObject({
    result: { success: false, error: { type: 'ApprovalStale' } },
  })
  expect((await shown(kit, id)).execution.state).toBe('refused')
  expect(text()).toBe('')
})

test('what became of the original by other ways stays what it is', async () => {
  await using kit = await createKit({ policy, runsApproved: false })
  const text = await withFile(kit)
  const id = await kit.pending('alpha', 'filesystem.append', line('worse'))
  await kit.decide(id, 'approve', changed)
  const original = await kit.storage.approvals.find(id)
  if (!original) throw new Error('nothing stored')
  await kit.storage.approvals.replace(original, { ...original, execution: 'interrupted' })
  kit.clock.move(1_000)
  await kit.resolved('alpha', String(original.edit?.request))
  expect(text()).toBe('better')
  expect((await shown(kit, id)).execution.state).toBe('interrupted')
})

test('a changed call that a crash cut off is interrupted for both, and nothing runs again', async () => {
  await using kit = await createKit({ policy, startsLater: true, runsApproved: false })
  const text = await withFile(kit)
  const id = await kit.pending('alpha', 'filesystem.append', line('worse'))
  await kit.decide(id, 'approve', changed)
  const request = String((await shown(kit, id)).edit?.request)
  const stored = await kit.storage.approvals.find(request)
  if (!stored) throw new Error('nothing stored')
  const exec_id = `${kit.parts.node}:aud-1`
  await kit.storage.approvals.replace(stored, { ...stored, execution: 'running', exec_id })
  await kit.app.start()
  expect(await kit.resolved('alpha', id)).toMatchObject({
    result: { success: false, error: { type: 'ExecutionInterrupted' } },
  })
  expect((await shown(kit, id)).execution.state).toBe('interrupted')
  expect((await shown(kit, request)).execution.state).toBe('interrupted')
  expect(text()).toBe('')
})

test('what is critical runs as it was shown or not at all', async () => {
  await using kit = await createKit({ policy: withTransfer, capabilities: [transfer] })
  await withFile(kit)
  const id = await kit.pending('alpha', 'bank.transfer', { amount: 9 })
  const { digest } = await shown(kit, id)
  await expect(
    kit.decide(id, 'approve', { digest, arguments: { amount: 1 } }),
  ).rejects.toMatchObject({ type: 'EditRefused' })
  expect((await shown(kit, id)).status).toBe('pending')
  expect((await kit.decide(id, 'approve', { digest })).kind).toBe('decided')
})

test('what is critical is approved with others only under the digest that was shown', async () => {
  await using kit = await createKit({ policy: withTransfer, capabilities: [transfer] })
  await withFile(kit)
  const ids = [await kit.pending('alpha', 'bank.transfer', { amount: 9 })] as const
  const [id] = ids
  const approve = { ids, decision: 'approve' } as const
  expect(await kit.app.decideApprovals(kit.operator(), approve)).toMatchObject([
    { id, outcome: 'digest_required', approval: { status: 'pending' } },
  ])
  const digests = { [id]: (await shown(kit, id)).digest }
  expect(await kit.app.decideApprovals(kit.operator(), { ...approve, digests })).toMatchObject([
    { id, outcome: 'decided' },
  ])
})

const tickets = (performer: Capability['performer'] = 'service'): Capability => ({
  ...closeTicket(),
  performer,
})
const forTickets = `version: 1
rules:
  - { match: tickets.close, when: args.ticket == 13, tier: blocked, reason: unlucky }
  - { match: tickets.close, when: args.ticket == 14, tier: approval_required, critical: true }
  - { match: tickets.close, tier: approval_required }
`

test('a change that is refused says why, and decides nothing', async () => {
  await using kit = await createKit({ runsApproved: false })
  kit.registry.replaceGroup('tickets', [tickets()])
  await kit.app.savePolicy(kit.operator(), { text: forTickets })
  await kit.agent('alpha')
  const id = await kit.pending('alpha', 'tickets.close', { ticket: 1 })
  const refusal = async (ticket: number, say: string) => {
    await expect(kit.decide(id, 'approve', { arguments: { ticket } })).rejects.toMatchObject({
      type: 'EditRefused',
      facts: { detail: expect.stringContaining(say) as string },
    })
    expect((await shown(kit, id)).status).toBe('pending')
  }
  await refusal(13, 'policy blocks it with these arguments: unlucky')
  await refusal(14, 'policy calls it critical with these arguments')
  await kit.app.pauseAgent(kit.operator(), { name: 'alpha' })
  await refusal(2, 'agent alpha is paused')
  await kit.app.resumeAgent(kit.operator(), { name: 'alpha' })
  kit.registry.replaceGroup('tickets', [tickets('client')])
  await refusal(2, 'the client does it by itself')
  kit.registry.replaceGroup('tickets', [{ ...tickets(), critical: true }])
  await refusal(2, 'is critical and runs only as it was shown')
  kit.registry.replaceGroup('tickets', [])
  await refusal(2, 'there is no tickets.close any more')
  kit.registry.replaceGroup('tickets', [tickets()])
  await expect(kit.decide(id, 'approve', { arguments: { ticket: 'two' } })).rejects.toMatchObject({
    type: 'InvalidArguments',
    facts: { capability: 'tickets.close', detail: expect.stringContaining('ticket') as string },
    recovery: expect.arrayContaining([
      { action: 'fix ticket', description: 'ticket must be an integer, not a string.' },
    ]) as object,
  })
  expect((await kit.decide(id, 'approve', { arguments: { ticket: 2 } })).kind).toBe('decided')
})

test('what a person writes into a secret argument is in the log as a keyed hash alone', async () => {
  await using kit = await createKit({ runsApproved: false })
  kit.registry.replaceGroup('tickets', [tickets()])
  await kit.app.savePolicy(kit.operator(), { text: forTickets })
  await kit.agent('alpha')
  const id = await kit.pending('alpha', 'tickets.close', { ticket: 1, secret: 'canary-1' })
  await kit.decide(id, 'approve', { arguments: { ticket: 2, secret: 'canary-2' } })
  const { edit } = await shown(kit, id)
  const request = String(edit?.request)
  const entries = await kit.audit()
  expect(JSON.stringify(entries)).not.toContain('canary')
  const [edited] = entries.filter(({ capability }) => capability === 'approval.edited')
  const [asked] = entries.filter(
    ({ approval_id, kind }) => approval_id === request && kind === 'call',
  )
  const secret = expect.stringMatching(/^hmac-sha256:/) as string
  const { digest } = await shown(kit, request)
  const [decided] = entries.filter(({ capability }) => capability === 'approval.approved')
  expect(decided).toMatchObject({ approval_id: id, detail: { edited_request: request } })
  expect(edited).toMatchObject({
    agent: 'alpha',
    actor: 'user:ana',
    arguments: { ticket: 2, secret },
    approval_id: id,
    detail: {
      edited_request: request,
      original_digest: (await shown(kit, id)).digest,
      digest,
      capability: 'tickets.close',
    },
  })
  expect(asked).toMatchObject({
    capability: 'tickets.close',
    actor: 'user:ana',
    agent: 'alpha',
    arguments: { ticket: 2, secret },
    result: 'pending',
    policy_decision: 'approval_required',
    rule: { line: 5 },
    detail: { edited_from: id },
  })
})
