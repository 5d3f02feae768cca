import { mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createKit, type Kit, type KitOptions } from '@gatehouse/testkit'
import { replacing } from '@gatehouse/testkit/replacing'
import { expect, test } from 'vitest'
import { closeTicket } from '../../../test/kit/tickets.ts'
import { silent } from '../../log/testing.ts'
import type { StoredApproval } from '../../ports/approvals.ts'
import type { Capability } from '../../ports/capability.ts'
import type { Storage } from '../../ports/storage.ts'
import { MemoryBudget } from '../call/memory-budget.ts'

// Between the decision and the run anything may change: what was decided on runs as it was shown, once, or not at all.

const policy = `version: 1
rules:
  - { match: "*", tier: approval_required }
`

const mib = 1024 * 1024

class AskedBudget extends MemoryBudget {
  asked = 0

  override room(...given: Parameters<MemoryBudget['room']>): ReturnType<MemoryBudget['room']> {
    this.asked += 1
    return super.room(...given)
  }
}

/** A log whose errors are kept. */
const heard = () => {
  const errors: string[] = []
  return {
    log: { ...silent, error: (_facts: object, text: string) => void errors.push(text) },
    errors,
  }
}

/** An approved call that has not run yet; `ran` counts the runs. */
const approved = async (run?: () => Promise<{ closed: number }>, options: KitOptions = {}) => {
  let ran = 0
  const close = closeTicket({
    run: async () => {
      ran += 1
      return run ? await run() : { closed: 7 }
    },
  })
  const kit = await createKit({ policy, runsApproved: false, ...options })
  const use = (...all: Capability[]) => kit.registry.replaceGroup('tickets', all)
  use(close)
  await kit.agent('alpha')
  const args = { ticket: 7, secret: 'hidden' }
  const id = await kit.pending('alpha', 'tickets.close', args)
  await kit.decide(id, 'approve')
  return {
    kit,
    id,
    use,
    get ran() {
      return ran
    },
    /** What became of it, and its newest entry in the log. */
    async end() {
      kit.clock.move(1_000)
      const outcome = await kit.resolved('alpha', id)
      const [entry] = (await kit.audit()).filter(
        ({ approval_id, kind }) => approval_id === id && kind === 'call',
      )
      return { outcome, entry, stored: await kit.storage.approvals.find(id) }
    },
    [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose](),
  }
}

const changes: readonly (readonly [
  string,
  (kit: Kit, use: (...c: Capability[]) => void) => unknown,
])[] = [
  ['there is no tickets.close any more', (_kit, use) => use()],
  [
    'tickets.close was changed meanwhile',
    (_kit, use) => use(closeTicket({ purpose: 'Closes it for good.' })),
  ],
  [
    'tickets.close is outside of the tool set of alpha',
    (kit) =>
      kit.app.editAgent(kit.operator(), {
        name: 'alpha',
        changes: { tools: ['state.*'] },
        versions: null,
      }),
  ],
  ['agent alpha is paused', (kit) => kit.app.pauseAgent(kit.operator(), { name: 'alpha' })],
]

test.each(changes)('%s: nothing runs, and the log says why', async (why, change) => {
  await using made = await approved()
  await change(made.kit, made.use)
  const told: string[] = []
  using _listening = made.kit.app.subscribeApprovals((one) => void told.push(one.execution.state))
  const { outcome, entry, stored } = await made.end()
  expect([made.ran, told]).toEqual([0, ['refused']])
  const error = { type: 'ApprovalStale', message: expect.stringContaining(why) as string }
  expect(outcome).toMatchObject({ status: 'approved', result: { success: false, error } })
  expect(stored).toMatchObject({ execution: 'refused', exec_id: null })
  expect(entry).toMatchObject({
    agent: 'alpha',
    actor: 'agent:alpha',
    capability: 'tickets.close',
    arguments: { ticket: 7 },
    result: 'denied',
    policy_decision: 'approval_required',
    request_id: 'req-agent',
    rule: { line: 3 },
    error,
    approval_id: made.id,
  })
})

test('a run is on record before and after it, with what came of it', async () => {
  await using made = await approved()
  const { outcome, entry, stored } = await made.end()
  expect(made.ran).toBe(1)
  expect(outcome.result).toEqual({ success: true, data: { closed: 7 } })
  expect(stored).toMatchObject({ execution: 'succeeded', result_text: 'Closed 7.' })
  const [intent] = (await made.kit.audit()).filter(({ detail }) => detail?.execution === 'running')
  const facts = {
    policy_decision: 'approval_required',
    rule: { line: 3 },
    approval_id: made.id,
    agent: 'alpha',
    request_id: 'req-agent',
  }
  expect(intent).toMatchObject({ ...facts, result: 'pending' })
  expect(intent?.arguments['secret']).toMatch(/^hmac-sha256:/)
  expect(entry).toMatchObject({ ...facts, result: 'success', intent_id: intent?.id })
  expect(stored?.exec_id).toBe(`${made.kit.parts.node}:${intent?.id}`)
})

test('a run that fails is told as a failure, and is not tried again', async () => {
  await using made = await approved(() => Promise.reject(new Error('a fault')))
  const { outcome, entry, stored } = await made.end()
  expect(outcome).toMatchObject({ result: { success: false, error: { type: 'InternalError' } } })
  expect(stored).toMatchObject({ execution: 'failed', result_text: null })
  expect(entry).toMatchObject({ result: 'error', error: { type: 'InternalError' } })
  made.kit.clock.move(1_000)
  await new Promise((resolve) => setImmediate(resolve))
  expect(made.ran).toBe(1)
})

test('a call that another node took meanwhile runs nothing here', async () => {
  await using made = await approved()
  const { kit, id } = made
  const before = await kit.storage.approvals.find(id)
  if (!before) throw new Error('nothing stored')
  const taken = { ...before, execution: 'running', exec_id: 'node-other:aud-1' } as const
  await kit.storage.approvals.replace(before, taken)
  kit.clock.move(1_000)
  const other = await kit.pending('alpha', 'tickets.close', { ticket: 8 })
  await kit.decide(other, 'approve')
  kit.clock.move(1_000)
  await kit.resolved('alpha', other)
  expect(made.ran).toBe(1)
  expect(await kit.storage.approvals.find(id)).toMatchObject(taken)
})

type Tx = { readonly approvals: Storage['approvals'] }
type Log = { transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> }

test('a claim that changes nothing runs nothing, and leaves no trace of a run', async () => {
  let lost = 0
  let isLate = false
  const late = (tx: Tx): Tx => {
    const replace = async (approval: StoredApproval) => {
      lost += 1
      return { changed: false, approval }
    }
    return replacing(tx, { approvals: replacing(tx.approvals, { replace }) })
  }
  const lateIn = (log: Log): Log =>
    replacing(log, {
      transaction: (work) => log.transaction((tx) => work(isLate ? late(tx) : tx)),
    })
  const ports = <T extends object>(name: string, port: T): T =>
    name === 'auditLog' ? (lateIn(port as never) as never) : port
  const { log, errors } = heard()
  await using made = await approved(undefined, { ports, log })
  isLate = true
  await expect
    .poll(() => {
      made.kit.clock.move(1_000)
      return lost
    })
    .toBeGreaterThan(1)
  expect(made.ran).toBe(0)
  const runs = (await made.kit.audit()).filter(({ detail }) => detail?.execution === 'running')
  expect([runs, errors]).toEqual([[], []])
  // Nor does a refusal that changes nothing.
  await made.kit.app.pauseAgent(made.kit.operator(), { name: 'alpha' })
  const before = lost
  await expect
    .poll(() => {
      made.kit.clock.move(1_000)
      return lost
    })
    .toBeGreaterThan(before + 1)
  const denied = (await made.kit.audit()).filter(({ result }) => result === 'denied')
  expect([denied, errors]).toEqual([[], []])
  await made.kit.app.resumeAgent(made.kit.operator(), { name: 'alpha' })
  isLate = false
  await made.end()
  expect(made.ran).toBe(1)
})

test('a call that was closed as interrupted while it ran stays so, whatever comes of it', async () => {
  let end = (_result: { closed: number }) => {}
  await using made = await approved(() => new Promise((resolve) => (end = resolve)))
  const { kit, id } = made
  await expect
    .poll(() => {
      kit.clock.move(1_000)
      return made.ran
    })
    .toBe(1)
  const running = (await kit.storage.approvals.find(id)) ?? expect.fail('nothing stored')
  await kit.storage.approvals.replace(running, { ...running, execution: 'interrupted' })
  const told: string[] = []
  using _listening = kit.app.subscribeApprovals((one) => void told.push(one.execution.state))
  end({ closed: 7 })
  await expect.poll(() => told).toEqual(['interrupted'])
  expect(await kit.storage.approvals.find(id)).toMatchObject({ execution: 'interrupted' })
  const calls = (await kit.audit()).filter(({ kind }) => kind === 'call')
  expect(calls.map(({ result }) => result)).toEqual(['pending', 'pending'])
})

test('a call waits for memory as long as it takes, gives it back, and is left where the service stops', async () => {
  const memory = new AskedBudget({ heldBytesMax: 400 * mib, heldBytesPerAgentMax: 4_000 * mib })
  const { log, errors } = heard()
  const made = await approved(undefined, { memory, log })
  const { kit } = made
  const full = async () => {
    const held = memory.hold('beta', 0)
    const room = await held.room(200 * mib, () => ({ signal: new AbortController().signal }))
    return () => {
      room[Symbol.dispose]()
      held.release()
    }
  }
  const free = await full()
  kit.clock.move(1_000)
  await expect.poll(() => memory.asked).toBe(2)
  kit.clock.move(600_000)
  expect(made.ran).toBe(0)
  free()
  await made.end()
  expect(made.ran).toBe(1)
  const other = await kit.pending('alpha', 'tickets.close', { ticket: 8 })
  await kit.decide(other, 'approve')
  await expect.poll(() => memory.used).toBe(0)
  await full()
  const { asked } = memory
  kit.clock.move(1_000)
  await expect.poll(() => memory.asked).toBeGreaterThan(asked)
  await made[Symbol.asyncDispose]()
  expect([made.ran, errors]).toEqual([1, []])
})

test('only what is approved and waits runs, though an older look found more', async () => {
  const found: StoredApproval[] = []
  const older = (approvals: Storage['approvals']) =>
    replacing(approvals, {
      listByExecution: async (execution, limit) =>
        execution === 'waiting' ? found : await approvals.listByExecution(execution, limit),
    })
  const ports = <T extends object>(name: string, port: T): T =>
    name === 'storage'
      ? (replacing(port as unknown as Storage, {
          approvals: older((port as unknown as Storage).approvals),
        }) as unknown as T)
      : port
  await using made = await approved(undefined, { ports })
  const { kit } = made
  const asked = (ticket: number) => kit.pending('alpha', 'tickets.close', { ticket })
  const [rejected, cancelled, pending] = [await asked(1), await asked(2), await asked(3)]
  await kit.decide(rejected, 'reject')
  await kit.app.cancelApproval(kit.op('alpha'), { approval_id: cancelled })
  const stored = async (id: string) =>
    (await kit.storage.approvals.find(id)) ?? expect.fail(`there is no ${id}`)
  const left = await Promise.all([rejected, cancelled, pending].map(stored))
  found.push(await stored(made.id), ...left)
  await made.end()
  const last = await asked(4)
  await kit.decide(last, 'approve')
  found.push(await stored(last))
  kit.clock.move(1_000)
  await kit.resolved('alpha', last)
  expect(made.ran).toBe(2)
  expect(await Promise.all([rejected, cancelled, pending].map(stored))).toEqual(left)
})

test('a path that leads to another place by then is not written to', async () => {
  await using kit = await createKit({ policy, runsApproved: false })
  await kit.agent('alpha')
  const at = (name: string) => join(kit.workspace('alpha'), name)
  for (const name of ['one', 'two']) mkdirSync(at(name), { recursive: true })
  symlinkSync('one', at('link'))
  const id = await kit.pending('alpha', 'filesystem.append', { path: 'link/a', content: 'a' })
  await kit.decide(id, 'approve')
  rmSync(at('link'))
  symlinkSync('two', at('link'))
  kit.clock.move(1_000)
  expect(await kit.resolved('alpha', id)).toMatchObject({
    result: {
      success: false,
      error: { message: expect.stringContaining('leads to another place') as string },
    },
  })
  expect([readdirSync(at('one')), readdirSync(at('two'))]).toEqual([[], []])
})
