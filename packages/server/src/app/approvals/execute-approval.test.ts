import { createKit, type Kit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import { closeTicket } from '../../../test/kit/tickets.ts'
import type { Capability } from '../../ports/capability.ts'

// Between the decision and the run anything may change: what was decided on runs as it was shown, once, or not at all.

const policy = `version: 1
rules:
  - { match: "*", tier: approval_required }
`

/** An approved call that has not run yet; `ran` counts the runs. */
const approved = async (run?: () => Promise<{ closed: number }>) => {
  let ran = 0
  const close = closeTicket({
    run: async () => {
      ran += 1
      return run ? await run() : { closed: 7 }
    },
  })
  const kit = await createKit({ policy, runsApproved: false })
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
