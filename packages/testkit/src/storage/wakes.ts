import type { StoredWake } from '@gatehouse/server/ports/wakes'
import { describe, expect, test } from 'vitest'
import type { Open } from './opened.ts'
import { awkwardText, newYear } from './samples.ts'

const wakeOf = (id: string, over: Partial<StoredWake> = {}): StoredWake => ({
  id,
  agent: 'mailbot',
  reason: null,
  data_json: null,
  count: 1,
  woken_ms: newYear,
  told_ms: null,
  seen_ms: null,
  ...over,
})

export const wakeMusts = (open: Open): void => {
  describe('wakes', () => {
    test('are stored, replaced by id, and survive', async () => {
      await using opened = await open()
      await opened.storage.wakes.put(wakeOf('wake-1'))
      const merged = wakeOf('wake-1', { count: 3, reason: awkwardText, data_json: awkwardText })
      await opened.storage.wakes.put(merged)
      const { wakes } = await opened.reopen()
      expect(await wakes.listOpen(9)).toEqual([merged])
      expect(await wakes.listOf('mailbot', newYear, 9)).toEqual([merged])
      expect(await wakes.listOf('other', 0, 9)).toEqual([])
    })

    test('are open until they are seen, once, and go when old', async () => {
      await using opened = await open()
      const { wakes } = opened.storage
      for (const n of [2, 1, 3]) await wakes.put(wakeOf(`wake-${n}`, { woken_ms: newYear + n }))
      const idsOf = (all: readonly StoredWake[]) => all.map(({ id }) => id)
      expect(idsOf(await wakes.listOpen(2))).toEqual(['wake-1', 'wake-2'])
      await wakes.seen(['wake-1', 'wake-2'], newYear + 10)
      await wakes.seen(['wake-2'], newYear + 20)
      expect(idsOf(await wakes.listOpen(9))).toEqual(['wake-3'])
      const all = await wakes.listOf('mailbot', 0, 9)
      expect(all.map((wake) => wake.seen_ms)).toEqual([newYear + 10, newYear + 10, null])
      expect(idsOf(await wakes.listOf('mailbot', newYear + 2, 9))).toEqual(['wake-2', 'wake-3'])
      expect(idsOf(await wakes.listOf('mailbot', 0, 2))).toEqual(['wake-2', 'wake-3'])
      await wakes.prune(newYear + 3)
      expect(idsOf(await wakes.listOf('mailbot', 0, 9))).toEqual(['wake-3'])
    })
  })
}
