import { connect } from 'node:net'
import type { Kit } from '@gatehouse/testkit'
import { until } from '@gatehouse/testkit/until'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Hold } from '../../src/app/call/hold.ts'
import { MemoryBudget } from '../../src/app/call/memory-budget.ts'
import type { Gateway } from '../../src/transport/gateway/open-gateway.ts'
import type { GatewayLimits } from '../../src/transport/http/limits.ts'
import { type Appends, line, openAppends } from '../kit/appends.ts'
import { openHttpSession, openPeer, rpcRequest, rpcSpeaker, speakers } from '../kit/speakers.ts'

// The calls of an agent made with `--approvals hold` stay open until a person has decided, within a bound.

// Less than the time after which a call of the modern era ends in any case.
const holdMs = 40_000
const mib = 1024 * 1024
const lineOf = (n: number) => ({ ...line, content: `${n}\n` })

let appends: Appends
let kit: Kit
let gateway: Gateway
let token: string
let approve: Appends['approve']
let memory: MemoryBudget
const reopen = async (limits: Partial<GatewayLimits>) => {
  await gateway.close(0)
  gateway = await appends.open(limits)
}
beforeEach(async () => {
  memory = new MemoryBudget({ heldBytesMax: 256 * mib, heldBytesPerAgentMax: 64 * mib })
  const settings = { 'approvals.ttl': 30 * 86_400_000, 'approvals.hold': holdMs }
  appends = await openAppends('hold', { memory, settings })
  ;({ kit, token, approve } = appends)
  gateway = await appends.open()
})
afterEach(async () => {
  await gateway.close(0)
  await kit[Symbol.asyncDispose]()
})

const never = () => ({ signal: new AbortController().signal })
const turn = () => new Promise((resolve) => setTimeout(resolve, 2))
const pending = async () => {
  const filter = { status: 'pending', limit: 100, offset: 0 } as const
  const { approvals } = await kit.storage.approvals.list(filter)
  return approvals.map(({ id }) => id)
}
/** The ids of requests that wait for a person, once there are so many. */
const asked = async (count = 1): Promise<string[]> => {
  for (;;) {
    const ids = await pending()
    if (ids.length >= count) return ids
    await turn()
  }
}
const statusOf = async (id: string) => (await kit.storage.approvals.find(id))?.status
/** Lets time go by until something is so. */
const elapse = async (isSo: () => boolean | Promise<boolean>) => {
  while (!(await isSo())) {
    kit.clock.move(5_000)
    await turn()
  }
}
const answered = async <T>(call: Promise<T>): Promise<T> => {
  let done = false
  const mark = () => {
    done = true
  }
  call.then(mark, mark)
  await elapse(() => done)
  return call
}
/** The next identical call asks a person again. */
const expectNewCall = async (id: string) =>
  expect(await kit.pending('alpha', 'filesystem.append', line)).not.toBe(id)
const expectOnce = async (id: string) => {
  const next = await kit.invoke('alpha', 'filesystem.append', line)
  expect(next).toMatchObject({ kind: 'succeeded', data: { size_bytes: 4 } })
  await expectNewCall(id)
  expect(appends.content()).toBe('one\n')
}

test.each(speakers)(
  '%s: a call that was approved in time returns the result',
  async (_n, speak) => {
    await using speaker = await speak(gateway, token)
    const call = speaker.call('filesystem.append', line)
    const [id = ''] = await asked()
    await approve(id)
    expect((await call).data).toMatchObject({ size_bytes: 4 })
    await expectNewCall(id)
  },
)

test.each(speakers)('%s: a call that was rejected returns the reason', async (_n, speak) => {
  await using speaker = await speak(gateway, token)
  const call = speaker.call('filesystem.append', line)
  const [id = ''] = await asked()
  await kit.decide(id, 'reject', { reason: 'Not today' })
  const text = JSON.stringify(await call)
  expect(text).toContain('ApprovalRejected')
  expect(text).toContain('Not today')
  await expectNewCall(id)
})

test.each(speakers)('%s: at the bound the answer is that it is pending', async (_n, speak) => {
  await using speaker = await speak(gateway, token)
  const startMs = kit.clock.now()
  const answer = await answered(speaker.call('filesystem.append', line))
  expect(kit.clock.now() - startMs).toBeGreaterThanOrEqual(holdMs)
  const id = String(answer.pending)
  expect(await pending()).toEqual([id])
  await approve(id)
  await using later = await speak(gateway, token)
  expect((await later.call('approvals.wait', { approval_id: id })).data).toMatchObject({
    status: 'approved',
    result: { success: true, data: { size_bytes: 4 } },
  })
  await expectNewCall(id)
})

test.each(speakers)(
  '%s: when the service stops the answer is that it is pending',
  async (_n, speak) => {
    await using speaker = await speak(gateway, token)
    const call = speaker.call('filesystem.append', line)
    const [id = ''] = await asked()
    const closing = gateway.close(3_600_000)
    expect(await call).toEqual({ pending: id })
    expect(await statusOf(id)).toBe('pending')
    await closing
  },
)

const leavers = [
  [
    'JSON-RPC',
    async () => {
      const leave = new AbortController()
      const params = { capability: 'filesystem.append', arguments: line }
      rpcRequest(gateway, token, 'capabilities.invoke', params, leave.signal).catch(() => {})
      return () => leave.abort()
    },
  ],
  [
    'MCP over WebSocket',
    async () => {
      const peer = await openPeer(gateway, token)
      void peer.call('filesystem__append', line)
      return () => peer.ws.terminate()
    },
  ],
  [
    'MCP over Streamable HTTP',
    async () => {
      const { post } = await openHttpSession(gateway, token)
      const leave = new AbortController()
      const params = { name: 'filesystem__append', arguments: line }
      post({ id: 1, method: 'tools/call', params }, leave.signal).catch(() => {})
      return () => leave.abort()
    },
  ],
] as const

test.each(leavers)(
  '%s: a caller that has gone withdraws nothing and gets nothing',
  async (_n, ask) => {
    const leave = await ask()
    const [id = ''] = await asked()
    const connections = gateway.connections()
    leave()
    await until(() => gateway.connections() < connections)
    expect(await statusOf(id)).toBe('pending')
    await approve(id)
    await expectOnce(id)
  },
)

test('the modern era has no other word for a cancellation than leaving', async () => {
  await using speaker = await speakers[3][1](gateway, token)
  const leave = new AbortController()
  const call = speaker.call('filesystem.append', line, leave.signal).catch(() => 'left')
  const [id = ''] = await asked()
  leave.abort()
  expect(await call).toBe('left')
  await expect.poll(() => statusOf(id)).toBe('cancelled')
})

test('a cancelled call withdraws its request', async () => {
  const peer = await openPeer(gateway, token)
  const params = { name: 'filesystem__append', arguments: line }
  peer.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params })
  const [id = ''] = await asked()
  peer.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } })
  await expect.poll(() => statusOf(id)).toBe('cancelled')
  peer.ws.close()
})

const invocation = (n: number, args: object) => ({
  jsonrpc: '2.0',
  id: n,
  method: 'capabilities.invoke',
  params: { capability: 'filesystem.append', arguments: args },
})
const post = (body: unknown) =>
  fetch(`${gateway.url}/rpc`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })

test('the calls of a batch wait one behind the other and are answered in order', async () => {
  const batch = post([invocation(1, lineOf(1)), invocation(2, lineOf(2))])
  for (const count of [1, 2]) {
    const [id = ''] = await asked()
    expect(await pending(), String(count)).toEqual([id])
    await approve(id)
  }
  expect(await (await batch).json()).toMatchObject([
    { id: 1, result: { data: { size_bytes: 2 } } },
    { id: 2, result: { data: { size_bytes: 4 } } },
  ])
})

test('a batch stays open for one bound in all', async () => {
  const batch = post([invocation(1, lineOf(1)), invocation(2, lineOf(2))])
  await elapse(async () => (await pending()).length === 2)
  const ids = await pending()
  expect(await (await batch).json()).toMatchObject([
    { id: 1, error: { code: -32002, data: { approval_id: ids[0] } } },
    { id: 2, error: { code: -32002, data: { approval_id: ids[1] } } },
  ])
})

test('a notification neither waits nor takes a result that nobody reads', async () => {
  const { id: _id, ...notification } = invocation(1, line)
  expect((await post(notification)).status).toBe(204)
  const [id = ''] = await asked()
  await approve(id)
  expect((await post(notification)).status).toBe(204)
  const { id: _none, ...get } = { ...invocation(1, {}), method: 'approvals.get' }
  expect((await post({ ...get, params: { approval_id: id } })).status).toBe(204)
  await expectOnce(id)
})

test('a result is not for a token that was replaced meanwhile', async () => {
  await reopen({ sweepEveryMs: 3_600_000 })
  await using speaker = await rpcSpeaker(gateway, token)
  const call = speaker.call('filesystem.append', line)
  const [id = ''] = await asked()
  await kit.authenticate(
    (await kit.app.rotateAgent(kit.operator(), { name: 'alpha', overlap_seconds: 0 })).token,
  )
  await approve(id)
  expect(await call).toEqual({ pending: id })
  await expectOnce(id)
})

test('the time a request may take to arrive does not end one that waits', async () => {
  await reopen({ headersTimeoutMs: 1_000, requestTimeoutMs: 2_000 })
  await using speaker = await rpcSpeaker(gateway, token)
  const call = speaker.call('filesystem.append', line)
  const [id = ''] = await asked()
  // The service looks at all connections at once; this one shows that it has looked.
  const slow = connect(Number(new URL(gateway.url).port), '127.0.0.1')
  slow.on('error', () => {}).resume()
  slow.write('POST /rpc HTTP/1.1\r\nHost: localhost\r\n')
  await new Promise((resolve) => slow.once('close', resolve))
  await approve(id)
  expect((await call).data).toMatchObject({ size_bytes: 4 })
})

test('64 held calls leave room for all others, and the next one is answered at once', async () => {
  const leaves = Array.from({ length: 64 }, () => new AbortController())
  const held = leaves.map(({ signal }, n) =>
    kit.invoke('alpha', 'filesystem.append', lineOf(n), { hold: new Hold(), signal }),
  )
  const ids = await asked(64)
  const plain = Array.from({ length: 64 }, () => kit.invoke('alpha', 'system.time'))
  for (const outcome of await Promise.all(plain)) expect(outcome.kind).toBe('succeeded')
  const wait = { approval_id: ids[0], timeout_seconds: 0 }
  expect((await kit.invoke('alpha', 'approvals.wait', wait)).kind).toBe('succeeded')
  const next = await kit.invoke('alpha', 'filesystem.append', lineOf(64), { hold: new Hold() })
  expect(next.kind).toBe('pending')
  for (const leave of leaves) leave.abort()
  for (const outcome of await Promise.all(held)) expect(outcome.kind).toBe('pending')
  const first = await kit.pending('alpha', 'filesystem.append', lineOf(0))
  const again = kit.invoke('alpha', 'filesystem.append', lineOf(0), { hold: new Hold() })
  await kit.decide(first, 'approve')
  expect(await again).toMatchObject({ kind: 'succeeded' })
})

test('a held call does not keep its WebSocket from being read', async () => {
  await reopen({ socketCallsMax: 1, sweepEveryMs: 3_600_000 })
  const peer = await openPeer(gateway, token)
  const call = peer.call('filesystem__append', line)
  const [id = ''] = await asked()
  expect((await peer.call('system__time')).result).toBeDefined()
  await approve(id)
  expect((await call).result?.['structuredContent']).toMatchObject({ size_bytes: 4 })
  peer.ws.close()
})

test('a held call takes no memory for its result while it waits', async () => {
  const call = kit.invoke('alpha', 'filesystem.append', line, { hold: new Hold() })
  const [id = ''] = await asked()
  await expect.poll(() => memory.used).toBe(0)
  await approve(id)
  expect(await call).toMatchObject({ kind: 'succeeded', data: { size_bytes: 4 } })
  expect(memory.used).toBe(0)
})

test('an outcome that finds no memory is not lost: the call is answered as pending', async () => {
  const call = kit.invoke('alpha', 'filesystem.append', line, { hold: new Hold() })
  const [id = ''] = await asked()
  const other = memory.hold('alpha', 0)
  const rooms = [await other.room(64 * mib, never), await other.room(8 * mib, never)]
  await kit.decide(id, 'reject', { reason: 'Not today' })
  expect(await answered(call)).toMatchObject({ kind: 'pending', pending: { approval_id: id } })
  for (const room of rooms) room[Symbol.dispose]()
  const outcome = kit.app.getApprovalOutcome(kit.op('alpha'), { approval_id: id })
  expect(await outcome).toMatchObject({ status: 'rejected' })
})

test('a session does not end as idle while a call in it waits for a person', async () => {
  const settings = { 'approvals.ttl': 30 * 86_400_000, 'approvals.hold': 6 * 3_600_000 }
  const patient = await openAppends('hold', { settings })
  await using own = patient.kit
  const door = await patient.open()
  const { session, post } = await openHttpSession(door, patient.token)
  const idle = await openHttpSession(door, patient.token)
  const params = { name: 'filesystem__append', arguments: line }
  const call = post({ id: 1, method: 'tools/call', params })
  const filter = { status: 'pending', limit: 1, offset: 0 } as const
  const next = async () => (await own.storage.approvals.list(filter)).approvals[0]?.id
  while ((await next()) === undefined) await turn()
  const ended = async (id: string) => (await own.storage.sessions.find(id))?.ended_ms !== null
  while (!(await ended(idle.session))) {
    own.clock.move(60_000)
    await turn()
  }
  expect(await ended(session)).toBe(false)
  await patient.approve(String(await next()))
  const done = { result: { structuredContent: { size_bytes: 4 } } }
  expect(await (await call).json()).toMatchObject(done)
  expect((await post({ id: 2, method: 'ping' })).status).toBe(200)
  await door.close(0)
})
