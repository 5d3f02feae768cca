import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonical } from '../audit/canonical.ts'
import { type Accepted, acceptTools, compareTools, type PinRules, type Seen } from './pins.ts'

const rules: PinRules = {
  group: 'up',
  hash: (definition) => createHash('sha256').update(canonical(definition)).digest('hex'),
  problemOf: ({ broken }) => (broken === true ? 'it is broken' : null),
}

const none: Accepted = { server: null, tools: [] }
const tool = (name: string, description = `Does ${name}.`) => ({ name, description })
const seenOf = (...tools: readonly { name: string }[]): Seen => ({
  server: 'server',
  version: '1',
  protocol: '2025-11-25',
  tools,
})

const acceptAll = (accepted: Accepted, seen: Seen): Accepted => {
  const compared = compareTools(rules, accepted, seen)
  return acceptTools(compared, seen, new Set(compared.map(({ tool: name }) => name)))
}

const statesOf = (accepted: Accepted, seen: Seen | null) =>
  compareTools(rules, accepted, seen).map(({ tool: name, state }) => `${name} ${state}`)

describe('a definition is pinned', () => {
  test('by everything that was said of it', () => {
    const accepted = acceptAll(none, seenOf(tool('a'), tool('b')))
    expect(statesOf(accepted, seenOf(tool('a'), tool('b')))).toEqual(['a offered', 'b offered'])
    expect(statesOf(accepted, seenOf(tool('a', 'other'), tool('b')))).toEqual([
      'a changed',
      'b offered',
    ])
    expect(statesOf(accepted, seenOf(tool('b'), tool('a')))).toEqual(['b offered', 'a offered'])
    expect(statesOf(accepted, seenOf(tool('b')))).toEqual(['b offered', 'a vanished'])
  })

  test('and stays so while the server was not asked', () => {
    const accepted = acceptAll(none, seenOf(tool('a')))
    expect(statesOf(accepted, null)).toEqual(['a offered'])
    expect(statesOf(none, null)).toEqual([])
  })

  test('and a new name tells what it stands for', () => {
    const accepted = acceptAll(none, seenOf(tool('a', 'x'), tool('b', 'y')))
    const compared = compareTools(rules, accepted, seenOf(tool('c', 'x'), tool('d', 'z')))
    expect(compared.map(({ tool: name, renamed_from }) => [name, renamed_from])).toEqual([
      ['c', 'a'],
      ['d', 'b'],
      ['a', null],
      ['b', null],
    ])
  })

  test('a broken one is refused whoever accepts it', () => {
    const seen = seenOf({ ...tool('a'), broken: true } as never)
    expect(acceptAll(none, seen).tools).toEqual([])
  })

  test('those that nobody chose stay as they were', () => {
    const accepted = acceptAll(none, seenOf(tool('a'), tool('b')))
    const seen = seenOf(tool('a', 'other'), tool('c'))
    const next = acceptTools(compareTools(rules, accepted, seen), seen, new Set(['c']))
    expect(next.tools.map(({ definition }) => definition)).toEqual([
      tool('a'),
      tool('c'),
      tool('b'),
    ])
  })

  const definition = fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'd', 'a b', '…'),
    description: fc.constantFrom('x', 'y', 'z'),
  })
  const listing = fc.uniqueArray(definition, { selector: ({ name }) => name, maxLength: 6 })

  test('nothing is offered but what was accepted word for word', () => {
    const property = fc.property(listing, listing, fc.boolean(), (first, second, renames) => {
      const accepted = acceptAll(none, seenOf(...first))
      const seen = { ...seenOf(...second), server: renames ? 'other' : 'server' }
      for (const one of compareTools(rules, accepted, seen)) {
        if (one.state !== 'offered') continue
        expect(renames).toBe(false)
        expect(first).toContainEqual(one.found)
        expect(one.capability).not.toBe(null)
      }
    })
    fc.assert(property, { numRuns: 500 })
  })

  test('accepting everything leaves nothing to accept', () => {
    const property = fc.property(listing, listing, (first, second) => {
      const accepted = acceptAll(acceptAll(none, seenOf(...first)), seenOf(...second))
      const states = compareTools(rules, accepted, seenOf(...second)).map(({ state }) => state)
      expect(states.filter((state) => state !== 'offered' && state !== 'refused')).toEqual([])
    })
    fc.assert(property, { numRuns: 500 })
  })
})
