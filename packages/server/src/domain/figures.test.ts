import { expect, test } from 'vitest'
import { decideRange, type RangeAsked, relationsOf } from './figures.ts'

const now = Date.parse('2026-03-01T12:00:00.000Z')
const day = 86_400_000

test('a range is the last 24 hours, or what was asked for, in parts that suit it', () => {
  const rangeOf = (asked: RangeAsked) => {
    const range = decideRange(asked, now)
    return range.kind === 'range'
      ? [range.fromMs - now, range.toMs - now, range.stepSeconds]
      : range
  }
  expect(rangeOf({})).toEqual([-day, 0, 900])
  expect(rangeOf({ toMs: now - day })).toEqual([-2 * day, -day, 900])
  expect(rangeOf({ fromMs: now - 3_600_000 })).toEqual([-3_600_000, 0, 30])
  expect(rangeOf({ fromMs: now - 1 })).toEqual([-1, 0, 1])
  expect(rangeOf({ fromMs: now - 31 * day })).toEqual([-31 * day, 0, 21_600])
  expect(rangeOf({ fromMs: now - 500_000, stepSeconds: 1 })).toEqual([-500_000, 0, 1])
  const long = { stepSeconds: 31 * 86_400 }
  expect(rangeOf({ fromMs: now, toMs: now + day, ...long })).toEqual([0, day, 31 * 86_400])
})

test.each<[RangeAsked, string, string]>([
  [{ fromMs: now }, 'from', 'must be before now'],
  [{ fromMs: now - day, toMs: now - 2 * day }, 'from', 'must be before "to"'],
  [{ fromMs: now - 31 * day - 1 }, 'from', 'must be at most 31 days before the end'],
  [{ stepSeconds: 172 }, 'step', 'makes 503 parts of this range; at most 500, so 173 or more'],
  [
    { fromMs: now - 500_001, stepSeconds: 1 },
    'step',
    'makes 501 parts of this range; at most 500, so 2 or more',
  ],
])('the range %j is refused, with its field', (asked, field, detail) => {
  expect(decideRange(asked, now)).toEqual({ kind: 'refused', field, detail })
})

const sum = (agent: string, capability: string, calls: number, over: object = {}) => ({
  ...{ agent, capability, service: null, judged: true, calls, failed: 0, denied: 0, held: 0 },
  ...over,
})

test('most calls come first, 20 capabilities and agents and 200 edges', () => {
  const sums = Array.from({ length: 210 }, (_, i) =>
    sum(`agent-${i % 30}`, `group-${i}.act`, 1_000 - i),
  )
  const { by_capability, by_agent, edges } = relationsOf(sums)
  expect(by_capability.map(({ capability }) => capability)).toEqual(
    Array.from({ length: 20 }, (_, i) => `group-${i}.act`),
  )
  expect(by_agent).toHaveLength(20)
  expect(by_agent[0]).toEqual({ agent: 'agent-0', calls: 6_370, failed: 0, denied: 0, held: 0 })
  expect(edges).toHaveLength(200)
  expect(edges.at(-1)).toMatchObject({ agent: 'agent-19', group: 'group-199', calls: 801 })
})

test('an edge leads from an agent to a group, and to each service that it used there', () => {
  const { by_capability, edges } = relationsOf([
    sum('ana', 'email.send', 2, { service: 'work', held: 2, denied: 1 }),
    sum('ana', 'email.read', 3, { service: 'work', failed: 1 }),
    sum('ana', 'email.read', 1, { service: 'home' }),
    sum('ana', 'email.read', 1),
    sum('bot', 'email.read', 1, { service: 'work' }),
    // Only a run of an earlier call ended in the range, and failed.
    sum('cat', 'email.read', 0, { failed: 1 }),
  ])
  const email = { group: 'email', denied: 0, held: 0 }
  expect(edges).toEqual([
    { ...email, agent: 'ana', service: 'work', calls: 5, denied: 1, held: 2 },
    { ...email, agent: 'ana', service: 'home', calls: 1 },
    { ...email, agent: 'ana', service: null, calls: 1 },
    { ...email, agent: 'bot', service: 'work', calls: 1 },
  ])
  expect(by_capability).toEqual([
    { capability: 'email.read', calls: 6, failed: 2, denied: 0 },
    { capability: 'email.send', calls: 2, failed: 0, denied: 1 },
  ])
})

test('a name that policy was never asked about is no edge, and those without one count for their agent', () => {
  const { by_capability, by_agent, edges } = relationsOf([
    sum('ana', 'made.up', 9, { judged: false, failed: 9 }),
    sum('ana', '', 50, { judged: false, failed: 50 }),
    sum('ana', 'git.log', 1, { judged: false, failed: 1 }),
    sum('bot', 'git.log', 1),
  ])
  expect(by_capability.map(({ capability, calls }) => [capability, calls])).toEqual([
    ['made.up', 9],
    ['git.log', 2],
  ])
  expect(by_agent.map(({ agent, calls }) => [agent, calls])).toEqual([
    ['ana', 60],
    ['bot', 1],
  ])
  expect(edges.map(({ agent, group }) => [agent, group])).toEqual([
    ['ana', 'git'],
    ['bot', 'git'],
  ])
})
