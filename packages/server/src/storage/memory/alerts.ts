import { GatehouseError } from '@gatehouse/contract'
import type { AlertStore, StoredAlert } from '../../ports/alerts.ts'
import { type Access, compareText } from './state.ts'

const newestFirst = (a: StoredAlert, b: StoredAlert): number =>
  b.created_ms - a.created_ms || compareText(b.id, a.id)

export const memoryAlerts = ({ state, write }: Access): AlertStore => {
  const all = () => [...state().alerts.values()]
  const isOpen = (alert: StoredAlert) => alert.status === 'open'
  return {
    insert: (alert) =>
      write(({ alerts }) => {
        const twin = [...alerts.values()].some(
          (other) => isOpen(other) && isOpen(alert) && other.dedup_key === alert.dedup_key,
        )
        if (twin || alerts.has(alert.id))
          throw new GatehouseError('Conflict', { detail: `alert ${alert.id} is there` })
        alerts.set(alert.id, { ...alert })
      }),

    find: async (id) => state().alerts.get(id) ?? null,

    findOpen: async (dedupKey) =>
      all().find((alert) => isOpen(alert) && alert.dedup_key === dedupKey) ?? null,

    replace: (current, next) =>
      write(({ alerts }) => {
        const stored = alerts.get(current.id)
        if (stored?.status !== current.status || stored.count !== current.count) return false
        alerts.set(current.id, { ...next, id: current.id })
        return true
      }),

    async list({ status, source, limit, offset }) {
      const found = all()
        .filter((alert) => status === undefined || alert.status === status)
        .filter((alert) => source === undefined || alert.source === source)
        .toSorted(newestFirst)
      return { alerts: found.slice(offset, offset + limit), total: found.length }
    },

    countOpen: async (source) =>
      all().filter((alert) => isOpen(alert) && (source === undefined || alert.source === source))
        .length,
  }
}
