import { expect, test } from 'vitest'
import { createIds } from './ids.ts'

test('ids sort in the order in which they were made, within a millisecond and when the clock is set back', () => {
  let nowMs = 1_800_000_000_000
  const ids = createIds(() => nowMs)
  const made: string[] = []
  const make = (count: number) => {
    for (let at = 0; at < count; at += 1) made.push(ids.next('evt'))
  }
  make(40_000)
  nowMs += 1
  make(10)
  nowMs -= 3_600_000
  make(10)
  nowMs += 7_200_000
  make(10)
  expect(made.toSorted()).toEqual(made)
  expect(new Set(made).size).toBe(made.length)
  for (const id of [made[0], made.at(-1)]) expect(id).toMatch(/^evt-[0-9a-hjkmnp-tv-z]{26}$/)
})

test('what follows the number is random', () => {
  const ids = createIds(() => 1_800_000_000_000)
  const tails = Array.from({ length: 1_000 }, () => ids.next('evt').slice(-13))
  expect(new Set(tails).size).toBe(1_000)
})
