import { expect, test } from 'vitest'
import { KeptEvents } from './kept-events.ts'

/** Events by their number. */
const scene = () => {
  const kept = new KeptEvents()
  let ids = 0
  return {
    publish: (agent: string, n: number, text = '') =>
      kept.add({
        id: `evt-${String(++ids).padStart(6, '0')}`,
        type: 'approval.resolved',
        agent,
        timestamp: '2026-01-01T00:00:00.000Z',
        data: { n, text },
      }),
    polled: (agent: string) => kept.after(agent, undefined).map(({ data }) => data['n']),
  }
}

test('the newest 500 events of an agent are kept', () => {
  const { publish, polled } = scene()
  for (let n = 1; n <= 502; n++) publish('alpha', n)
  const kept = polled('alpha')
  expect([kept.length, kept[0], kept.at(-1)]).toEqual([500, 3, 502])
})

test('large events are kept up to a bound, the newest one whatever its size', () => {
  const { publish, polled } = scene()
  const large = 'x'.repeat(500_000)
  publish('beta', 1)
  for (let n = 1; n <= 100; n++) publish('alpha', n, large)
  const kept = polled('alpha')
  expect(kept.length).toBeGreaterThan(1)
  expect(kept.length).toBeLessThan(10)
  expect(kept.at(-1)).toBe(100)
  expect(polled('beta')).toEqual([1])
  publish('alpha', 101, 'x'.repeat(9_000_000))
  expect(polled('alpha')).toEqual([101])
})

test('large events of many agents are kept up to a bound in all, of the latest agents', () => {
  const { publish, polled } = scene()
  const agents = Array.from({ length: 40 }, (_, i) => `agent-${i}`)
  for (const [n, agent] of agents.entries()) publish(agent, n, 'x'.repeat(1_000_000))
  const kept = agents.flatMap(polled)
  expect(kept.length).toBeGreaterThan(1)
  expect(kept.length).toBeLessThan(20)
  expect(kept.at(-1)).toBe(39)
})

test('of events without facts the newest of each type is kept', () => {
  const kept = new KeptEvents()
  const add = (id: string, type: string, data = {}) =>
    kept.add({ id, type, agent: 'alpha', timestamp: '2026-01-01T00:00:00.000Z', data })
  const after = (id?: string) => kept.after('alpha', id).map((event) => event.id)
  add('evt-1', 'tools.changed')
  add('evt-2', 'wake', { reason: 'mail' })
  add('evt-3', 'wake', { reason: 'mail' })
  add('evt-4', 'prompts.changed')
  for (let n = 5; n <= 9; n += 1) add(`evt-${n}`, 'tools.changed')
  expect(after()).toEqual(['evt-2', 'evt-3', 'evt-4', 'evt-9'])
  expect(after('evt-5')).toEqual(['evt-9'])
})
