import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonical } from '../audit/canonical.ts'
import {
  type Accepted,
  acceptTools,
  compareTools,
  declineTools,
  type PinRules,
  type Seen,
} from './pins.ts'

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
  return acceptTools(accepted, compared, seen, new Set(compared.map(({ tool: name }) => name)))
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
    const next = acceptTools(accepted, compareTools(rules, accepted, seen), seen, new Set(['c']))
    expect(next.tools.map(({ definition }) => definition)).toEqual([
      tool('a'),
      tool('c'),
      tool('b'),
    ])
  })

  test('those that nobody chose under another identity wait until they are chosen as well', () => {
    const accepted = acceptAll(none, seenOf(tool('a'), tool('b')))
    const seen = { ...seenOf(tool('a'), tool('b')), server: 'other' }
    const some = acceptTools(accepted, compareTools(rules, accepted, seen), seen, new Set(['a']))
    expect(statesOf(some, seen)).toEqual(['a offered', 'b changed'])
    expect(compareTools(rules, some, seen)[1]?.problem).toContain(
      'before the server became another',
    )
    expect(statesOf(acceptAll(some, seen), seen)).toEqual(['a offered', 'b offered'])
  })

  describe('and one that was declined', () => {
    const decline = (accepted: Accepted, seen: Seen, ...names: readonly string[]) =>
      declineTools(rules, accepted, seen, new Set(names))
    const before = acceptAll(none, seenOf(tool('a'), tool('b')))
    const seen = seenOf(tool('a', 'other'), tool('b'), tool('c'))
    const after = decline(before, seen, 'a', 'c')

    test('asks nobody again while it stays so', () => {
      expect(statesOf(after, seen)).toEqual(['a declined', 'b offered', 'c declined'])
    })

    test('waits again as soon as it is something else, and is offered as it was accepted once', () => {
      const third = seenOf(tool('a', 'third'), tool('b'), tool('c', 'third'))
      expect(statesOf(after, third)).toEqual(['a changed', 'b offered', 'c new'])
      expect(statesOf(after, seenOf(tool('a'), tool('b')))).toEqual(['a offered', 'b offered'])
    })

    test('waits again where another server shows the same', () => {
      const other = { ...seen, server: 'other' }
      expect(statesOf(after, other)).toEqual(['a changed', 'b changed', 'c new'])
    })

    test('stays out where others are accepted, also under the identity that it was declined under', () => {
      const other = { ...seenOf(tool('a'), tool('b')), server: 'other' }
      const declined = decline(before, other, 'a')
      const compared = compareTools(rules, declined, other)
      const next = acceptTools(declined, compared, other, new Set(['b']))
      expect(statesOf(next, other)).toEqual(['a declined', 'b offered'])
    })

    test('is offered once it was accepted, and nothing is left of the refusal', () => {
      const next = acceptAll(after, seen)
      expect(statesOf(next, seen)).toEqual(['a offered', 'b offered', 'c offered'])
      expect(next.declined).toBeUndefined()
    })
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
