import { expect, test } from 'vitest'
import { HandClock, silent } from '../../log/testing.ts'
import { untilStored } from './until-stored.ts'

const failed = { facts: { job_id: 'job-1' }, message: 'it could not be stored' }

/** A store that fails so many times, with what is said of it. */
const failing = (times: number) => {
  const clock = new HandClock()
  const stop = new AbortController()
  const said: object[] = []
  const log = {
    ...silent,
    error: (facts: object, message: string) => void said.push({ facts, message }),
  }
  let tries = 0
  const stored = untilStored(
    { clock, log, signal: stop.signal },
    async () => {
      tries += 1
      if (tries <= times) throw new Error('the disk is full')
    },
    failed,
  )
  return { clock, stop, said, stored, tries: () => tries }
}

test('tries each second until the store takes it, and says each time why it did not', async () => {
  const { clock, said, stored, tries } = failing(2)
  for (let second = 0; tries() < 3; second += 1) {
    expect(second).toBeLessThan(100)
    await new Promise((resolve) => setImmediate(resolve))
    clock.move(1_000)
  }
  expect(await stored).toBe(true)
  const facts = { err: new Error('the disk is full'), job_id: 'job-1' }
  expect(said).toEqual(Array.from({ length: 2 }, () => ({ facts, message: failed.message })))
})

test('gives up where the service stops, after one more try', async () => {
  const { stop, stored, tries } = failing(Number.POSITIVE_INFINITY)
  await new Promise((resolve) => setImmediate(resolve))
  stop.abort()
  expect(await stored).toBe(false)
  expect(tries()).toBe(2)
})
