import { setTimeout as sleep } from 'node:timers/promises'
import { isBusy } from './adapter.ts'

/** Runs a change, where it has to wait for one of another process again and again. */
export type Patience = <T>(change: () => T) => T | Promise<T>

const waitMs = 10_000
const pauseMsMax = 16

/** For a file that nobody else has open. */
export const impatient: Patience = (change) => change()

/** Never in SQLite's own way, which is to block this thread and everybody's calls with it. */
export const patient: Patience = async (change) => {
  const endMs = performance.now() + waitMs
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, pauseMsMax)) {
    try {
      return change()
    } catch (error) {
      if (!isBusy(error) || performance.now() > endMs) throw error
    }
    await sleep(pauseMs)
  }
}
