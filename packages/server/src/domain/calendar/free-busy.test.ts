import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Busy, freeIn, mergeBusy } from './free-busy.ts'

const range = { from_ms: 0, to_ms: 100 }

const someBusy: fc.Arbitrary<Busy[]> = fc.array(
  fc
    .record({
      from_ms: fc.integer({ min: -20, max: 120 }),
      length: fc.integer({ min: 0, max: 40 }),
      tentative: fc.boolean(),
    })
    .map(({ from_ms, length, tentative }) => ({ from_ms, to_ms: from_ms + length, tentative })),
  { maxLength: 12 },
)

/** Busy state of each moment, counted one by one. */
const naive = (all: readonly Busy[], at: number): string => {
  const there = all.filter(({ from_ms, to_ms }) => from_ms <= at && at < to_ms)
  return there.length === 0 ? 'free' : there.every((one) => one.tentative) ? 'tentative' : 'busy'
}

test('what is merged says the same of each moment, in pieces that neither touch nor overlap', () => {
  fc.assert(
    fc.property(someBusy, (all) => {
      const merged = mergeBusy(all, range)
      const free = freeIn(merged, range, 1)
      for (let at = range.from_ms; at < range.to_ms; at += 1) {
        const expected = naive(all, at)
        expect(naive(merged, at)).toBe(expected)
        expect(free.some(({ from_ms, to_ms }) => from_ms <= at && at < to_ms)).toBe(
          expected === 'free',
        )
      }
      for (const [at, one] of merged.entries()) {
        const next = merged[at + 1]
        expect(one.from_ms).toBeLessThan(one.to_ms)
        if (next) expect(one.to_ms).toBeLessThanOrEqual(next.from_ms)
        if (next?.tentative === one.tentative) expect(one.to_ms).toBeLessThan(next?.from_ms ?? 0)
      }
    }),
  )
})

test('short gaps are no free time', () => {
  const busy = [
    { from_ms: 10, to_ms: 20, tentative: false },
    { from_ms: 25, to_ms: 50, tentative: false },
  ]
  expect(freeIn(busy, range, 10)).toEqual([
    { from_ms: 0, to_ms: 10 },
    { from_ms: 50, to_ms: 100 },
  ])
})
