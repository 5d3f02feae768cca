import { createKit, type Kit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'

const policy = `version: 1
rules:
  - { match: filesystem.delete, tier: approval_required }
  - { match: filesystem.copy, tier: blocked }
  - { match: "*", tier: autonomous }
limits:
  - { match: filesystem.stat, limit: 1, window: 1m }
`

const digits = '0123456789abcdefghjkmnpqrstvwxyz'

/** Ids with the moment of the kit's clock, as those of the service have it of the wall clock. */
const timedIds = () => {
  let count = 0
  const clock = { wall: () => 0 }
  const next = (prefix: string): string => {
    let time = ''
    for (let rest = clock.wall(); time.length < 10; rest = Math.floor(rest / 32))
      time = digits[rest % 32] + time
    count += 1
    return `${prefix}-${time}${String(count).padStart(16, '0')}`
  }
  return { clock, ids: { next, secret: () => Buffer.alloc(32, (count += 1)) } }
}

const figuresOf = async (kit: Kit, input: object = {}) => {
  const outcome = await kit.app.getFigures(kit.operator(), input)
  if (outcome.kind === 'refused') throw new Error(outcome.detail)
  return outcome.figures
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0)

/** Sums of the last 24 hours: calls, failed, denied, held, limited. */
const sums = async (kit: Kit, input: object = {}) => {
  const figures = await figuresOf(kit, input)
  return [figures.calls, figures.failed, figures.denied, figures.held, figures.limited].map(sum)
}

test('each call of an agent counts once, by how it ended', async () => {
  await using kit = await createKit({ policy })
  await kit.agent('mailbot')
  await kit.agent('other')
  const call = (name: string, args: object = {}) => kit.invoke('mailbot', name, args)
  const seen = async () => {
    kit.clock.move(1)
    return sums(kit, { agent: 'mailbot' })
  }
  expect(await seen()).toEqual([0, 0, 0, 0, 0])
  await call('filesystem.write', { path: 'a', content: 'x' })
  expect(await seen()).toEqual([1, 0, 0, 0, 0])
  await call('filesystem.read', { path: 'missing' })
  await call('filesystem.read', { wrong: 1 })
  await call('nothing.such')
  expect(await seen()).toEqual([4, 3, 0, 0, 0])
  await call('filesystem.copy', { from: 'a', to: 'b' })
  expect(await seen()).toEqual([5, 3, 1, 0, 0])
  for (let i = 0; i < 3; i += 1) await call('filesystem.stat', { path: 'a' })
  expect(await seen()).toEqual([8, 3, 1, 0, 2])
  await kit.invoke('other', 'filesystem.list', { path: '.' })
  expect(await seen()).toEqual([8, 3, 1, 0, 2])
  expect(await sums(kit)).toEqual([9, 3, 1, 0, 2])
})

test('a call that waits for a person counts when it is made, and its run only where it fails', async () => {
  await using kit = await createKit({ policy })
  await kit.agent('mailbot')
  const write = (path: string) => kit.invoke('mailbot', 'filesystem.write', { path, content: 'x' })
  const seen = async () => {
    kit.clock.move(1)
    return sums(kit)
  }
  await write('a')
  const ran = await kit.pending('mailbot', 'filesystem.delete', { path: 'a' })
  expect(await seen()).toEqual([2, 0, 0, 1, 0])
  await kit.pending('mailbot', 'filesystem.delete', { path: 'a' })
  expect(await seen()).toEqual([3, 0, 0, 2, 0])
  await kit.decide(ran, 'approve')
  await kit.resolved('mailbot', ran)
  await kit.invoke('mailbot', 'filesystem.delete', { path: 'a' })
  expect(await seen()).toEqual([3, 0, 0, 2, 0])
  await write('b')
  const refused = await kit.pending('mailbot', 'filesystem.delete', { path: 'b' })
  await kit.decide(refused, 'reject')
  await kit.invoke('mailbot', 'filesystem.delete', { path: 'b' })
  expect(await seen()).toEqual([5, 0, 0, 3, 0])
  const remember = { ttl_seconds: 600, match: 'same_capability' } as const
  await kit.decide(await kit.pending('mailbot', 'filesystem.delete', { path: 'b' }), 'approve', {
    remember,
  })
  await kit.invoke('mailbot', 'filesystem.delete', { path: 'missing' })
  expect(await seen()).toEqual([7, 1, 0, 4, 0])
})

test('the wait for a person is from request to decision, and no expiry is one', async () => {
  const { clock, ids } = timedIds()
  await using kit = await createKit({ policy, ids, settings: { 'approvals.ttl': 7_200_000 } })
  clock.wall = () => kit.clock.wall()
  await kit.agent('mailbot')
  const ask = async (path: string) => {
    await kit.invoke('mailbot', 'filesystem.write', { path, content: 'x' })
    return kit.pending('mailbot', 'filesystem.delete', { path })
  }
  for (const [path, waitMs] of [
    ['a', 60],
    ['b', 100],
    ['c', 3_600_000],
  ] as const) {
    const id = await ask(path)
    kit.clock.move(waitMs)
    await kit.decide(id, 'reject')
  }
  const expired = await ask('d')
  kit.clock.move(7_200_000)
  await kit.app.decideApproval(kit.operator(), { approval_id: expired, decision: 'approve' })
  kit.clock.move(1)
  const { approval_wait_p50_ms } = await figuresOf(kit, { step: 86_400 })
  expect(approval_wait_p50_ms).toEqual([100])
  const byHour = await figuresOf(kit, { step: 3_600 })
  const waits = byHour.approval_wait_p50_ms.filter((ms) => ms !== null)
  expect(waits).toHaveLength(2)
  expect(Math.abs((waits[1] ?? 0) - 3_600_000)).toBeLessThan(36_000)
})
