import { GatehouseError } from '@gatehouse/contract'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  PostgresDialect,
  type QueryResult,
  sql,
  type TransactionSettings,
} from 'kysely'
import pg from 'pg'
import { hugeNumber } from '../../domain/parse-stored.ts'
import { describeSystemFailure } from '../../domain/system-failure.ts'
import { type Changed, ChangedTables } from '../sql/changes.ts'
import type { SchemaDialect } from '../sql/schema-dialect.ts'
import { isTimeout } from './bounded-client.ts'
import { createLimitTables, limitsInBatches } from './limit-tables.ts'

const integer8 = 20
const integrityViolation = /^23/
const sqlState = /^[0-9A-Z]{5}$/

const words: readonly (readonly [RegExp, string])[] = [
  [/^28/, 'it refuses the user or the password'],
  [/^3D000$/, 'the database does not exist'],
  [/^42501$/, 'the user of the database lacks a permission'],
  [/^53100$/, 'its disk is full'],
  [/^53200$/, 'its memory is used up'],
  [/^53300$/, 'it has too many connections'],
  [/^55P03$/, 'a lock was not free in time'],
  [/^57014$/, 'a statement took too long'],
  [/^57P/, 'it is shutting down or starting'],
  [/^25006$/, 'it is read-only'],
  [/^22003$/, 'a number became too large, or was stored so'],
]

/** A stored number that none of ours is: the port's are at most 2^53 − 1. */
class TooLarge extends Error {}

/**
 * Failure in our words: a broken rule of the schema is the caller's, the rest is the store's. The
 * text of PostgreSQL is the cause, for the log alone: it may quote statements and stored values.
 */
export const postgresFailure = (error: unknown): GatehouseError => {
  if (error instanceof GatehouseError) return error
  if (error instanceof TooLarge)
    return new GatehouseError('StoreDamaged', { place: hugeNumber }, { cause: error })
  const code = error instanceof pg.DatabaseError ? (error.code ?? '') : ''
  if (integrityViolation.test(code))
    return new GatehouseError(
      'Conflict',
      { detail: 'Another change was stored first.' },
      { cause: error },
    )
  const known = words.find(([codes]) => codes.test(code))?.[1]
  const silent = isTimeout(error) ? 'it does not answer' : null
  const detail =
    known ??
    silent ??
    (sqlState.test(code) ? `it reports SQLSTATE ${code}` : describeSystemFailure(error))
  return new GatehouseError(
    'StorageUnavailable',
    { detail: `PostgreSQL: ${detail}` },
    { cause: error },
  )
}

/** 8-byte integers as numbers: a greater one than ours is never rounded. */
export const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === integer8 && format !== 'binary'
      ? (text: string) => {
          const value = Number(text)
          if (!Number.isSafeInteger(value)) throw new TooLarge(`${text} is too large for a number.`)
          return value
        }
      : pg.types.getTypeParser(oid, format),
}

/** Every connection alike, whatever the database or its role sets by default. */
export const applySettings = async (client: pg.ClientBase): Promise<void> => {
  // The query that runs hears of a lost connection by itself; without a listener the process would end.
  client.on('error', () => {})
  await client.query(
    `set session characteristics as transaction isolation level read committed;
     set statement_timeout = '30s'; set lock_timeout = '10s'`,
  )
}

/** Kysely's driver, with failures in our words, and telling after each commit which tables it changed. */
class Mapped implements DatabaseConnection {
  readonly inner: DatabaseConnection
  readonly changes: ChangedTables

  constructor(inner: DatabaseConnection, changed: Changed) {
    this.inner = inner
    this.changes = new ChangedTables(changed)
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    try {
      const result = await this.inner.executeQuery<R>(query)
      this.changes.ran(query)
      return result
    } catch (error) {
      throw postgresFailure(error)
    }
  }

  streamQuery<R>(query: CompiledQuery, size: number): AsyncIterableIterator<QueryResult<R>> {
    return this.inner.streamQuery<R>(query, size)
  }
}

class MappedDriver implements Driver {
  readonly #inner: Driver
  readonly #changed: Changed

  constructor(inner: Driver, changed: Changed) {
    this.#inner = inner
    this.#changed = changed
  }

  init(): Promise<void> {
    return this.#inner.init()
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    try {
      return new Mapped(await this.#inner.acquireConnection(), this.#changed)
    } catch (error) {
      throw postgresFailure(error)
    }
  }

  async beginTransaction(connection: Mapped, settings: TransactionSettings): Promise<void> {
    await this.#inner.beginTransaction(connection.inner, settings).catch(rethrow)
    connection.changes.begun()
  }

  async commitTransaction(connection: Mapped): Promise<void> {
    await this.#inner.commitTransaction(connection.inner).catch(rethrow)
    connection.changes.ended(true)
  }

  async rollbackTransaction(connection: Mapped): Promise<void> {
    connection.changes.ended(false)
    await this.#inner.rollbackTransaction(connection.inner).catch(rethrow)
  }

  releaseConnection(connection: Mapped): Promise<void> {
    return this.#inner.releaseConnection(connection.inner)
  }

  destroy(): Promise<void> {
    return this.#inner.destroy()
  }
}

const rethrow = (error: unknown): never => {
  throw postgresFailure(error)
}

export const postgresDialect = (pool: pg.Pool, changed: Changed = () => {}): Dialect => {
  const inner = new PostgresDialect({ pool })
  return {
    createAdapter: () => inner.createAdapter(),
    createDriver: () => new MappedDriver(inner.createDriver(), changed),
    createIntrospector: (db) => inner.createIntrospector(db),
    createQueryCompiler: () => inner.createQueryCompiler(),
  }
}

export const postgresSchema: SchemaDialect = {
  text: sql`text collate "C"`,
  byKey: sql``,
  rowNumber: sql`bigint generated always as identity`,
  bytes: sql`bytea`,
  transactionNumber: sql`txid_current()`,

  async appendOnly(db: Kysely<unknown>, table: string) {
    await db.executeQuery(
      CompiledQuery.raw(
        `create function gatehouse_append_only() returns trigger language plpgsql as $$
         begin raise exception 'the audit log is append-only' using errcode = 'integrity_constraint_violation'; end $$`,
      ),
    )
    for (const [name, event, each] of [
      ['rows', 'update or delete', 'row'],
      ['whole', 'truncate', 'statement'],
    ])
      await db.executeQuery(
        CompiledQuery.raw(
          `create trigger ${table}_append_only_${name} before ${event} on ${table}
           for each ${each} execute function gatehouse_append_only()`,
        ),
      )
  },

  async changeable(db: Kysely<unknown>, table: string) {
    for (const name of ['rows', 'whole'])
      await db.executeQuery(
        CompiledQuery.raw(`drop trigger if exists ${table}_append_only_${name} on ${table}`),
      )
  },

  limitTables: createLimitTables,
  limitsInBatches,

  async searchIndex(db: Kysely<unknown>) {
    await db.executeQuery(
      CompiledQuery.raw('alter table replica_entries add column search tsvector'),
    )
    await db.executeQuery(
      CompiledQuery.raw(
        'create index replica_entries_search on replica_entries using gin (search)',
      ),
    )
  },
}
