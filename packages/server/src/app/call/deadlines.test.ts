import { HandClock } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import { Deadlines } from './deadlines.ts'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

test('each call is told at its own deadline, and one that ended is not told', async () => {
  const clock = new HandClock()
  const deadlines = new Deadlines(clock)
  const late: string[] = []
  deadlines.start(1_000, () => late.push('a'))
  clock.move(400)
  const ended = deadlines.start(1_000, () => late.push('ended'))
  deadlines.start(1_000, () => late.push('b'))
  deadlines.start(100, () => late.push('short'))
  ended[Symbol.dispose]()
  clock.move(100)
  await nextTurn()
  expect(late).toEqual(['short'])
  clock.move(500)
  await nextTurn()
  expect(late).toEqual(['short', 'a'])
  clock.move(399)
  await nextTurn()
  expect(late).toEqual(['short', 'a'])
  clock.move(1)
  await nextTurn()
  expect(late).toEqual(['short', 'a', 'b'])
})

test('a length that had no call for a while works again', async () => {
  const clock = new HandClock()
  const deadlines = new Deadlines(clock)
  let late = 0
  deadlines.start(1_000, () => (late += 1))[Symbol.dispose]()
  clock.move(5_000)
  await nextTurn()
  deadlines.start(1_000, () => (late += 1))
  clock.move(1_000)
  await nextTurn()
  expect(late).toBe(1)
})
