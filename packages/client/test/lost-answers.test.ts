import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
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

  test('an outcome that was lost on its way is asked for again', async () => {
    const gate = kit.agent(way)
    const path = `outcome-${way}.txt`
    const { written, pending } = asked(gate, path)
    const id = await pending
    kit.wire.cutNextAnswer()
    await kit.kit.decide(id, 'approve')
    expect(await written).toMatchObject({ created: true })
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

test('calls after a broken connection share the next one', async () => {
  const gate = kit.agent('websocket')
  await gate.call('agent.whoami')
  kit.wire.cutNextAnswer()
  await caught(append(gate))
  const before = kit.wire.connections
  await Promise.all([append(gate), append(gate), append(gate)])
  expect(kit.wire.connections).toBe(before + 1)
})

test('a connection that was open and ends is no connection that did not come about', async () => {
  for (const syscall of ['read', 'write', undefined]) {
    const cause = Object.assign(new Error('lost'), { code: 'EHOSTUNREACH', syscall })
    let made = 0
    const gate = kit.agent('http', {
      fetch(url, init) {
        if (init.body.includes('session.create')) return fetch(url, init)
        made += 1
        return Promise.reject(new TypeError('fetch failed', { cause }))
      },
    })
    expect(await caught(append(gate))).toMatchObject({ type: 'Unreachable', sent: true })
    expect(made).toBe(1)
  }
})

test('a call does not follow where it is sent elsewhere', async () => {
  const asked: string[] = []
  const server = createHttpServer((request, response) => {
    asked.push(request.url ?? '')
    response.writeHead(307, { location: `${kit.wire.url}/rpc` }).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const gate = kit.agent('http', { url: `http://127.0.0.1:${port}`, maxRetries: 0 })
  const error = await caught(gate.request('capabilities.list'))
  server.close()
  expect(error).toMatchObject({ type: 'Unreachable', sent: true })
  expect(asked).toEqual(['/rpc'])
})

test('a request of the gate is no answer to one with the same number', async () => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  server.on('connection', (socket) => {
    socket.on('message', (bytes: Buffer) => {
      const { id, method } = JSON.parse(bytes.toString()) as { id?: number; method: string }
      if (id === undefined) return
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' }))
      const result = method === 'tools/call' ? { structuredContent: { name: 'alpha' } } : {}
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
  })
  const { port } = server.address() as AddressInfo
  const gate = kit.agent('websocket', { url: `http://127.0.0.1:${port}` })
  expect(await gate.call('agent.whoami')).toEqual({ name: 'alpha' })
  await gate.close()
  server.close()
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
