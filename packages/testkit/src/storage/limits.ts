import type { LimitKey, RateLimits } from '@gatehouse/server/ports/limits'
import { describe, expect, test } from 'vitest'
import type { Open } from './opened.ts'
import { groupOf, newYear } from './samples.ts'

const keyOf = (limit: number, window_ms = 1_000, pattern = 'filesystem.*'): LimitKey => ({
  key: `mailbot\u0000${pattern}\u0000${window_ms}`,
  limit,
  window_ms,
})

const allowed = async (limits: RateLimits, keys: readonly LimitKey[], at: number) =>
  (await limits.take(keys, newYear + at)).kind === 'allowed'

export const limitMusts = (open: Open): void => {
  describe('rate limits', () => {
    test('let exactly the limit through in any window, and say exactly when the next one passes', async () => {
      await using opened = await open()
      const { limits } = opened.storage
      const key = keyOf(3)
      for (const at of [0, 400, 400]) expect(await allowed(limits, [key], at)).toBe(true)
      expect(await limits.take([key], newYear + 401)).toEqual({
        kind: 'limited',
        key,
        retry_after_ms: 599,
      })
      expect(await limits.used(key, newYear + 999)).toBe(3)
      expect(await allowed(limits, [key], 999)).toBe(false)
      expect(await allowed(limits, [key], 1_000)).toBe(true)
      expect(await limits.used(key, newYear + 1_000)).toBe(3)
      expect(await allowed(limits, [key], 1_399)).toBe(false)
      expect(await allowed(limits, [key], 1_400)).toBe(true)
      expect(await limits.used(key, newYear + 5_000)).toBe(0)
      expect(await limits.used(keyOf(1, 1, 'unused'), newYear)).toBe(0)
    })

    test('return what was counted', async () => {
      await using opened = await open()
      const [a, b] = [keyOf(3), keyOf(3, 9_000)]
      expect(await opened.storage.limits.take([a, b], newYear)).toEqual({
        kind: 'allowed',
        stamps: [a, b].map(({ key, window_ms }) => ({ key, window_ms, at_ms: newYear })),
      })
      expect(await opened.storage.limits.take([], newYear)).toEqual({ kind: 'allowed', stamps: [] })
    })

    test('count under all keys or none, and name the longest wait', async () => {
      await using opened = await open()
      const { limits } = opened.storage
      const [wide, tight, slow] = [keyOf(10), keyOf(1, 500), keyOf(1, 5_000)]
      expect(await allowed(limits, [wide, tight, slow], 0)).toBe(true)
      expect(await limits.take([tight, wide, slow], newYear + 100)).toEqual({
        kind: 'limited',
        key: slow,
        retry_after_ms: 4_900,
      })
      expect(await limits.used(wide, newYear + 100)).toBe(1)
      expect(await allowed(limits, [tight, wide, slow], 5_000)).toBe(true)
    })

    test('hold for two limits of one key, and count one use once', async () => {
      await using opened = await open()
      const { limits } = opened.storage
      const [loose, strict] = [keyOf(5), keyOf(2)]
      expect(await allowed(limits, [loose, strict], 0)).toBe(true)
      expect(await limits.used(loose, newYear)).toBe(1)
      expect(await allowed(limits, [loose, strict], 1)).toBe(true)
      expect(await limits.take([loose, strict], newYear + 2)).toMatchObject({ key: strict })
      expect(await allowed(limits, [loose], 2)).toBe(true)
    })

    test('hold for many at once', async () => {
      await using opened = await open()
      const key = keyOf(10)
      const taken = await Promise.all(
        Array.from({ length: 60 }, (_, i) => allowed(opened.storage.limits, [key], i)),
      )
      expect(taken.filter(Boolean)).toHaveLength(10)
    })

    test('never let more than the limit into a window when clocks differ', async () => {
      await using opened = await open()
      const key = keyOf(2, 100)
      const at: number[] = []
      for (const now of [500, 460, 500, 420, 590, 610, 540, 700, 650]) {
        const verdict = await opened.storage.limits.take([key], newYear + now)
        if (verdict.kind === 'allowed') at.push(...verdict.stamps.map(({ at_ms }) => at_ms))
      }
      for (const end of at)
        expect(at.filter((t) => t > end - 100 && t <= end).length).toBeLessThanOrEqual(2)
      expect(at.length).toBeGreaterThanOrEqual(4)
    })

    test('hold for windows that are long past, however many uses there were', async () => {
      await using opened = await open()
      const { storage } = opened
      const key = keyOf(2, 10)
      for (let n = 0; n < 300; n++) {
        const verdict = await storage.limits.take([key], newYear + n * 10)
        if (verdict.kind === 'allowed')
          await storage.record(groupOf([], { stamps: verdict.stamps, clockMs: newYear + n * 10 }))
      }
      expect(await storage.limits.used(key, newYear + 2_990)).toBe(1)
      expect(await allowed(storage.limits, [key], 2_991)).toBe(true)
      expect(await allowed(storage.limits, [key], 2_992)).toBe(false)
    })

    test('survive a restart', async () => {
      await using opened = await open()
      const { storage } = opened
      const [short, long] = [keyOf(3, 1_000), keyOf(3, 60_000)]
      for (const at of [0, 100, 200]) {
        const verdict = await storage.limits.take([short, long], newYear + at)
        if (verdict.kind !== 'allowed') throw new Error('The limit was reached too early.')
        await storage.record(groupOf([], { stamps: verdict.stamps, clockMs: newYear + at }))
      }
      const { limits } = await opened.reopen()
      expect(await limits.take([short], newYear + 300)).toEqual({
        kind: 'limited',
        key: short,
        retry_after_ms: 700,
      })
      expect(await allowed(limits, [short], 1_000)).toBe(true)
      expect(await limits.used(long, newYear + 1_000)).toBe(3)
      expect(await allowed(limits, [long], 59_999)).toBe(false)
    })
  })
}
