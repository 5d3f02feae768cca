import { mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createKit, type Kit, type KitOptions } from '@gatehouse/testkit'
import { replacing } from '@gatehouse/testkit/replacing'
import { expect, test } from 'vitest'
import { closeTicket } from '../../../test/kit/tickets.ts'
import type { StoredApproval } from '../../ports/approvals.ts'
import type { Capability } from '../../ports/capability.ts'
import type { Storage } from '../../ports/storage.ts'

// Between the decision and the run anything may change: what was decided on runs as it was shown, once, or not at all.

const policy = `version: 1
rules:
  - { match: "*", tier: approval_required }
`

/** An approved call that has not run yet; `ran` counts the runs. */
const approved = async (
  run?: () => Promise<{ closed: number }>,
  ports: NonNullable<KitOptions['ports']> = (_name, port) => port,
) => {
  let ran = 0
  const close = closeTicket({
    run: async () => {
      ran += 1
      return run ? await run() : { closed: 7 }
    },
  })
  const kit = await createKit({ policy, runsApproved: false, ports })
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
  const { outcome, entry, stored } = await made.end()
  expect(made.ran).toBe(0)
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
  await using made = await approved(undefined, ports)
  isLate = true
  await expect
    .poll(() => {
      made.kit.clock.move(1_000)
      return lost
    })
    .toBeGreaterThan(1)
  expect(made.ran).toBe(0)
  const runs = (await made.kit.audit()).filter(({ detail }) => detail?.execution === 'running')
  expect(runs).toEqual([])
  isLate = false
  await made.end()
  expect(made.ran).toBe(1)
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
  await using made = await approved(undefined, ports)
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
