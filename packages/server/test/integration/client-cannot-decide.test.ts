import type { Kit } from '@gatehouse/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Gateway } from '../../src/transport/gateway/open-gateway.ts'
import { type Appends, line, openAppends } from '../kit/appends.ts'
import { declares, type ModernAnswer, ModernPeer } from '../kit/modern-peer.ts'

// The client acts for the agent. Whatever it says, only people decide, and another agent's requests do not exist.

const tool = 'filesystem__append'
const everything = { ...declares.tasks, ...declares.urls }

let appends: Appends
let kit: Kit
let gateway: Gateway
let foreign: string
beforeEach(async () => {
  appends = await openAppends('pending')
  kit = appends.kit
  foreign = await kit.agent('beta')
  gateway = await appends.open({}, { page: () => 'https://gate.example/' })
})
afterEach(async () => {
  await gateway.close(0)
  await kit[Symbol.asyncDispose]()
})

const peer = (capabilities: object = declares.urls, token = appends.token) =>
  new ModernPeer(gateway, token, capabilities)
const task = (method: string, params: Record<string, unknown>, token = appends.token) =>
  peer(declares.tasks, token).request(`tasks/${method}`, params)

/** A held call of `alpha`: the id of its approval, and what its client was given to carry. */
const asked = async () => {
  const { result } = await peer().call(tool, line)
  const { requestState } = result as { requestState: string }
  return { state: requestState, id: requestState.split('.')[0] ?? '' }
}
const declined = { inputResponses: { decide: { action: 'decline' } } }
/** Comes back with a state; does not wait for a decision. */
const returned = (requestState: unknown, args: object = line, token = appends.token) =>
  peer(declares.urls, token).call(tool, args, { requestState, ...declined })

const expectUndecided = async (id: string) => {
  expect(await kit.storage.approvals.find(id)).toMatchObject({
    status: 'pending',
    execution: 'waiting',
    decided_by: null,
  })
  expect(appends.content()).toBe('')
}
const isPending = (id: string, { result }: ModernAnswer) =>
  expect(result).toMatchObject({
    structuredContent: { status: 'pending_approval', approval_id: id },
  })

test.each([
  ['accepts', { action: 'accept' }],
  ['accepts with an answer', { action: 'accept', content: { approve: true, decision: 'approve' } }],
  ['sends a decision', { decision: 'approve', digest: 'sha256:0' }],
])('a client that %s in the name of its person decides nothing', async (_name, response) => {
  const { id, state } = await asked()
  const call = peer().call(tool, line, {
    requestState: state,
    inputResponses: { decide: response, approve: response, [id]: response },
  })
  let done = false
  void call.finally(() => {
    done = true
  })
  while (!done) {
    kit.clock.move(1_000)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  isPending(id, await call)
  await expectUndecided(id)
})

test('answers without a state are another call of the same, and decide nothing', async () => {
  const { id } = await asked()
  const inputResponses = { decide: { action: 'accept' } }
  const { result } = await peer().call(tool, line, { inputResponses })
  expect(result).toMatchObject({ resultType: 'input_required' })
  await expectUndecided(id)
})

test('an update of its task is acknowledged, and decides nothing', async () => {
  const { id } = await asked()
  const inputResponses = { decide: { action: 'accept', content: { approve: true } } }
  const updated = await task('update', { taskId: id, inputResponses, status: 'completed' })
  expect(updated.result).toMatchObject({ resultType: 'complete' })
  expect((await task('get', { taskId: id })).result).toMatchObject({ status: 'working' })
  await expectUndecided(id)
})

test.each<[string, (state: string, id: string) => unknown]>([
  ['of another request', (state) => state.replace(/^appr-\w/, 'appr-z')],
  ['with a later end', (state) => state.replace(/\.\d+\./, '.99999999999999.')],
  ['with another seal', (state) => state.replace(/.$/, (end) => (end === '0' ? '1' : '0'))],
  ['without a seal', (state) => state.replace(/[^.]+$/, '')],
  ['that is an id alone', (_state, id) => id],
  ['with more parts', (state) => `${state}.0`],
  ['that is empty', () => ''],
  ['that is no text', () => ({ approved: true })],
])('a state %s is refused', async (_name, forge) => {
  const { id, state } = await asked()
  const { error, result } = await returned(forge(state, id))
  expect([error?.code, result]).toEqual([-32602, undefined])
  await expectUndecided(id)
})

test('a state is worth something for its own call alone', async () => {
  const { id, state } = await asked()
  expect((await returned(state, { ...line, content: 'two\n' })).error?.code).toBe(-32602)
  const other = await peer().call('filesystem__stat', line, { requestState: state, ...declined })
  expect(other.error?.code).toBe(-32602)
  await appends.approve(id)
  expect((await returned(state, { ...line, content: 'two\n' })).error?.code).toBe(-32602)
  isSuccess(await returned(state))
  expect(appends.content()).toBe('one\n')
})

const isSuccess = ({ result }: ModernAnswer) =>
  expect(result).toMatchObject({ structuredContent: { size_bytes: 4 } })

test('a state is worth nothing after an hour, and nothing to another agent', async () => {
  const { id, state } = await asked()
  expect((await returned(state, line, foreign)).error?.code).toBe(-32602)
  kit.clock.move(59 * 60_000)
  isPending(id, await returned(state))
  kit.clock.move(60_000)
  const late = await returned(state)
  expect(late.error?.code).toBe(-32602)
  expect(late.error?.message).toContain('repeat the call')
  await expectUndecided(id)
})

test('a state that comes back often runs the call once', async () => {
  const { id, state } = await asked()
  await appends.approve(id)
  for (let n = 0; n < 3; n++) isSuccess(await returned(state))
  expect(appends.content()).toBe('one\n')
})

test('a task of another agent does not exist', async () => {
  const { id } = await asked()
  for (const method of ['get', 'update', 'cancel']) {
    const { error } = await task(method, { taskId: id, inputResponses: {} }, foreign)
    expect(error?.code).toBe(-32602)
  }
  const stream = await peer(everything, foreign).listen({ taskIds: [id] })
  await stream.closed
  expect(stream.messages[0]?.params).toMatchObject({ notifications: {} })
  expect(stream.messages[1]).toMatchObject({ result: { resultType: 'complete' } })
  await expectUndecided(id)
})

test('a token that is no longer valid opens no task', async () => {
  const { id } = await asked()
  await kit.app.rotateAgent(kit.operator(), { name: 'alpha', overlap_seconds: 0 })
  const response = await peer(declares.tasks).send('tasks/get', { taskId: id })
  expect(response.status).toBe(401)
  await expectUndecided(id)
})

test('a token that is replaced while its call waits gets no result', async () => {
  const { id, state } = await asked()
  const inputResponses = { decide: { action: 'accept' } }
  const call = peer().call(tool, line, { requestState: state, inputResponses })
  await kit.app.rotateAgent(kit.operator(), { name: 'alpha', overlap_seconds: 0 })
  await appends.approve(id)
  kit.clock.move(5_000)
  expect(JSON.stringify(await call)).not.toContain('size_bytes')
})
