import type { FoundEntry, ReplicaEntry, ReplicaQuery, ReplicaStore } from '../../ports/replica.ts'
import { entryLimits } from '../entry-limits.ts'
import { type Phrase, searchOf, wordsOf } from '../words.ts'
import { type Access, compareText, type ReplicaRow } from './state.ts'

const keyOf = (collection: string, id: string): string => JSON.stringify([collection, id])

const rowOf = (given: ReplicaEntry, run: number): ReplicaRow => {
  const { text, ...entry } = entryLimits(given)
  const words = { title: wordsOf(entry.title), sender: wordsOf(entry.from), text: wordsOf(text) }
  return { entry, words, run }
}

const holds = (words: readonly string[], { words: asked, prefix }: Phrase): boolean =>
  words.some((_, start) =>
    asked.every((word, i) => {
      const found = words[start + i]
      const last = prefix && i === asked.length - 1
      return last ? (found?.startsWith(word) ?? false) : found === word
    }),
  )

const byPlace = (a: FoundEntry, b: FoundEntry): number =>
  compareText(a.collection, b.collection) || compareText(a.id, b.id)

const matches = ({ entry, words }: ReplicaRow, query: ReplicaQuery): boolean => {
  const asked = searchOf(query)
  if (asked === 'impossible') return false
  const found = (asked ?? []).every(({ phrase, column }) =>
    column ? holds(words[column], phrase) : Object.values(words).some((of) => holds(of, phrase)),
  )
  return (
    found &&
    (query.collections?.includes(entry.collection) ?? true) &&
    (query.since_ms === undefined || entry.until_ms >= query.since_ms) &&
    (query.before_ms === undefined || entry.sort_ms < query.before_ms) &&
    (query.with_flags ?? []).every((flag) => entry.flags.includes(flag)) &&
    !(query.without_flags ?? []).some((flag) => entry.flags.includes(flag))
  )
}

export const memoryReplica = ({ state, write }: Access): ReplicaStore => {
  const rowsOf = (service: string): ReplicaRow[] => [
    ...(state().replica.get(service)?.values() ?? []),
  ]
  return {
    apply: (service, changes, run) =>
      write(({ replica }) => {
        const rows = new Map(replica.get(service))
        for (const change of changes) {
          const { collection, id } = change.kind === 'put' ? change.entry : change.key
          if (change.kind === 'put') rows.set(keyOf(collection, id), rowOf(change.entry, run))
          else rows.delete(keyOf(collection, id))
        }
        replica.set(service, rows)
      }),

    dropOlder: (service, collections, run, limit) =>
      write(({ replica }) => {
        const rows = new Map(replica.get(service))
        const older = [...rows]
          .filter(([, row]) => row.run < run)
          .filter(([, { entry }]) => collections?.includes(entry.collection) ?? true)
          .slice(0, limit)
        for (const [key] of older) rows.delete(key)
        replica.set(service, rows)
        return older.length
      }),

    find: async (service, { collection, id }) =>
      state().replica.get(service)?.get(keyOf(collection, id))?.entry ?? null,

    findByKey: async (service, key) =>
      rowsOf(service)
        .map(({ entry }) => entry)
        .filter(({ id, keys }) => id === key || keys.includes(key))
        .toSorted(byPlace)
        .slice(0, 100),

    async query(service, query) {
      const sign = query.order === 'newest_first' ? -1 : 1
      const found = rowsOf(service)
        .filter((row) => matches(row, query))
        .map(({ entry }) => entry)
        .toSorted((a, b) => sign * (a.sort_ms - b.sort_ms) || byPlace(a, b))
      const { offset, limit } = query
      return { entries: found.slice(offset, offset + limit), total: found.length }
    },

    async collections(service, flag) {
      const counts = new Map<string, { entries: number; with_flag: number }>()
      for (const { entry } of rowsOf(service)) {
        const known = counts.get(entry.collection) ?? { entries: 0, with_flag: 0 }
        counts.set(entry.collection, {
          entries: known.entries + 1,
          with_flag: known.with_flag + (entry.flags.includes(flag) ? 1 : 0),
        })
      }
      return [...counts]
        .toSorted(([a], [b]) => compareText(a, b))
        .map(([collection, found]) => ({ collection, ...found }))
    },

    async counts() {
      const counts = [...state().replica].map(([service, rows]) => [service, rows.size] as const)
      return new Map(counts.filter(([, entries]) => entries > 0))
    },
  }
}
