import type { StoredWake, WakeStore } from '../../ports/wakes.ts'
import { type Access, compareText } from './state.ts'

export const memoryWakes = ({ state, write }: Access): WakeStore => {
  const where = (keep: (wake: StoredWake) => boolean) =>
    [...state().wakes.values()]
      .filter(keep)
      .toSorted((a, b) => a.woken_ms - b.woken_ms || compareText(a.id, b.id))
  return {
    put: (wake) =>
      write(({ wakes }) => {
        wakes.set(wake.id, { ...wake })
      }),
    listOpen: async (limit) => where((wake) => wake.seen_ms === null).slice(0, limit),
    listOf: async (agent, sinceMs, limit) =>
      where((wake) => wake.agent === agent && wake.woken_ms >= sinceMs).slice(-limit),
    seen: (ids, seen_ms) =>
      write(({ wakes }) => {
        for (const id of ids) {
          const wake = wakes.get(id)
          if (wake?.seen_ms === null) wakes.set(id, { ...wake, seen_ms })
        }
      }),
    prune: (beforeMs) =>
      write(({ wakes }) => {
        for (const [id, wake] of wakes) if (wake.woken_ms < beforeMs) wakes.delete(id)
      }),
  }
}
