import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type LimitKey, type LimitStamp, SlidingWindows } from './sliding-window.ts'

/** The definition, word for word, over a plain list. */
class NaiveWindows {
  readonly stamps: LimitStamp[] = []

  inWindow(key: LimitKey, nowMs: number): number[] {
    return this.stamps
      .filter((s) => s.key === key.key && s.at_ms > nowMs - key.window_ms && s.at_ms <= nowMs)
      .map((s) => s.at_ms)
  }

  allows(keys: readonly LimitKey[], nowMs: number): boolean {
    return keys.every((key) => this.inWindow(key, nowMs).length < key.limit)
  }

  /** Tries every later millisecond. */
  wait(key: LimitKey, nowMs: number): number {
    let at = nowMs
    while (this.inWindow(key, at).length >= key.limit) at++
    return at - nowMs
  }

  count(keys: readonly LimitKey[], nowMs: number): void {
    for (const [key, window_ms] of new Map(keys.map((k) => [k.key, k.window_ms])))
      this.stamps.push({ key, at_ms: nowMs, window_ms })
  }
}

const windows = { a: 7, b: 20, c: 50 }
const limitKey = fc.record({
  name: fc.constantFrom<keyof typeof windows>('a', 'b', 'c'),
  limit: fc.integer({ min: 1, max: 5 }),
})
const toKey = ({ name, limit }: { name: keyof typeof windows; limit: number }): LimitKey => ({
  key: `agent\u0000${name}`,
  limit,
  window_ms: windows[name],
})
const calls = fc.array(
  fc.record({ keys: fc.array(limitKey, { minLength: 1, maxLength: 3 }), step: fc.nat(15) }),
  { maxLength: 120 },
)

describe('sliding windows', () => {
  test('decide, wait and count exactly as the definition says', () => {
    fc.assert(
      fc.property(calls, (steps) => {
        const exact = new SlidingWindows()
        const naive = new NaiveWindows()
        let now = 1_000
        for (const { keys: raw, step } of steps) {
          now += step
          const keys = raw.map(toKey)
          const verdict = exact.take(keys, now)
          expect(verdict.kind).toBe(naive.allows(keys, now) ? 'allowed' : 'limited')
          if (verdict.kind === 'allowed') naive.count(keys, now)
          else {
            expect(verdict.retry_after_ms).toBe(Math.max(...keys.map((k) => naive.wait(k, now))))
            expect(verdict.retry_after_ms).toBe(naive.wait(verdict.key, now))
          }
          for (const key of keys) expect(exact.used(key, now)).toBe(naive.inWindow(key, now).length)
        }
      }),
      { numRuns: 500 },
    )
  })

  test('never let more than the limit into any window, even when the clock jumps', () => {
    const jumps = fc.array(fc.integer({ min: -40, max: 40 }), { maxLength: 200 })
    fc.assert(
      fc.property(jumps, fc.integer({ min: 1, max: 4 }), (steps, limit) => {
        const key: LimitKey = { key: 'k', limit, window_ms: 20 }
        const exact = new SlidingWindows()
        const taken: number[] = []
        let now = 10_000
        for (const step of steps) {
          now += step
          const verdict = exact.take([key], now)
          if (verdict.kind === 'allowed') taken.push(...verdict.stamps.map((s) => s.at_ms))
        }
        for (const end of taken) {
          const inWindow = taken.filter((at) => at > end - key.window_ms && at <= end)
          expect(inWindow.length).toBeLessThanOrEqual(limit)
        }
      }),
      { numRuns: 500 },
    )
  })

  test('a call at the end of the wait passes and one a millisecond earlier does not', () => {
    const key: LimitKey = { key: 'k', limit: 2, window_ms: 1_000 }
    const exact = new SlidingWindows()
    exact.take([key], 0)
    exact.take([key], 300)
    expect(exact.take([key], 400)).toEqual({ kind: 'limited', key, retry_after_ms: 600 })
    expect(exact.take([key], 999).kind).toBe('limited')
    expect(exact.take([key], 1_000).kind).toBe('allowed')
  })

  test('a refused call counts under none of its keys', () => {
    const tight: LimitKey = { key: 'tight', limit: 1, window_ms: 100 }
    const wide: LimitKey = { key: 'wide', limit: 10, window_ms: 100 }
    const exact = new SlidingWindows()
    exact.take([tight, wide], 0)
    expect(exact.take([wide, tight], 1).kind).toBe('limited')
    expect(exact.used(wide, 1)).toBe(1)
  })

  test('restored uses count like those taken here', () => {
    const key: LimitKey = { key: 'k', limit: 3, window_ms: 100 }
    const exact = new SlidingWindows()
    for (const at_ms of [10, 20, 30]) exact.restore({ key: 'k', at_ms, window_ms: 100 })
    expect(exact.take([key], 40)).toEqual({ kind: 'limited', key, retry_after_ms: 70 })
    expect(exact.used(key, 110)).toBe(2)
  })

  test('idle keys are forgotten while others are used', () => {
    const exact = new SlidingWindows()
    for (let i = 0; i < 1_000; i++) exact.take([{ key: `k${i}`, limit: 5, window_ms: 10 }], i)
    for (let i = 0; i < 2_000; i++)
      exact.take([{ key: 'busy', limit: 5, window_ms: 10 }], 5_000 + i * 10)
    expect(exact.size).toBe(1)
  })

  test('a key at the largest limit stays cheap and keeps only its window', () => {
    const key: LimitKey = { key: 'k', limit: 100_000, window_ms: 100_000 }
    const exact = new SlidingWindows()
    let allowed = 0
    for (let now = 0; now < 300_000; now++) if (exact.take([key], now).kind === 'allowed') allowed++
    expect(allowed).toBe(300_000)
    expect(exact.used(key, 300_000)).toBe(99_999)
  })
})
