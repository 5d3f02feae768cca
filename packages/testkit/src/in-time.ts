import { expect } from 'vitest'

type Clocked = { readonly clock: { move(ms: number): void } }

/** Outcome of the work, with the time of these services going on in steps, one each `everyMs`, until it has ended. */
export const inTime = async <T>(
  kits: Clocked | readonly Clocked[],
  work: Promise<T>,
  stepMs: number,
  everyMs = 25,
): Promise<T> => {
  let isOver = false
  const end = (): void => {
    isOver = true
  }
  work.then(end, end)
  const isDone = () => {
    if (!isOver) for (const { clock } of [kits].flat()) clock.move(stepMs)
    return isOver
  }
  await expect.poll(isDone, { interval: everyMs }).toBe(true)
  return work
}
