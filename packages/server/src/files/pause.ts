import { setImmediate } from 'node:timers/promises'

export const pause = (): Promise<void> => setImmediate()

const sliceMs = 4

/** Counts time: when `isDue`, the work has held the loop long enough and lets others go first. */
export class Slice {
  #since = performance.now()

  isDue(): boolean {
    return performance.now() - this.#since > sliceMs
  }

  async rest(): Promise<void> {
    await pause()
    this.#since = performance.now()
  }
}
