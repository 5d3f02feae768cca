import type { Kit } from '@gatehouse/testkit'
import { until } from '@gatehouse/testkit/until'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Gateway } from '../../src/transport/gateway/open-gateway.ts'
import { type Appends, line, openAppends } from '../kit/appends.ts'
import { openHttpSession, openPeer, rpcRequest, rpcSpeaker, speakers } from '../kit/speakers.ts'

// The outcome of an approved call reaches its agent in many ways. Whichever was first, the next identical
// call is a new call: a person is asked again, and no old success stands for what was not done.

let kit: Kit
let gateway: Gateway
let token: string
let approve: Appends['approve']
let content: Appends['content']
beforeEach(async () => {
  const appends = await openAppends('pending')
  ;({ kit, token, approve, content } = appends)
  gateway = await appends.open()
})
afterEach(async () => {
  await gateway.close(0)
  await kit[Symbol.asyncDispose]()
})

const ask = () => kit.pending('alpha', 'filesystem.append', line)
const decided = async () => {
  const id = await ask()
  await approve(id)
  return id
}
const appended = { result: { success: true, data: { size_bytes: 4 } } }

/** The next identical call, over plain JSON-RPC, waits for a person under an id of its own. */
const expectNewCall = async (id: string) => {
  await using rpc = await rpcSpeaker(gateway, token)
  const { pending } = await rpc.call('filesystem.append', line)
  expect(pending).toMatch(/^appr-/)
  expect(pending).not.toBe(id)
  expect(content()).toBe('one\n')
}

test.each(speakers)('a repeated call over %s hands it over once', async (_name, open) => {
  const id = await decided()
  await using speaker = await open(gateway, token)
  expect((await speaker.call('filesystem.append', line)).data).toMatchObject({ size_bytes: 4 })
  await expectNewCall(id)
})

test.each(
  speakers.flatMap(([name, open]) => [
    [name, 'approvals.get', open] as const,
    [name, 'approvals.wait', open] as const,
  ]),
)('%s: %s delivers it', async (_name, capability, open) => {
  const id = await decided()
  await using speaker = await open(gateway, token)
  const answer = await speaker.call(capability, { approval_id: id })
  expect(answer.data).toMatchObject(appended)
  await expectNewCall(id)
  expect((await speaker.call(capability, { approval_id: id })).data).toMatchObject(appended)
})

test.each(['approvals.get', 'approvals.wait'])('the method %s delivers it', async (method) => {
  const id = await decided()
  const { result } = await rpcRequest(gateway, token, method, { approval_id: id })
  expect(result).toMatchObject(appended)
  await expectNewCall(id)
})

test('a wait that was open when a person decided delivers it', async () => {
  const id = await ask()
  const waiting = rpcRequest(gateway, token, 'approvals.wait', { approval_id: id })
  await approve(id)
  expect((await waiting).result).toMatchObject(appended)
  await expectNewCall(id)
})

test('events.poll delivers it', async () => {
  const id = await decided()
  const { result } = await rpcRequest(gateway, token, 'events.poll', {})
  expect(result?.['events']).toMatchObject([{ type: 'approval.resolved', data: appended }])
  await expectNewCall(id)
})

test('a rejection is delivered too: the next identical call asks again', async () => {
  const id = await ask()
  await kit.decide(id, 'reject', { reason: 'Not today' })
  const { result } = await rpcRequest(gateway, token, 'approvals.get', { approval_id: id })
  expect(result).toMatchObject({ result: { error: { type: 'ApprovalRejected' } } })
  await using rpc = await rpcSpeaker(gateway, token)
  expect((await rpc.call('filesystem.append', line)).pending).not.toBe(id)
})

test('a push over WebSocket delivers it, also when the next call comes at once', async () => {
  const peer = await openPeer(gateway, token)
  const id = await ask()
  await kit.decide(id, 'approve')
  const pushed = await peer.notified('notifications/approvals/resolved')
  expect(pushed.params).toMatchObject({
    approval_id: id,
    result: { structuredContent: { size_bytes: 4 } },
  })
  const next = await peer.call('filesystem__append', line)
  expect(next.result?.['structuredContent']).toMatchObject({ status: 'pending_approval' })
  await expectNewCall(id)
  peer.ws.close()
})

test('a push on the stream of a session over Streamable HTTP delivers it', async () => {
  const { session } = await openHttpSession(gateway, token)
  const leave = new AbortController()
  const stream = await fetch(`${gateway.url}/mcp`, {
    headers: {
      Authorization: `Bearer ${token}`,
      Accept: 'text/event-stream',
      'Mcp-Session-Id': session,
    },
    signal: leave.signal,
  })
  const id = await decided()
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of stream.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    if (text.includes('approvals/resolved')) break
  }
  expect(text).toContain(id)
  await expectNewCall(id)
  leave.abort()
})

test('what was pushed to nobody waits for the repeated call', async () => {
  const peer = await openPeer(gateway, token)
  peer.ws.terminate()
  await until(() => gateway.connections() === 0)
  await decided()
  await using rpc = await rpcSpeaker(gateway, token)
  expect((await rpc.call('filesystem.append', line)).data).toMatchObject({ size_bytes: 4 })
})
