import { expect, onTestFinished, test } from 'vitest'
import { HandClock, silent } from '../../log/testing.ts'
import { PollLoop } from './poll-loop.ts'

/** Turns enough for whatever does not wait for the clock. */
const nextTurns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
}

/** A loop of 100 ms that notes when it looks. */
const looking = (look: (count: number) => Promise<number | void> = async () => {}) => {
  const clock = new HandClock()
  const stop = new AbortController()
  const startMs = clock.now()
  const looks: number[] = []
  const said: string[] = []
  const log = { ...silent, error: (_facts: object, message: string) => void said.push(message) }
  const loop = new PollLoop(
    { clock, log, signal: stop.signal },
    {
      name: 'looking',
      everyMs: 100,
      look() {
        looks.push(clock.now() - startMs)
        return look(looks.length)
      },
    },
  )
  onTestFinished(async () => {
    stop.abort()
    await loop.stopped()
  })
  const move = async (ms: number): Promise<void> => {
    await nextTurns()
    for (let at = 0; at < ms; at += 50) {
      clock.move(50)
      await nextTurns()
    }
  }
  return { loop, looks, said, stop, move }
}

test('looks at once and then again and again, or waits first where told to', async () => {
  const now = looking()
  now.loop.start()
  await now.move(250)
  expect(now.looks).toEqual([0, 100, 200])
  const later = looking()
  later.loop.start('later')
  await later.move(250)
  expect(later.looks).toEqual([100, 200])
})

test('a look says how long to wait for the next', async () => {
  const { loop, looks, move } = looking(async (count) => (count === 1 ? 250 : undefined))
  loop.start()
  await move(400)
  expect(looks).toEqual([0, 250, 350])
})

test('a nudge brings the next look, also one that comes while a look is under way', async () => {
  const kit = looking(async (count) => {
    if (count === 2) kit.loop.nudge()
  })
  kit.loop.start()
  await kit.move(50)
  kit.loop.nudge()
  await kit.move(50)
  expect(kit.looks).toEqual([0, 50, 50])
})

test('what fails is said, tried ever later up to five seconds, and as often as usual once it works', async () => {
  const { loop, looks, said, move } = looking(async (count) => {
    if (count < 9) throw new Error('the store is away')
  })
  loop.start()
  await move(17_000)
  const waits = looks.slice(1).map((at, i) => at - (looks[i] ?? 0))
  expect(waits.slice(0, 9)).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 100])
  expect(said).toEqual(Array.from({ length: 8 }, () => 'looking failed'))
})

test('ends while it waits, without another look, and what ends with it is no failure', async () => {
  const kit = looking()
  kit.loop.start()
  await kit.move(50)
  kit.stop.abort()
  await kit.loop.stopped()
  expect(kit.looks).toEqual([0])
  const busy = looking(async () => {
    busy.stop.abort()
    throw new Error('stopped')
  })
  busy.loop.start()
  await busy.loop.stopped()
  expect(busy.said).toEqual([])
})

test('never looks where the service has stopped before it starts', async () => {
  const { loop, looks, stop } = looking()
  stop.abort()
  loop.start('later')
  await loop.stopped()
  expect(looks).toEqual([])
})
