import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKit, type Kit } from '@gatehouse/testkit'
import { replacing } from '@gatehouse/testkit/replacing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineCapability } from '../../capabilities/define.ts'
import { silent } from '../../log/testing.ts'
import type { StoredApproval } from '../../ports/approvals.ts'
import type { Storage } from '../../ports/storage.ts'
import { Hold } from '../call/hold.ts'

const policy = `version: 1
rules:
  - { match: filesystem.append, tier: approval_required }
`

const withFile = async (kit: Kit, name = 'log.txt'): Promise<string> => {
  await kit.agent('alpha')
  mkdirSync(kit.workspace('alpha'), { recursive: true })
  const file = join(kit.workspace('alpha'), name)
  writeFileSync(file, '')
  return file
}
const line = (n: number) => ({ path: 'log.txt', content: `${n}\n` })

test('an approved call runs once, and its result comes by the same call, once', async () => {
  await using kit = await createKit({ policy })
  const file = await withFile(kit)
  const id = await kit.pending('alpha', 'filesystem.append', line(1))
  expect(await kit.pending('alpha', 'filesystem.append', line(1))).toBe(id)
  expect((await kit.storage.agents.find('alpha'))?.total_invocations).toBe(2)
  expect(readFileSync(file, 'utf8')).toBe('')
  expect((await kit.decide(id, 'approve')).kind).toBe('decided')
  expect(await kit.resolved('alpha', id)).toMatchObject({
    status: 'approved',
    result: { success: true, data: { size_bytes: 2 } },
  })
  expect(readFileSync(file, 'utf8')).toBe('1\n')
  const same = await kit.invoke('alpha', 'filesystem.append', line(1))
  expect(same).toMatchObject({ kind: 'succeeded', data: { size_bytes: 2 } })
  const next = await kit.pending('alpha', 'filesystem.append', line(1))
  expect(next).not.toBe(id)
  expect(readFileSync(file, 'utf8')).toBe('1\n')
  const entries = await kit.audit({ agent: 'alpha' })
  expect(
    entries
      .filter((entry) => entry.approval_id === id)
      .map(({ capability, result }) => `${capability} ${result}`)
      .toReversed(),
  ).toEqual([
    'filesystem.append pending',
    'filesystem.append pending',
    'approval.approved success',
    'filesystem.append pending',
    'filesystem.append success',
    'filesystem.append success',
  ])
})

test('other arguments are another request, and the approved one runs only what was shown', async () => {
  await using kit = await createKit({ policy })
  const file = await withFile(kit)
  const id = await kit.pending('alpha', 'filesystem.append', line(1))
  const other = await kit.pending('alpha', 'filesystem.append', line(2))
  expect(other).not.toBe(id)
  await kit.decide(id, 'approve')
  await kit.resolved('alpha', id)
  expect(readFileSync(file, 'utf8')).toBe('1\n')
})

test('a rejected call tells the agent the reason and runs nothing', async () => {
  await using kit = await createKit({ policy })
  const file = await withFile(kit)
  const id = await kit.pending('alpha', 'filesystem.append', line(1))
  await kit.decide(id, 'reject', { reason: 'Not today' })
  expect(await kit.resolved('alpha', id)).toMatchObject({
    status: 'rejected',
    result: {
      success: false,
      error: { type: 'ApprovalRejected', message: expect.stringContaining('Not today') },
    },
  })
  expect(await kit.invoke('alpha', 'filesystem.append', line(1))).toMatchObject({
    kind: 'failed',
    error: { type: 'ApprovalRejected' },
  })
  expect(readFileSync(file, 'utf8')).toBe('')
})

test('of 50 approvals and 50 rejections at once exactly one wins, and the rest see its record', async () => {
  await using kit = await createKit({ policy })
  const file = await withFile(kit)
  const rounds = process.env['GATEHOUSE_FULL'] === '1' ? 200 : 10
  for (let round = 0; round < rounds; round += 1) {
    const id = await kit.pending('alpha', 'filesystem.append', line(round))
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        kit.decide(id, i % 2 === 0 ? 'approve' : 'reject', { as: `p${i}` }),
      ),
    )
    const winners = outcomes.filter(({ kind }) => kind === 'decided')
    expect(winners).toHaveLength(1)
    const won = winners[0]?.approval
    expect(outcomes.every(({ approval }) => approval.decided_by === won?.decided_by)).toBe(true)
    const { status } = await kit.resolved('alpha', id)
    expect(status).toBe(won?.status)
    const acts = (await kit.audit()).filter(
      (entry) => entry.approval_id === id && entry.kind === 'act',
    )
    expect(acts).toHaveLength(1)
    const runs = readFileSync(file, 'utf8')
      .split('\n')
      .filter((text) => text === String(round))
    expect(runs).toHaveLength(status === 'approved' ? 1 : 0)
  }
})

test('a wrong digest decides nothing, the right one does', async () => {
  await using kit = await createKit({ policy })
  await withFile(kit)
  const id = await kit.pending('alpha', 'filesystem.append', line(1))
  await expect(kit.decide(id, 'approve', { digest: 'sha256:00' })).rejects.toMatchObject({
    type: 'ApprovalDigestMismatch',
  })
  const { digest, status } = await kit.app.showApproval(kit.operator(), { approval_id: id })
  expect(status).toBe('pending')
  expect((await kit.decide(id, 'approve', { digest })).kind).toBe('decided')
})

test.each([
  ['paused', (kit: Kit) => kit.app.pauseAgent(kit.operator(), { name: 'alpha' })],
  [
    'blocked by policy',
    (kit: Kit) =>
      kit.app.savePolicy(kit.operator(), {
        text: 'version: 1\nrules:\n  - { match: filesystem.append, tier: blocked }\n',
      }),
  ],
])('an approved call that is %s by then runs nothing and says why', async (_name, change) => {
  await using kit = await createKit({ policy, runsApproved: false })
  const file = await withFile(kit)
  const id = await kit.pending('alpha', 'filesystem.append', line(1))
  const before = readFileSync(file, 'utf8')
  await kit.decide(id, 'approve')
  await change(kit)
  kit.clock.move(1_000)
  expect(await kit.resolved('alpha', id)).toMatchObject({
    result: { success: false, error: { type: 'ApprovalStale' } },
  })
  expect(readFileSync(file, 'utf8')).toBe(before)
  const { execution } = await kit.app.showApproval(kit.operator(), { approval_id: id })
  expect(execution.state).toBe('refused')
})

test('an approved deletion of a file that has changed since does nothing and says why', async () => {
  await using kit = await createKit({ policy, runsApproved: false })
  const file = await withFile(kit)
  const [first, second] = [
    await kit.pending('alpha', 'filesystem.delete', { path: 'log.txt' }),
    await kit.pending('alpha', 'filesystem.delete', { path: 'log.txt', recursive: true }),
  ]
  await kit.decide(first, 'approve')
  appendFileSync(file, 'somebody else')
  kit.clock.move(1_000)
  expect(await kit.resolved('alpha', first)).toMatchObject({
    result: { error: { type: 'ApprovalStale' } },
  })
  expect(existsSync(file)).toBe(true)
  await kit.decide(second, 'reject')
  const third = await kit
    .pending('alpha', 'filesystem.delete', { path: 'log.txt', recursive: true })
    .catch(() => null)
  expect(third).toBeNull()
  const fourth = await kit.pending('alpha', 'filesystem.delete', { path: './log.txt' })
  await kit.decide(fourth, 'approve')
  kit.clock.move(1_000)
  expect(await kit.resolved('alpha', fourth)).toMatchObject({ result: { success: true } })
  expect(existsSync(file)).toBe(false)
})

test('a stored request that was changed behind the service runs nothing', async () => {
  await using kit = await createKit({ policy })
  const file = await withFile(kit)
  const id = await kit.pending('alpha', 'filesystem.append', line(1))
  const stored = await kit.storage.approvals.find(id)
  if (!stored) throw new Error('the request is not stored')
  const bound_json = stored.bound_json.replace('1\\n', '2\\n')
  expect(bound_json).not.toBe(stored.bound_json)
  await kit.storage.approvals.insert({
    ...stored,
    id: `${id.slice(0, -4)}zzzz`,
    bound_json,
    status: 'approved',
  })
  kit.clock.move(1_000)
  expect(await kit.resolved('alpha', `${id.slice(0, -4)}zzzz`)).toMatchObject({
    result: {
      success: false,
      error: { type: 'ApprovalStale', message: expect.stringContaining('digest') },
    },
  })
  expect(readFileSync(file, 'utf8')).toBe('')
})

test('revoking an agent withdraws what it asked for', async () => {
  const errors: unknown[] = []
  await using kit = await createKit({
    policy,
    log: { ...silent, error: (...told) => void errors.push(told) },
  })
  await withFile(kit)
  const id = await kit.pending('alpha', 'filesystem.append', line(1))
  const told: string[] = []
  using _listening = kit.app.subscribeApprovals((one) => void told.push(`${one.id} ${one.status}`))
  kit.clock.move(1_000)
  await kit.app.revokeAgent(kit.operator(), { name: 'alpha' })
  expect([told, errors]).toEqual([[`${id} cancelled`], []])
  expect(await kit.decide(id, 'approve')).toMatchObject({
    kind: 'not_pending',
    approval: {
      ...{ status: 'cancelled', decided_by: 'user:ana' },
      decided_at: new Date(kit.clock.wall()).toISOString(),
    },
  })
})

test('what was decided while its agent was revoked stays as it was decided', async () => {
  type Tx = { readonly approvals: Storage['approvals'] }
  type Log = { transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> }
  const older: StoredApproval[] = []
  const late = ({ approvals }: Tx) =>
    replacing(approvals, { list: async () => ({ approvals: older, total: older.length }) })
  await using kit = await createKit({
    policy,
    ports: (name, port) => {
      const log = port as unknown as Log
      const lateLog = replacing(log, {
        transaction: (work) =>
          log.transaction((tx) => work(replacing(tx, { approvals: late(tx) }))),
      })
      return name === 'auditLog' ? (lateLog as never) : port
    },
  })
  await withFile(kit)
  const id = await kit.pending('alpha', 'filesystem.append', line(1))
  older.push((await kit.storage.approvals.find(id)) ?? expect.fail('nothing stored'))
  await kit.decide(id, 'reject')
  const told: string[] = []
  using _listening = kit.app.subscribeApprovals((one) => void told.push(one.status))
  await kit.app.revokeAgent(kit.operator(), { name: 'alpha' })
  expect(await kit.storage.approvals.find(id)).toMatchObject({ status: 'rejected' })
  expect(told).toEqual([])
  expect(await kit.audit({ capability: 'approval.cancelled' })).toEqual([])
})

test('what a node was running is interrupted when that node is forgotten', async () => {
  await using kit = await createKit({ policy })
  await withFile(kit)
  const id = await kit.pending('alpha', 'filesystem.append', line(1))
  const pending = (await kit.storage.approvals.find(id)) ?? expect.fail('nothing stored')
  const running = { status: 'approved', execution: 'running', exec_id: 'node-b:aud-1' } as const
  await kit.storage.approvals.replace(pending, { ...pending, ...running })
  const seen_ms = (await kit.storage.wallMs()) - 3_600_000
  await kit.storage.nodes.put({
    ...{ name: 'node-b', place: 'b:/data', version: '0.1.0', address: null },
    ...{ state: 'stopped', started_ms: 0, seen_ms, facts_json: '{}' },
  })
  await kit.app.forgetNode(kit.operator(), { name: 'node-b' })
  expect(await kit.storage.approvals.find(id)).toMatchObject({
    execution: 'interrupted',
    result: { error: { type: 'ExecutionInterrupted' } },
  })
})

test('an unanswered request expires on the service clock, and no decision comes after that', async () => {
  await using kit = await createKit({ policy, settings: { 'approvals.ttl': 60_000 } })
  const file = await withFile(kit)
  const first = await kit.pending('alpha', 'filesystem.append', line(1))
  kit.clock.move(59_000)
  const second = await kit.pending('alpha', 'filesystem.append', line(2))
  kit.clock.move(1_000)
  expect(await kit.resolved('alpha', first)).toMatchObject({
    status: 'expired',
    result: { success: false, error: { type: 'ApprovalExpired' } },
  })
  expect((await kit.decide(first, 'approve')).kind).toBe('not_pending')
  expect((await kit.decide(second, 'approve')).kind).toBe('decided')
  await kit.resolved('alpha', second)
  expect(readFileSync(file, 'utf8')).toBe('2\n')
})

test('an agent has at most 100 requests waiting, and joining one that waits is still possible', async () => {
  await using kit = await createKit({ policy, settings: { 'approvals.ttl': 60_000 } })
  await withFile(kit)
  const ids = await Promise.all(
    Array.from({ length: 100 }, (_, n) => kit.pending('alpha', 'filesystem.append', line(n))),
  )
  expect(await kit.invoke('alpha', 'filesystem.append', line(100))).toMatchObject({
    kind: 'limited',
    data: { reason: 'too_many_pending', retry_after_seconds: 61, limit: 100, window: '1m' },
  })
  const [refused] = await kit.audit({ capability: 'filesystem.append' })
  expect(refused).toMatchObject({
    ...{ result: 'denied', policy_decision: 'approval_required', approval_id: null },
    error: { type: 'TooManyPending', message: expect.stringContaining('100') as string },
  })
  expect((await kit.storage.agents.find('alpha'))?.total_invocations).toBe(101)
  expect(await kit.pending('alpha', 'filesystem.append', line(7))).toBe(ids[7])
  kit.clock.move(61_000)
  await kit.resolved('alpha', String(ids[0]))
  expect((await kit.invoke('alpha', 'filesystem.append', line(100))).kind).toBe('pending')
})

test('another agent’s approval does not exist, and an agent withdraws only its own', async () => {
  await using kit = await createKit({ policy })
  await withFile(kit)
  await kit.agent('beta')
  const id = await kit.pending('alpha', 'filesystem.append', line(1))
  await expect(
    kit.app.getApprovalOutcome(kit.op('beta'), { approval_id: id }),
  ).rejects.toMatchObject({ type: 'ApprovalNotFound' })
  expect(await kit.invoke('beta', 'approvals.cancel', { approval_id: id })).toMatchObject({
    kind: 'failed',
    error: { type: 'ApprovalNotFound' },
  })
  expect(await kit.invoke('alpha', 'approvals.cancel', { approval_id: id })).toMatchObject({
    kind: 'succeeded',
    data: { status: 'cancelled' },
  })
  expect((await kit.decide(id, 'approve')).kind).toBe('not_pending')
})

test('a held call stays open, tells how long, and returns the real result', async () => {
  await using kit = await createKit({ policy })
  await kit.agent('holder', 'hold')
  mkdirSync(kit.workspace('holder'), { recursive: true })
  let told = 0
  const call = kit.invoke('holder', 'filesystem.append', line(1), {
    hold: new Hold(),
    progress: () => (told += 1),
  })
  let approvals = (
    await kit.app.listApprovals(kit.operator(), { status: 'pending', limit: 10, offset: 0 })
  ).approvals
  while (approvals.length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 5))
    approvals = (
      await kit.app.listApprovals(kit.operator(), { status: 'pending', limit: 10, offset: 0 })
    ).approvals
  }
  while (told === 0) {
    kit.clock.move(5_000)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  expect(told).toBeGreaterThan(0)
  await kit.decide(String(approvals[0]?.id), 'approve')
  expect(await call).toMatchObject({ kind: 'succeeded', data: { size_bytes: 2 } })
  expect(existsSync(join(kit.workspace('holder'), 'log.txt'))).toBe(true)
  const again = await kit.invoke('holder', 'filesystem.append', line(1))
  expect(again.kind).toBe('pending')
})

test('a service that does not run approved calls leaves them for the next start', async () => {
  await using kit = await createKit({ policy, runsApproved: false })
  const file = await withFile(kit)
  const id = await kit.pending('alpha', 'filesystem.append', line(1))
  await kit.decide(id, 'approve')
  await new Promise((resolve) => setTimeout(resolve, 30))
  const { execution } = await kit.app.showApproval(kit.operator(), { approval_id: id })
  expect(execution.state).toBe('waiting')
  expect(readFileSync(file, 'utf8')).toBe('')
})

test('one decision on many is recorded one by one, and what cannot be decided stops none', async () => {
  await using kit = await createKit({ policy })
  const file = await withFile(kit)
  const ids = [
    await kit.pending('alpha', 'filesystem.append', line(1)),
    await kit.pending('alpha', 'filesystem.append', line(2)),
    await kit.pending('alpha', 'filesystem.append', line(3)),
  ] as const
  const [first, second, third] = ids
  await kit.decide(first, 'reject')
  const { digest } = await kit.app.showApproval(kit.operator(), { approval_id: third })
  const outcomes = await kit.app.decideApprovals(kit.operator(), {
    ids: [first, 'appr-nothing', second, third, third],
    decision: 'approve',
    reason: 'All fine',
    digests: { [second]: 'sha256:00', [third]: digest },
  })
  expect(outcomes).toMatchObject([
    { id: first, outcome: 'not_pending', approval: { status: 'rejected' } },
    { id: 'appr-nothing', outcome: 'not_found' },
    { id: second, outcome: 'digest_mismatch', approval: { status: 'pending' } },
    {
      id: third,
      outcome: 'decided',
      approval: { status: 'approved', decision_reason: 'All fine' },
    },
    { id: third, outcome: 'not_pending' },
  ])
  await kit.resolved('alpha', third)
  expect(readFileSync(file, 'utf8')).toBe('3\n')
  const acts = (await kit.audit()).filter(({ capability }) => capability === 'approval.approved')
  expect(acts.map(({ approval_id }) => approval_id)).toEqual([third])
})

test('the approved calls of one agent, however long they take, hold up nobody else', async () => {
  const slow: (() => void)[] = []
  const waiting = defineCapability({
    title: 'Wait',
    name: 'test.wait',
    version: '1.0',
    purpose: 'Waits.',
    when_to_use: 'In this test.',
    inputs: z.strictObject({ n: z.int() }),
    outputs: z.object({}),
    tier: 'approval_required',
    effect: 'immediate',
    errors: [],
    run: () =>
      new Promise<Record<string, never>>((resolve) => {
        slow.push(() => resolve({}))
      }),
  })
  await using kit = await createKit({ policy, capabilities: [waiting] })
  await withFile(kit)
  await kit.agent('beta')
  for (let n = 0; n < 20; n += 1)
    await kit.decide(await kit.pending('beta', 'test.wait', { n }), 'approve')
  await expect.poll(() => slow.length).toBe(8)
  const id = await kit.pending('alpha', 'filesystem.append', line(1))
  await kit.decide(id, 'approve')
  expect((await kit.resolved('alpha', id)).result).toMatchObject({ success: true })
  for (let ended = 0; ended < 20; ended += 1) {
    await expect.poll(() => slow.length).toBeGreaterThan(ended)
    slow[ended]?.()
  }
  expect(slow).toHaveLength(20)
})
