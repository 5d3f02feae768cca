import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKit, type Kit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { closeTicket } from '../../../test/kit/tickets.ts'
import { defineCapability } from '../../capabilities/define.ts'
import { Hold } from '../call/hold.ts'
import { argumentsOf } from './approval-record.ts'

const policy = `version: 1
rules:
  - { match: state.set, tier: approval_required }
  - { match: filesystem.delete, tier: approval_required }
`
const args = { key: 'a', value: 1 }

const open = async () => {
  const kit = await createKit({ policy, runsApproved: false })
  await kit.agent('alpha')
  return kit
}
const stored = async (kit: Kit, id: string) =>
  (await kit.storage.approvals.find(id)) ?? expect.fail('nothing stored')
const newest = async (kit: Kit) => {
  const [entry] = await kit.audit({ capability: 'state.set' })
  return entry
}
const counted = async (kit: Kit) => (await kit.storage.agents.find('alpha'))?.total_invocations

test('people hear of a request, and the agent how it stands and until when', async () => {
  await using kit = await open()
  const told: string[] = []
  using _listening = kit.app.subscribeApprovals((one) => void told.push(`${one.id} ${one.status}`))
  const first = await kit.invoke('alpha', 'state.set', args, { agent_reason: 'because' })
  if (first.kind !== 'pending') throw new Error('not pending')
  const { approval_id: id } = first.pending
  const { agent_reason, expires_wall_ms } = await stored(kit, id)
  expect(agent_reason).toBe('because')
  const pending = {
    status: 'pending_approval',
    approval_id: id,
    capability: 'state.set',
    message:
      'state.set waits for a person to approve it. Wait with approvals.wait, or make the same call again later.',
    expires_at: new Date(expires_wall_ms).toISOString(),
  }
  expect(first.pending).toEqual(pending)
  expect(await kit.invoke('alpha', 'state.set', args)).toEqual({ kind: 'pending', pending })
  expect(told).toEqual([`${id} pending`])
  await kit.decide(id, 'approve')
  const message = 'state.set is approved and runs now. Ask for the result with approvals.wait.'
  expect(await kit.invoke('alpha', 'state.set', args)).toEqual({
    ...{ kind: 'pending', pending: { ...pending, message } },
  })
  const other = await kit.pending('alpha', 'state.set', { key: 'b', value: 1 })
  expect((await stored(kit, other)).agent_reason).toBeNull()
})

test('a call of an agent that does not wait is answered at once, though its connection could be held', async () => {
  await using kit = await open()
  const outcome = await kit.invoke('alpha', 'state.set', args, { hold: new Hold() })
  expect(outcome.kind).toBe('pending')
})

test('the result of a held call is handed over by the same call, on record, and counted', async () => {
  await using kit = await open()
  const id = await kit.pending('alpha', 'state.set', args)
  await kit.decide(id, 'approve')
  kit.clock.move(1_000)
  await kit.resolved('alpha', id)
  const gone = { gone: AbortSignal.abort() }
  expect((await kit.invoke('alpha', 'state.set', args, gone)).kind).toBe('pending')
  expect((await stored(kit, id)).delivered).toBe('no')
  expect((await kit.invoke('alpha', 'state.set', args)).kind).toBe('succeeded')
  expect(await stored(kit, id)).toMatchObject({ delivered: 'yes', execution: 'succeeded' })
  expect(await newest(kit)).toMatchObject({
    ...{ result: 'success', error: null, approval_id: id, detail: { delivered: true } },
    ...{ policy_decision: 'approval_required', rule: { line: 3 }, agent: 'alpha' },
  })
  expect(await counted(kit)).toBe(3)
})

test('a rejection and a failure are handed over as what they are', async () => {
  await using kit = await open()
  const id = await kit.pending('alpha', 'state.set', args)
  await kit.decide(id, 'reject')
  const error = { type: 'ApprovalRejected' }
  expect(await kit.invoke('alpha', 'state.set', args)).toMatchObject({ kind: 'failed', error })
  const facts = { approval_id: id, detail: { delivered: true } }
  expect(await newest(kit)).toMatchObject({ ...facts, result: 'rejected', error })
  const next = await kit.pending('alpha', 'state.set', args)
  await kit.decide(next, 'approve')
  await kit.app.pauseAgent(kit.operator(), { name: 'alpha' })
  kit.clock.move(1_000)
  await kit.resolved('alpha', next)
  await kit.app.resumeAgent(kit.operator(), { name: 'alpha' })
  const stale = { type: 'ApprovalStale' }
  expect(await kit.invoke('alpha', 'state.set', args)).toMatchObject({
    ...{ kind: 'failed', error: stale },
  })
  expect(await newest(kit)).toMatchObject({ approval_id: next, result: 'error', error: stale })
})

test('a request that another one takes the place of is told of, with when', async () => {
  await using kit = await open()
  mkdirSync(kit.workspace('alpha'), { recursive: true })
  const file = join(kit.workspace('alpha'), 'a')
  writeFileSync(file, 'a')
  const id = await kit.pending('alpha', 'filesystem.delete', { path: 'a' })
  appendFileSync(file, 'b')
  kit.clock.move(5_000)
  const told: string[] = []
  using _listening = kit.app.subscribeApprovals((one) => void told.push(`${one.id} ${one.status}`))
  const next = await kit.pending('alpha', 'filesystem.delete', { path: 'a' })
  expect(told).toEqual([`${id} cancelled`, `${next} pending`])
  expect(await stored(kit, id)).toMatchObject({
    ...{ decided_ms: kit.clock.wall(), decided_by: 'system' },
  })
})

test('people see what was sent and what runs, when it was decided and what came of it', async () => {
  await using kit = await open()
  kit.registry.replaceGroup('tickets', [closeTicket()])
  const shown = (id: string) => kit.app.showApproval(kit.operator(), { approval_id: id })
  const whole = await kit.pending('alpha', 'tickets.close', { ticket: 8, secret: '' })
  const given = { ticket: 8, secret: '' }
  expect(await shown(whole)).toMatchObject({ arguments: given, effective_arguments: given })
  const id = await kit.pending('alpha', 'tickets.close', { ticket: 7 })
  const asked = await shown(id)
  expect(asked.arguments).toEqual({ ticket: 7 })
  expect(asked.effective_arguments).toEqual({ ticket: 7, secret: '' })
  expect([asked.decided_at, asked.execution]).toEqual([null, { state: 'waiting' }])
  await kit.decide(id, 'approve')
  const decided_at = new Date(kit.clock.wall()).toISOString()
  kit.clock.move(1_000)
  await kit.resolved('alpha', id)
  const result = { success: true, data: { closed: 7 } }
  expect(await shown(id)).toMatchObject({ decided_at, execution: { state: 'succeeded', result } })
})

test('arguments that cannot be read any more are named by where they are stored', () => {
  const [sound, damaged] = ['{}', '{']
  expect(() => argumentsOf({ arguments_json: damaged, sent_json: null })).toThrow(
    'approvals.arguments_json',
  )
  expect(() => argumentsOf({ arguments_json: damaged, sent_json: sound })).toThrow(
    'approvals.arguments_json',
  )
  expect(() => argumentsOf({ arguments_json: sound, sent_json: damaged })).toThrow(
    'approvals.sent_json',
  )
})

test('nothing waits for a person of an agent that was revoked while the request was bound', async () => {
  let meanwhile: () => Promise<unknown> = async () => null
  const touch = defineCapability({
    title: 'Touch',
    name: 'test.touch',
    version: '1.0',
    purpose: 'Touches.',
    when_to_use: 'In this test.',
    inputs: z.strictObject({}),
    outputs: z.object({}),
    tier: 'approval_required',
    effect: 'immediate',
    errors: [],
    resolve: async () => ({ touched: await meanwhile() }),
    run: async () => ({}),
  })
  await using kit = await createKit({
    capabilities: [touch],
    policy: 'version: 1\nrules:\n  - { match: test.touch, tier: approval_required }\n',
    runsApproved: false,
  })
  await kit.agent('alpha')
  meanwhile = () => kit.app.pauseAgent(kit.operator(), { name: 'alpha' })
  await expect(kit.invoke('alpha', 'test.touch')).rejects.toMatchObject({ type: 'AgentPaused' })
  await kit.app.resumeAgent(kit.operator(), { name: 'alpha' })
  meanwhile = async () => {
    await kit.app.revokeAgent(kit.operator(), { name: 'alpha' })
    await kit.app.restoreAgent(kit.operator(), { name: 'alpha' })
    return null
  }
  await expect(kit.invoke('alpha', 'test.touch')).rejects.toMatchObject({
    type: 'AuthenticationFailed',
  })
  const { total } = await kit.storage.approvals.list({ status: 'pending', limit: 9, offset: 0 })
  expect(total).toBe(0)
  const [second, first] = await kit.audit({ capability: 'test.touch' })
  expect([first?.error?.type, second?.error?.type]).toEqual(['AgentPaused', 'AuthenticationFailed'])
})
