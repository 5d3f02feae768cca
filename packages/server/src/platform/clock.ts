import type { Clock } from '../ports/clock.ts'

/**
 * The service clock: it starts at the later of wall time and what was last persisted, and from there
 * follows the monotonic clock, so a change of the wall clock moves no limit and no expiry.
 */
export const createClock = (persistedMs: number): Clock => {
  const startMs = Math.max(Date.now(), persistedMs)
  const origin = performance.now()
  return {
    wall: () => Date.now(),
    now: () => Math.floor(startMs + performance.now() - origin),
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve()
        const end = () => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', end)
          resolve()
        }
        const timer = setTimeout(end, Math.min(ms, 2 ** 31 - 1))
        timer.unref()
        signal?.addEventListener('abort', end, { once: true })
      }),
    after(ms, callback) {
      const timer = setTimeout(callback, ms)
      timer.unref()
      return { [Symbol.dispose]: () => clearTimeout(timer) }
    },
  }
}
