import { setTimeout as sleep } from 'node:timers/promises'
import { isBusy } from './adapter.ts'

/** Runs a change, where it has to wait for one of another process again and again. */
export type Patience = <T>(change: () => T) => T | Promise<T>

/** Of its own pauses: what this process itself was late is no time that another one took. */
const waitMs = 10_000
const pauseMsMax = 16

/** For a file that nobody else has open. */
export const impatient: Patience = (change) => change()

/** Never in SQLite's own way, which is to block this thread and everybody's calls with it. */
export const patient: Patience = async (change) => {
  let waitedMs = 0
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, pauseMsMax)) {
    try {
      return change()
    } catch (error) {
      if (!isBusy(error) || waitedMs > waitMs) throw error
    }
    await sleep(pauseMs)
    waitedMs += pauseMs
  }
}
