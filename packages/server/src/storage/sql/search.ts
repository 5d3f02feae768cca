import type { Kysely, RawBuilder } from 'kysely'
import type { Search, SearchColumn } from '../words.ts'
import type { Tables } from './tables.ts'

/** The words of an entry, as `wordsOf` makes them. */
export type IndexedWords = { readonly [column in SearchColumn]: readonly string[] }

/** Where the engines differ: how the words of the replica are indexed and found. */
export type SearchDialect = {
  /** Indexes the entry with this number in place of what was indexed of it. */
  put(db: Kysely<Tables>, num: number, words: IndexedWords): Promise<void>
  remove(db: Kysely<Tables>, nums: readonly number[]): Promise<void>
  /** A condition on `replica_entries`. */
  matches(search: Search): RawBuilder<boolean>
}
