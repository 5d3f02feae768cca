import type { GatehouseEvent } from '@gatehouse/contract'
import { createKit, type Kit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'

const hour = 3_600_000

const dataOf = async <T>(
  kit: Kit,
  agent: string,
  capability: string,
  args: object = {},
): Promise<T> => {
  const outcome = await kit.invoke(agent, capability, args)
  if (outcome.kind !== 'succeeded') throw new Error(JSON.stringify(outcome))
  return outcome.data as T
}

const errorOf = async (kit: Kit, agent: string, capability: string, args: object = {}) => {
  const outcome = await kit.invoke(agent, capability, args)
  return outcome.kind === 'failed' ? outcome.error.type : outcome.kind
}

type Received = {
  messages: { message_id: string; from: string; message: unknown }[]
  remaining: number
}
const receive = (kit: Kit, agent: string, args: object = {}) =>
  dataOf<Received>(kit, agent, 'comms.receive', args)
const textsOf = ({ messages }: Received) => messages.map(({ message }) => message)

const withAgents = async (...names: string[]): Promise<Kit> => {
  const kit = await createKit()
  for (const name of names) await kit.agent(name)
  return kit
}

test('a message waits until its agent receives it, and is received once', async () => {
  await using kit = await withAgents('alpha', 'beta')
  const sent = await dataOf<object>(kit, 'alpha', 'comms.send', {
    to: 'beta',
    message: { do: 'it' },
  })
  expect(sent).toEqual({ message_id: expect.stringMatching(/^msg-/), status: 'queued' })
  const looked = await receive(kit, 'beta', { acknowledge: false })
  expect(looked).toMatchObject({
    messages: [
      { ...sent, from: 'alpha', channel: null, priority: 'normal', message: { do: 'it' } },
    ].map(({ status: _, ...rest }: Record<string, unknown>) => rest),
    remaining: 1,
  })
  const both = await Promise.all([receive(kit, 'beta'), receive(kit, 'beta')])
  expect(both.flatMap(textsOf)).toEqual([{ do: 'it' }])
  expect(await receive(kit, 'alpha')).toEqual({ messages: [], remaining: 0 })
})

test('urgent ones come first, and an answer holds as many as asked for', async () => {
  await using kit = await withAgents('alpha', 'beta')
  for (const [message, priority] of [
    ['first', 'normal'],
    ['later', 'low'],
    ['second', 'normal'],
    ['now', 'high'],
  ])
    await dataOf(kit, 'alpha', 'comms.send', { to: 'beta', message, priority })
  const some = await receive(kit, 'beta', { limit: 2 })
  expect(textsOf(some)).toEqual(['now', 'first'])
  expect(some.remaining).toBe(2)
  expect(textsOf(await receive(kit, 'beta'))).toEqual(['second', 'later'])
})

test('a broadcast reaches the subscribers of its channel and nobody else', async () => {
  await using kit = await withAgents('alpha', 'beta', 'gamma', 'delta')
  const subscribe = (agent: string) =>
    dataOf<{ subscription_id: string }>(kit, agent, 'comms.subscribe', { channel: 'builds/main' })
  const { subscription_id } = await subscribe('beta')
  expect((await subscribe('beta')).subscription_id).toBe(subscription_id)
  await subscribe('gamma')
  await subscribe('alpha')
  const say = (message: string, filter: object) =>
    dataOf<object>(kit, 'alpha', 'comms.broadcast', { message, filter })
  const counts = { recipients: 2, queued: 2, full: 0 }
  expect(await say('green', { channel: 'builds/main' })).toMatchObject(counts)
  expect(await say('all', {})).toMatchObject({ recipients: 3, queued: 3 })
  expect(await say('you', { agents: ['delta', 'nobody'] })).toMatchObject({ recipients: 1 })
  expect(await say('none', { channel: 'silent' })).toEqual({
    message_id: null,
    recipients: 0,
    queued: 0,
    full: 0,
  })
  expect(textsOf(await receive(kit, 'beta', { channel: 'builds/main' }))).toEqual(['green'])
  expect(textsOf(await receive(kit, 'beta'))).toEqual(['all'])
  expect(textsOf(await receive(kit, 'delta'))).toEqual(['all', 'you'])
  expect(textsOf(await receive(kit, 'alpha'))).toEqual([])
  expect(await errorOf(kit, 'gamma', 'comms.unsubscribe', { subscription_id })).toBe(
    'SubscriptionNotFound',
  )
  await dataOf(kit, 'beta', 'comms.unsubscribe', { subscription_id })
  expect(await say('red', { channel: 'builds/main' })).toMatchObject({ recipients: 1 })
})

test('what is too large, or too much, is refused, and the sender is told', async () => {
  await using kit = await withAgents('alpha', 'beta', 'gamma')
  // Two quotation marks are the rest of 64 KiB.
  const largest = 'x'.repeat(65_534)
  expect(await errorOf(kit, 'alpha', 'comms.send', { to: 'beta', message: `${largest}x` })).toBe(
    'MessageTooLarge',
  )
  expect(await errorOf(kit, 'alpha', 'comms.send', { to: 'nobody', message: 'x' })).toBe(
    'AgentNotFound',
  )
  await dataOf(kit, 'alpha', 'comms.send', { to: 'beta', message: largest })
  const send = () => dataOf(kit, 'alpha', 'comms.send', { to: 'beta', message: 'small' })
  // 999 of them, several at once, and never more in a minute than the limit lets pass.
  for (let batch = 0; batch < 37; batch += 1) {
    if (batch % 18 === 17) kit.clock.move(60_000)
    await Promise.all(Array.from({ length: 27 }, send))
  }
  kit.clock.move(60_000)
  expect(await errorOf(kit, 'alpha', 'comms.send', { to: 'beta', message: 'x' })).toBe(
    'MailboxFull',
  )
  expect(await dataOf(kit, 'alpha', 'comms.broadcast', { message: 'x' })).toMatchObject({
    queued: 1,
    full: 1,
  })
  await receive(kit, 'beta', { limit: 1 })
  expect(await errorOf(kit, 'alpha', 'comms.send', { to: 'beta', message: 'x' })).toBe('succeeded')
})

test('a large backlog comes in answers of bounded size, and none of it is lost', async () => {
  await using kit = await withAgents('alpha', 'beta')
  for (let n = 0; n < 40; n += 1)
    await dataOf(kit, 'alpha', 'comms.send', { to: 'beta', message: 'y'.repeat(60_000) })
  const first = await receive(kit, 'beta', { limit: 100 })
  expect(first.messages.length).toBe(17)
  expect(first.remaining).toBe(23)
  const rest = [
    await receive(kit, 'beta', { limit: 100 }),
    await receive(kit, 'beta', { limit: 100 }),
  ]
  expect(rest.map(({ messages }) => messages.length)).toEqual([17, 6])
})

test('messages expire, and a revoked agent gets none', async () => {
  await using kit = await withAgents('alpha', 'beta')
  await dataOf(kit, 'alpha', 'comms.send', { to: 'beta', message: 'soon gone', ttl_seconds: 3600 })
  await dataOf(kit, 'alpha', 'comms.send', { to: 'beta', message: 'stays' })
  kit.clock.move(hour)
  expect(textsOf(await receive(kit, 'beta'))).toEqual(['stays'])
  await kit.app.revokeAgent(kit.operator(), { name: 'beta' })
  expect(await errorOf(kit, 'alpha', 'comms.send', { to: 'beta', message: 'x' })).toBe(
    'AgentStateConflict',
  )
  expect(await dataOf(kit, 'alpha', 'comms.broadcast', { message: 'x' })).toMatchObject({
    recipients: 0,
  })
})

test('connections of the agent are told at once', async () => {
  await using kit = await withAgents('alpha', 'beta')
  const told: GatehouseEvent[] = []
  using _listening = kit.app.subscribeEvents('beta', (event) => told.push(event) > 0)
  await dataOf(kit, 'alpha', 'comms.send', { to: 'beta', message: 'small' })
  await dataOf(kit, 'alpha', 'comms.send', { to: 'beta', message: 'z'.repeat(2_000) })
  expect(told.map(({ type, data }) => [type, data['from'], data['message']])).toEqual([
    ['message.received', 'alpha', 'small'],
    ['message.received', 'alpha', undefined],
  ])
})

test('a briefing tells what changed since the last one', async () => {
  await using kit = await createKit({
    policy: 'version: 1\nrules:\n  - { match: system.info, tier: approval_required }\n',
  })
  await kit.agent('alpha')
  await kit.agent('beta')
  const brief = (args: object = {}) =>
    dataOf<Record<string, never>>(kit, 'beta', 'agent.briefing', args)
  expect(await brief()).toMatchObject({
    approvals: { decided: [], pending: 0 },
    wakes: [],
    shared_keys: [],
  })
  const since = new Date(kit.clock.wall()).toISOString()
  kit.clock.move(hour)
  const approval_id = await kit.pending('beta', 'system.info', {})
  await kit.decide(approval_id, 'reject', { reason: 'not today' })
  await dataOf(kit, 'alpha', 'comms.send', { to: 'beta', message: 'hello' })
  await kit.app.savePolicy(kit.operator(), { text: 'version: 1\nrules: []\n' })
  kit.clock.move(1)
  const news = await brief()
  expect(news).toMatchObject({
    since,
    approvals: { decided: [{ approval_id, status: 'rejected', reason: 'not today' }], pending: 0 },
    messages: { waiting: 1, from: ['alpha'] },
    policy: { changed: true },
  })
  kit.clock.move(1)
  expect(await brief()).toMatchObject({
    approvals: { decided: [] },
    messages: { waiting: 1 },
    policy: { changed: false },
  })
  expect(await brief({ since })).toMatchObject({ since, approvals: { decided: [{ approval_id }] } })
})
