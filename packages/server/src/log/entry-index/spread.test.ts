import fc from 'fast-check'
import { expect, test } from 'vitest'
import { percentile } from './percentile.ts'
import { Spread } from './spread.ts'

const values = fc.oneof(fc.nat(127), fc.nat(10_000), fc.nat(2 ** 32 - 1))

test('its percentiles are exact below 128, and less than 1 % off above', () => {
  const many = fc.array(values, { minLength: 1, maxLength: 200 })
  fc.assert(
    fc.property(many, fc.constantFrom(0, 0.01, 0.5, 0.95, 1), (given, share) => {
      const spread = new Spread()
      for (const value of given) spread.add(value)
      const exact = percentile(
        given.toSorted((a, b) => a - b),
        share,
      )
      const off = Math.abs(spread.percentile(share) - exact)
      expect(off).toBeLessThanOrEqual(exact < 128 ? 0 : exact / 100)
    }),
    { numRuns: 1_000 },
  )
})

test('takes the largest and the least, and fractions to the nearest millisecond', () => {
  const of = (value: number): number => {
    const spread = new Spread()
    spread.add(value)
    return spread.percentile(0.5)
  }
  expect([of(-5), of(0), of(1.4), of(1.5), of(127.4)]).toEqual([0, 0, 1, 2, 127])
  expect(of(1e12)).toBeGreaterThan(4.25e9)
})
