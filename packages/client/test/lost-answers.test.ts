import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { errors, type Gatehouse } from '../src/index.ts'
import { AgentKit, transports } from './agent-kit.ts'
import { deferred } from './deferred.ts'

// A connection that breaks must not make a call take effect twice, nor lose what a person decided.

let kit: AgentKit
beforeAll(async () => {
  kit = await AgentKit.open()
})
afterAll(() => kit[Symbol.asyncDispose]())

beforeEach(() => kit.write('log.txt', ''))

const append = (gate: Gatehouse) =>
  gate.call('filesystem.append', { path: 'log.txt', content: 'one\n' })
const caught = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error,
  )
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** An address at which nobody listens. */
const vacantUrl = async (): Promise<string> => {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return `http://127.0.0.1:${port}`
}

/** Asks for a call that a person decides on; the id of the request. */
const asked = (gate: Gatehouse, path: string) => {
  const { promise, resolve } = deferred<string>()
  const args = { path, content: 'written\n' }
  const written = gate.call('filesystem.write', args, {
    onPending: ({ approvalId }) => resolve(approvalId),
  })
  return { written, pending: promise }
}

describe.each(transports)('over %s', (way) => {
  test('a call whose answer was lost is not made again', async () => {
    const gate = kit.agent(way, { maxRetries: 5 })
    await gate.call('agent.whoami')
    kit.wire.cutNextAnswer()
    const error = await caught(append(gate))
    expect(error).toBeInstanceOf(errors.Unreachable)
    expect(error).toMatchObject({ sent: true })
    expect(kit.read('log.txt')).toBe('one\n')
    // The next call finds the way again by itself.
    await append(gate)
    expect(kit.read('log.txt')).toBe('one\none\n')
  })

  test('of many calls on one broken connection none is made again', async () => {
    const gate = kit.agent(way)
    await gate.call('agent.whoami')
    const calls = [...Array(8).keys()].map(() => append(gate))
    kit.wire.cutNextAnswer()
    const ends = await Promise.all(calls.map(caught))
    const lost = ends.filter((end) => end !== null)
    expect(lost.length).toBeGreaterThan(0)
    for (const end of lost) expect(end).toMatchObject({ type: 'Unreachable', sent: true })
    // Whatever ran, ran once: an answer that came means an effect, a lost one at most one.
    await gate.call('agent.whoami')
    const lines = (kit.read('log.txt') ?? '').split('\n').length - 1
    expect(lines).toBeGreaterThanOrEqual(ends.length - lost.length)
    expect(lines).toBeLessThanOrEqual(ends.length)
  })

  test('a decision is waited for over broken connections', async () => {
    const gate = kit.agent(way)
    const path = `decided-${way}.txt`
    const { written, pending } = asked(gate, path)
    const id = await pending
    for (let times = 0; times < 2; times += 1) {
      const before = kit.wire.connections
      kit.wire.cut()
      while (kit.wire.connections === before) await nextTurn()
    }
    await kit.kit.decide(id, 'approve')
    expect(await written).toMatchObject({ created: true })
    expect(kit.read(path)).toBe('written\n')
    const runs = await kit.kit.audit({ capability: 'filesystem.write' })
    const effects = runs.filter((entry) => entry.approval_id === id && entry.result === 'success')
    expect(effects).toHaveLength(1)
  })

  test('where nothing answers, nothing was sent', async () => {
    const error = await caught(append(kit.agent(way, { url: await vacantUrl(), maxRetries: 0 })))
    expect(error).toBeInstanceOf(errors.Unreachable)
    expect(error).toMatchObject({ sent: false })
  })
})

test('a call that did not come through is made again', async () => {
  const vacant = await vacantUrl()
  const urls: string[] = []
  const gate = kit.agent('http', {
    async fetch(url, init) {
      urls.push(url)
      return fetch(urls.length === 1 ? `${vacant}/rpc` : url, init)
    },
  })
  await append(gate)
  expect(kit.read('log.txt')).toBe('one\n')
  expect(urls.length).toBeGreaterThan(2)
})

test('events go on after a broken connection, none lost and none twice', async () => {
  const gate = kit.agent('http')
  const events = gate.events()
  const wake = (reason: string) => kit.kit.app.wakeAgent({ agent: 'alpha', reason })
  const reasons: unknown[] = []
  const next = async (type: string) => {
    for (;;) {
      const { value } = await events.next()
      if (value?.type === type) return reasons.push(value.data['reason'])
    }
  }
  await wake('first')
  kit.kit.clock.move(2_000)
  await next('wake')
  const later = next('wake')
  kit.wire.cut()
  await wake('second')
  kit.kit.clock.move(2_000)
  await later
  expect(reasons).toEqual(['first', 'second'])
  await events.return()
})

test('events end with the client', async () => {
  const gate = kit.agent('http')
  const seen = (async () => {
    for await (const { type } of gate.events({ after: 'evt-~' })) return type
    return 'ended'
  })()
  await gate.close()
  expect(await seen).toBe('ended')
})

test('a session that has ended is begun anew, and the call is made once', async () => {
  const gate = kit.agent('http')
  const first = await gate.call('agent.session')
  kit.kit.clock.move(31 * 60_000)
  await Promise.all([append(gate), append(gate)])
  expect(kit.read('log.txt')).toBe('one\none\n')
  const second = await gate.call('agent.session')
  expect(second.session?.session_id).not.toBe(first.session?.session_id)
  await gate.close()
  const ended = (await kit.kit.audit()).find(({ capability }) => capability === 'session.ended')
  expect(ended?.arguments).toMatchObject({ session_id: second.session?.session_id })
})
