import { GatehouseError } from '@gatehouse/contract'
import type { ScheduleStore } from '../../ports/schedules.ts'
import { type Access, compareText } from './state.ts'

export const memorySchedules = ({ state, write }: Access): ScheduleStore => ({
  insert: (schedule) =>
    write(({ schedules }) => {
      if (schedules.has(schedule.id))
        throw new GatehouseError('Conflict', { detail: `schedule ${schedule.id} is there` })
      schedules.set(schedule.id, { ...schedule })
    }),

  find: async (id) => state().schedules.get(id) ?? null,

  replace: (current, { status, next_ms, ended_ms }) =>
    write(({ schedules }) => {
      const stored = schedules.get(current.id)
      if (stored?.status !== current.status || stored.next_ms !== current.next_ms) return false
      schedules.set(stored.id, { ...stored, status, next_ms, ended_ms })
      return true
    }),

  async list({ agent, status, limit, offset }) {
    const found = [...state().schedules.values()]
      .filter((s) => (agent ?? s.agent) === s.agent && (status ?? s.status) === s.status)
      .toSorted((a, b) => b.created_ms - a.created_ms || compareText(b.id, a.id))
    return { schedules: found.slice(offset, offset + limit), total: found.length }
  },

  prune: (endedBeforeMs) =>
    write(({ schedules }) => {
      for (const [id, { ended_ms }] of schedules)
        if (ended_ms !== null && ended_ms < endedBeforeMs) schedules.delete(id)
    }),
})
