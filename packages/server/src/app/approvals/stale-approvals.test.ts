import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKit, type Kit } from '@gatehouse/testkit'
import { FakeServer, fakeAdapter, memoryLink } from '@gatehouse/testkit/fake-service'
import { expect, test } from 'vitest'

// A request that could only fail is nothing to decide on: people see that it is stale before they decide,
// and the agent's next identical call asks for the call as it stands now.

const policy = `version: 1
rules:
  - { match: filesystem.delete, tier: approval_required }
`
const call = { path: 'log.txt' }

const withFile = async (kit: Kit): Promise<string> => {
  await kit.agent('alpha')
  mkdirSync(kit.workspace('alpha'), { recursive: true })
  const file = join(kit.workspace('alpha'), 'log.txt')
  writeFileSync(file, 'one\n')
  return file
}
const ask = (kit: Kit) => kit.pending('alpha', 'filesystem.delete', call)
const show = (kit: Kit, approval_id: string) =>
  kit.app.showApproval(kit.operator(), { approval_id })
const pendingOnes = async (kit: Kit) => {
  const filter = { status: 'pending', limit: 100, offset: 0 } as const
  return (await kit.app.listApprovals(kit.operator(), filter)).approvals
}

test('a request whose file changed is stale in the record and in the list; approving it is refused, rejecting works', async () => {
  await using kit = await createKit({ policy })
  const file = await withFile(kit)
  const id = await ask(kit)
  expect((await show(kit, id)).stale).toBeNull()
  expect(await pendingOnes(kit)).toMatchObject([{ id, stale: null }])
  appendFileSync(file, 'somebody else\n')
  kit.clock.move(1_000)
  const stale = expect.stringContaining('has changed')
  expect(await show(kit, id)).toMatchObject({ status: 'pending', stale })
  expect(await pendingOnes(kit)).toMatchObject([{ id, stale }])
  await expect(kit.decide(id, 'approve')).rejects.toMatchObject({
    type: 'ApprovalStale',
    message: expect.stringContaining('has changed'),
  })
  expect(
    await kit.app.decideApprovals(kit.operator(), { ids: [id], decision: 'approve' }),
  ).toMatchObject([{ id, outcome: 'stale', approval: { status: 'pending', stale } }])
  expect((await kit.decide(id, 'reject')).kind).toBe('decided')
  expect((await show(kit, id)).stale).toBeNull()
  expect(existsSync(file)).toBe(true)
})

test('the same call of what has changed is a new request, and the stale one is cancelled with the reason', async () => {
  await using kit = await createKit({ policy })
  const file = await withFile(kit)
  const id = await ask(kit)
  expect(await ask(kit)).toBe(id)
  appendFileSync(file, 'somebody else\n')
  const next = await ask(kit)
  expect(next).not.toBe(id)
  expect(await ask(kit)).toBe(next)
  expect(await show(kit, id)).toMatchObject({
    status: 'cancelled',
    decided_by: 'system',
    decision_reason: expect.stringContaining(next),
  })
  expect(await kit.app.getApprovalOutcome(kit.op('alpha'), { approval_id: id })).toMatchObject({
    status: 'cancelled',
    result: {
      error: { type: 'ApprovalCancelled', message: expect.stringContaining('has changed') },
    },
  })
  const [act] = await kit.audit({ capability: 'approval.cancelled' })
  expect(act).toMatchObject({ approval_id: id, detail: { superseded_by: next } })
  expect((await kit.decide(next, 'approve')).kind).toBe('decided')
  expect(await kit.resolved('alpha', next)).toMatchObject({ result: { success: true } })
  expect(existsSync(file)).toBe(false)
})

test('what would be refused for another reason says so too, and is as before once that is over', async () => {
  await using kit = await createKit({ policy })
  await withFile(kit)
  const id = await ask(kit)
  await kit.app.pauseAgent(kit.operator(), { name: 'alpha' })
  expect((await show(kit, id)).stale).toBe('agent alpha is paused')
  await expect(kit.decide(id, 'approve')).rejects.toMatchObject({ type: 'ApprovalStale' })
  await kit.app.resumeAgent(kit.operator(), { name: 'alpha' })
  const text = 'version: 1\nrules:\n  - { match: filesystem.delete, tier: blocked }\n'
  await kit.app.savePolicy(kit.operator(), { text })
  expect((await show(kit, id)).stale).toBe('policy blocks it now')
  await kit.app.savePolicy(kit.operator(), { text: policy })
  expect((await show(kit, id)).stale).toBeNull()
  expect((await kit.decide(id, 'approve')).kind).toBe('decided')
})

const askAll = 'version: 1\nrules:\n  - { match: "*", tier: approval_required }\n'

test.each([
  ['email.search', {}, 'ServiceNotFound'],
  ['calendar.calendars', {}, 'ServiceNotFound'],
  ['process.run', { command: 'true' }, 'SandboxUnavailable'],
  ['git.status', { path: 'project' }, 'SandboxUnavailable'],
  ['inference.generate', { prompt: 'Hello' }, 'NoModelChosen'],
])(
  '%s fails at once where it has nothing to work with, and asks nobody',
  async (name, args, type) => {
    await using kit = await createKit({ policy: askAll })
    await kit.agent('alpha')
    const outcome = await kit.invoke('alpha', name, args)
    expect(outcome).toMatchObject({ kind: 'failed', error: { type } })
    expect(await pendingOnes(kit)).toEqual([])
    const [entry] = await kit.audit({ capability: name })
    expect(entry).toMatchObject({ result: 'error', policy_decision: 'approval_required' })
  },
)

test('a request whose mailbox was disconnected says so, and the result of one that ran is handed over', async () => {
  const mail = fakeAdapter(memoryLink(new FakeServer()), { kind: 'mail' })
  await using kit = await createKit({ policy: askAll, adapters: new Map([['mail', mail]]) })
  await kit.agent('alpha')
  const connect = { kind: 'mail', settings: { address: 'alpha@example.com' }, agents: ['alpha'] }
  await kit.app.connectService(kit.operator(), { ...connect, secrets: { password: 'open sesame' } })
  const ran = await kit.pending('alpha', 'email.folders', {})
  await kit.decide(ran, 'approve')
  await kit.resolved('alpha', ran)
  const id = await kit.pending('alpha', 'email.search', { query: 'offer' })
  expect((await show(kit, id)).stale).toBeNull()
  await kit.app.disconnectService(kit.operator(), { name: 'mail', forget: false })
  kit.clock.move(1_000)
  const stale = "it can't run now: There is no service mail that alpha may use."
  expect(await pendingOnes(kit)).toMatchObject([{ id, stale }])
  expect(await kit.invoke('alpha', 'email.search', { query: 'offer' })).toMatchObject({
    ...{ kind: 'failed', error: { type: 'ServiceNotFound' } },
  })
  expect(await kit.invoke('alpha', 'email.folders')).toMatchObject({ kind: 'succeeded' })
  expect(await kit.invoke('alpha', 'email.folders')).toMatchObject({ kind: 'failed' })
})

test('the record has the arguments as they were sent and as they run; so has the answer to the agent', async () => {
  await using kit = await createKit({ policy })
  await withFile(kit)
  const id = await ask(kit)
  const both = { arguments: call, effective_arguments: { ...call, recursive: false } }
  const shown = await show(kit, id)
  expect({ arguments: shown.arguments, effective: shown.effective_arguments }).toEqual({
    arguments: both.arguments,
    effective: both.effective_arguments,
  })
  const outcome = await kit.app.getApprovalOutcome(kit.op('alpha'), { approval_id: id })
  expect(outcome).toEqual({ approval_id: id, status: 'pending', ...both })
  // Identity of a call does not depend on the arguments as they were sent.
  expect(await kit.pending('alpha', 'filesystem.delete', both.effective_arguments)).toBe(id)

  const changed = { path: './log.txt' }
  await kit.decide(id, 'approve', { arguments: changed })
  const { edit } = await show(kit, id)
  const edited = await show(kit, String(edit?.request))
  expect(edited).toMatchObject({
    arguments: changed,
    effective_arguments: { ...changed, recursive: false },
  })
})
