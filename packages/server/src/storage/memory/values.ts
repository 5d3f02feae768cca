import {
  type StatePast,
  type StateStore,
  type StoredState,
  statePastBytesMax,
  statePastMax,
} from '../../ports/state.ts'
import { type Access, compareText } from './state.ts'

const nameOf = (area: string, key: string): string => JSON.stringify([area, key])

const pastOf = ({ version, value_json, updated_ms, updated_by }: StoredState): StatePast => ({
  version,
  value_json: value_json !== null && value_json.length <= statePastBytesMax ? value_json : null,
  deleted: value_json === null,
  updated_ms,
  updated_by,
})

export const memoryValues = ({ state, write }: Access): StateStore => {
  const all = () => [...state().values.values()].map((value) => value.state)
  return {
    find: async (area, key) => state().values.get(nameOf(area, key))?.state ?? null,

    list: async (area, { prefix, after, nowMs, limit }) =>
      all()
        .filter((row) => row.area === area && row.value_json !== null)
        .filter((row) => row.expires_ms === null || row.expires_ms > nowMs)
        .filter(({ key }) => key.startsWith(prefix))
        .filter(({ key }) => after === null || compareText(key, after) > 0)
        .toSorted((a, b) => compareText(a.key, b.key))
        .slice(0, limit),

    async usage(area) {
      const rows = all().filter((row) => row.area === area && row.value_json !== null)
      return { keys: rows.length, size_bytes: rows.reduce((sum, row) => sum + row.size_bytes, 0) }
    },

    replace: (current, next, { past }) =>
      write(({ values }) => {
        const name = nameOf(next.area, next.key)
        const stored = values.get(name)
        if (stored?.state.version !== current?.version) return false
        const before = stored?.past ?? []
        values.set(name, {
          state: { ...next },
          past: past ? [pastOf(next), ...before].slice(0, statePastMax) : before,
        })
        return true
      }),

    history: async (area, key, limit) =>
      (state().values.get(nameOf(area, key))?.past ?? []).slice(0, limit),

    listExpired: async (nowMs, limit) =>
      all()
        .filter((row) => row.value_json !== null && row.expires_ms !== null)
        .filter((row) => (row.expires_ms ?? 0) <= nowMs)
        .toSorted((a, b) => (a.expires_ms ?? 0) - (b.expires_ms ?? 0))
        .slice(0, limit),

    removeAreas: (prefix) =>
      write(({ values }) => {
        for (const [name, value] of values)
          if (value.state.area.startsWith(prefix)) values.delete(name)
      }),

    removeDeleted: (beforeMs, limit) =>
      write(({ values }) => {
        const gone = [...values]
          .filter(([, value]) => value.state.value_json === null)
          .filter(([, value]) => value.state.updated_ms < beforeMs)
          .slice(0, limit)
        for (const [name] of gone) values.delete(name)
        return gone.length
      }),
  }
}
