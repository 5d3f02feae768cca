import { GatehouseError } from '@gatehouse/contract'
import { expect, test } from 'vitest'
import { limitKey } from '../domain/limit-key.ts'
import type { LimitKey } from '../domain/sliding-window.ts'
import { type Envelope, GateLink } from './gate-link.ts'

/** Three ends, of which the first passes on what the others say. */
const three = () => {
  const deliver = (envelope: Envelope): void => {
    for (const link of links)
      if (link.index === envelope.to || (envelope.to === 'others' && link.index !== envelope.from))
        link.receive(structuredClone(envelope))
  }
  const links: GateLink[] = [0, 1, 2].map(
    (index) =>
      new GateLink({
        index,
        count: 3,
        send: (envelope) => queueMicrotask(() => deliver(envelope)),
      }),
  )
  return links as [GateLink, GateLink, GateLink]
}

const key: LimitKey = limitKey('ada', 'state.list', { limit: 1, window_ms: 1_000 })

test('news reach all others, and nobody twice', async () => {
  const [a, b, c] = three()
  const heard: string[] = []
  for (const link of [a, b, c])
    link.onNews('changed', ({ kinds }) => heard.push(`${link.index}: ${kinds.join()}`))
  using _other = b.onNews('vault unlocked', () => heard.push('locked'))
  b.tell({ kind: 'changed', kinds: ['agents'] })
  await Promise.resolve()
  expect(heard).toEqual(['0: agents', '2: agents'])
})

test('a question is answered, or fails as it did there', async () => {
  const [a, b, c] = three()
  c.answer('used', async ({ limit }) => limit + 41)
  expect(await b.ask(2, 'used', key)).toBe(42)
  b.answer('used', async () => {
    throw new GatehouseError('RateLimited', { limit: 3, window: '1h', match: '*' })
  })
  await expect(a.ask(1, 'used', key)).rejects.toMatchObject({
    type: 'RateLimited',
    facts: { limit: 3 },
  })
  b.answer('used', async () => {
    throw new Error('of ours')
  })
  await expect(c.ask(1, 'used', key)).rejects.toMatchObject({ type: 'StorageUnavailable' })
  await expect(a.ask(1, 'facts', null)).rejects.toThrow('gate process 2 is starting')
})

test('who waits for one that ended hears of it', async () => {
  const link = new GateLink({ index: 0, count: 3, send: () => {} })
  const asked = [link.ask(1, 'used', key), link.ask(2, 'used', key)]
  link.lost(1)
  await expect(asked[0]).rejects.toThrow('gate process 2 ended')
  link.lost(2)
  await expect(asked[1]).rejects.toThrow('gate process 3 ended')
})

test('work that is followed tells of itself, and ends where whoever asked leaves', async () => {
  const [a, b] = three()
  const input = { upstream: 'notes', agent: 'ada', uri: 'notes://1' }
  const ended: unknown[] = []
  a.answer('watch resource', async ({ uri }, { signal, tell }) => {
    tell('watching')
    tell('changed')
    if (uri === input.uri) await new Promise((resolve) => signal.addEventListener('abort', resolve))
    ended.push(uri)
    tell('changed')
    return null
  })
  const told: string[] = []
  const leaving = new AbortController()
  const following = { signal: leaving.signal, told: (what: string) => void told.push(what) }
  const answered = b.ask(0, 'watch resource', { ...input, uri: 'short' }, following)
  expect(await answered).toBe(null)
  expect(told.splice(0)).toEqual(['watching', 'changed', 'changed'])

  const followed = b.ask(0, 'watch resource', input, following)
  await expect.poll(() => told).toEqual(['watching', 'changed'])
  leaving.abort(new Error('no more'))
  await expect(followed).rejects.toThrow('no more')
  await expect.poll(() => ended).toEqual(['short', input.uri])
  await expect(b.ask(0, 'watch resource', input, following)).rejects.toThrow('no more')
  // Nothing is told to who has left.
  expect(told).toEqual(['watching', 'changed'])

  // Of one that is gone, too.
  const open = new AbortController().signal
  const lost = b.ask(0, 'watch resource', input, { signal: open, told: () => {} })
  lost.catch(() => {})
  await new Promise((resolve) => setImmediate(resolve))
  a.lost(1)
  await expect.poll(() => ended).toHaveLength(3)
})

test('homes are the same everywhere, and spread', () => {
  const [a, b] = three()
  const names = Array.from({ length: 3_000 }, (_, at) => `agent-${at}`)
  const homes = names.map((name) => a.homeOf(name))
  expect(names.map((name) => b.homeOf(name))).toEqual(homes)
  for (const index of [0, 1, 2])
    expect(homes.filter((home) => home === index).length).toBeGreaterThan(800)
})
