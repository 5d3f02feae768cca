import { sql } from 'kysely'
import type { IndexedWords, SearchDialect } from '../sql/search.ts'
import type { Search, SearchColumn } from '../words.ts'

const weights: Record<SearchColumn, 'A' | 'B' | 'C'> = { title: 'A', sender: 'B', text: 'C' }
/** Of each word PostgreSQL keeps at most so many places, and none beyond the last. */
const placesMax = 255
const lastPlace = 16_383
/** Between columns, so that no phrase runs from one into the next. */
const gap = 2

/** A tsvector in its own notation. The words are ours, so no parser of the database looks at them. */
const vectorText = (indexed: IndexedWords): string => {
  const places = new Map<string, string[]>()
  let place = 0
  for (const column of ['title', 'sender', 'text'] as const) {
    for (const word of indexed[column]) {
      place = Math.min(place + 1, lastPlace)
      const known = places.get(word) ?? []
      if (known.length < placesMax) known.push(`${place}${weights[column]}`)
      places.set(word, known)
    }
    place = Math.min(place + gap, lastPlace)
  }
  return [...places].map(([word, at]) => `'${word}':${at.join(',')}`).join(' ')
}

/** Words hold letters and digits only, so nothing in them could end the quotes. */
const queryText = (search: Search): string =>
  search
    .map(({ phrase: { words, prefix }, column }) => {
      const weight = column ? weights[column] : ''
      const lexemes = words.map((word, i) => {
        const marks = `${prefix && i === words.length - 1 ? '*' : ''}${weight}`
        return `'${word}'${marks ? `:${marks}` : ''}`
      })
      return `(${lexemes.join(' <-> ')})`
    })
    .join(' & ')

export const postgresSearch: SearchDialect = {
  async put(db, num, words) {
    await sql`update replica_entries set search = ${vectorText(words)}::tsvector
      where num = ${num}`.execute(db)
  },

  /** The search text goes with its row. */
  async remove() {},

  matches: (search) => sql<boolean>`search @@ ${queryText(search)}::tsquery`,
}
