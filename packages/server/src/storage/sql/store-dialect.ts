import type { RawBuilder } from 'kysely'
import type { SearchDialect } from './search.ts'

/** Differences between the engines' statements. */
export type StoreDialect = {
  readonly search: SearchDialect
  /** Number of the oldest transaction that is still to be seen, where stored events have those of theirs. */
  readonly eventHorizon: RawBuilder<number>
}
