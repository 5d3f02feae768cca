import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CallOptions, errors, type Gatehouse } from '../src/index.ts'
import { AgentKit, transports } from './agent-kit.ts'
import { deferred } from './deferred.ts'

let kit: AgentKit
beforeAll(async () => {
  kit = await AgentKit.open()
})
afterAll(() => kit[Symbol.asyncDispose]())

const caught = (work: Promise<unknown>) =>
  work.then(
    (value) => ({ value }),
    (error: unknown) => error,
  )

describe.each(transports)('over %s', (way) => {
  const file = (name: string) => `${way}-${name}.txt`

  const write = (gate: Gatehouse, path: string, options?: CallOptions) =>
    gate.call('filesystem.write', { path, content: 'written\n' }, options)

  /** Asks to write a file; `pending` resolves with what the client tells of the request. */
  const ask = (path: string, options: CallOptions = {}) => {
    const { promise, resolve } = deferred<string>()
    const onPending: CallOptions['onPending'] = ({ approvalId, expiresAt }) => {
      expect(expiresAt).toMatch(/^\d{4}-.*Z$/)
      resolve(approvalId)
    }
    const gate = kit.agent(way)
    return { gate, end: caught(write(gate, path, { ...options, onPending })), pending: promise }
  }

  test('a call that a person approves returns its result', async () => {
    const { end, pending } = ask(file('approved'), { reason: 'It is wanted' })
    const id = await pending
    const stored = await kit.kit.storage.approvals.find(id)
    expect(stored?.agent_reason).toBe('It is wanted')
    await kit.kit.decide(id, 'approve')
    expect(await end).toMatchObject({ value: { created: true } })
    expect(kit.read(file('approved'))).toBe('written\n')
  })

  test('a rejection is an error of its own, with the words of the person', async () => {
    const { end, pending } = ask(file('rejected'))
    await kit.kit.decide(await pending, 'reject', { reason: 'not this one' })
    const error = await end
    expect(error).toBeInstanceOf(errors.ApprovalRejected)
    expect((error as Error).message).toContain('not this one')
    expect(kit.read(file('rejected'))).toBeNull()
  })

  test('a request that nobody decided on in time has expired', async () => {
    const { end, pending } = ask(file('expired'))
    await pending
    kit.kit.clock.move(25 * 60 * 60_000)
    expect(await end).toBeInstanceOf(errors.ApprovalExpired)
  })

  test('a request that is withdrawn is cancelled', async () => {
    const { gate, end, pending } = ask(file('withdrawn'))
    await gate.call('approvals.cancel', { approval_id: await pending })
    expect(await end).toBeInstanceOf(errors.ApprovalCancelled)
  })

  test('a person may change the call, and the agent is told', async () => {
    const notes: string[] = []
    const { end, pending } = ask(file('asked'), { onNote: (note) => void notes.push(note) })
    const changed = { path: file('changed'), content: 'written\n' }
    await kit.kit.decide(await pending, 'approve', { arguments: changed })
    expect(await end).toHaveProperty('value.created', true)
    expect(kit.read(file('asked'))).toBeNull()
    expect(notes).toEqual([expect.stringContaining('A person changed the arguments')])
  })

  test('who does not wait gets the id, and can wait later', async () => {
    const gate = kit.agent(way)
    const error = await caught(write(gate, file('later'), { wait: false }))
    expect(error).toBeInstanceOf(errors.ApprovalPending)
    const { approvalId } = error as errors.ApprovalPending
    // The same call finds the same request, and so does a client that starts anew.
    const again = await caught(write(kit.agent(way), file('later'), { wait: false }))
    expect(again).toMatchObject({ approvalId })
    const waited = kit.agent(way).wait(approvalId)
    await kit.kit.decide(approvalId, 'approve')
    expect(await waited).toMatchObject({ created: true })
  })

  test('time that is up, or a signal, ends the wait and not the request', async () => {
    let late: unknown
    // Time for the request to be there, which is longer on a busy machine, and then for nobody to decide.
    for (const timeoutMs of [300, 3_000, 30_000]) {
      late = await caught(write(kit.agent(way), file('slow'), { timeoutMs }))
      if (late instanceof errors.ApprovalPending) break
      expect(late).toBeInstanceOf(errors.Unreachable)
    }
    expect(late).toBeInstanceOf(errors.ApprovalPending)
    const given = new AbortController()
    const { end, pending } = ask(file('slow'), { signal: given.signal })
    const id = await pending
    expect(id).toBe((late as errors.ApprovalPending).approvalId)
    given.abort(new Error('enough'))
    expect(await end).toHaveProperty('message', 'enough')
    await kit.kit.decide(id, 'approve')
    expect(await kit.agent(way).wait(id)).toMatchObject({ created: true })
  })
})
