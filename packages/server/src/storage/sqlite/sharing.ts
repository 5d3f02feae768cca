import { setTimeout as sleep } from 'node:timers/promises'
import type { ChangedKind } from '../../ports/storage.ts'
import { isBusy } from './adapter.ts'

/** Other processes of this machine that have the same file open. */
export type Sharing = {
  /** Whether one of them has opened it before, and upgraded it; that one closes it last. */
  readonly joins: boolean
  /** Tells the others that rows of a kind are others now. */
  tell(kind: ChangedKind): void
  onForeignChange(kind: ChangedKind, listener: () => void): Disposable
}

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
