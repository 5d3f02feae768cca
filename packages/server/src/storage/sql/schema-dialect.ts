import type { Kysely, RawBuilder } from 'kysely'

/** Differences between the engines' schemas. */
export type SchemaDialect = {
  /** Text compared byte by byte, whatever the locale of the database. */
  readonly text: RawBuilder<unknown>
  /** Ends the definition of a table that is stored in the order of its key, where an engine can. */
  readonly byKey: RawBuilder<unknown>
  /** Makes a table refuse UPDATE and DELETE. */
  appendOnly(db: Kysely<unknown>, table: string): Promise<void>
  /** Makes it take them again. */
  changeable(db: Kysely<unknown>, table: string): Promise<void>
  /** Where uses of limits are kept: as rows where the database counts, else as it suits the commits. */
  limitTables(db: Kysely<unknown>): Promise<void>
  /** Where a shared store counts the uses of a turn at once. */
  limitsInBatches(db: Kysely<unknown>): Promise<void>
  /** A whole number that the engine counts up by itself. */
  readonly rowNumber: RawBuilder<unknown>
  readonly bytes: RawBuilder<unknown>
  /** Number of the transaction that stores a row, where nodes share the store; else 0. */
  readonly transactionNumber: RawBuilder<unknown>
  /** Where the words of the replica are indexed. */
  searchIndex(db: Kysely<unknown>): Promise<void>
}
