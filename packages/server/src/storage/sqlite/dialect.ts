import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely'
import type { FifoMutex } from '../mutex.ts'
import { type Changed, ChangedTables } from '../sql/changes.ts'
import type { SchemaDialect } from '../sql/schema-dialect.ts'
import type { SqliteConnection, SqlValue } from './adapter.ts'
import { impatient, type Patience } from './patience.ts'

/** There is one writer at a time, so nothing is locked that a query could skip. */
class OneWriterCompiler extends SqliteQueryCompiler {
  protected override visitSelectModifier(): void {}
}

class TransactionalSqliteAdapter extends SqliteAdapter {
  /** SQLite's schema changes are as transactional as its rows, so all migrations share one. */
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

/** Others that have the file open: whom changes wait for, and who is told of them. */
type Others = { readonly patience: Patience; readonly changed: Changed }

const nobody: Others = { patience: impatient, changed: () => {} }

class Connection implements DatabaseConnection {
  readonly #sqlite: SqliteConnection
  readonly #patience: Patience
  readonly #changes: ChangedTables
  #inTransaction = false

  constructor(sqlite: SqliteConnection, { patience, changed }: Others) {
    this.#sqlite = sqlite
    this.#patience = patience
    this.#changes = new ChangedTables(changed)
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { sql: text, parameters } = query
    const run = () => this.#sqlite.run(text, parameters as readonly SqlValue[])
    // Within a transaction nobody else has a lock that a statement could meet.
    const { rows, changes } = this.#inTransaction ? run() : await this.#patience(run)
    this.#changes.ran(query)
    return { rows: rows as R[], numAffectedRows: BigInt(changes) }
  }

  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('Queries are not streamed: pages are read by range.')
  }

  async begin(): Promise<void> {
    await this.#patience(() => this.#sqlite.exec('begin immediate'))
    this.#inTransaction = true
    this.#changes.begun()
  }

  async commit(): Promise<void> {
    // Readers of other processes may be in the way of a checkpoint, but not of this.
    await this.#patience(() => this.#sqlite.exec('commit'))
    this.#inTransaction = false
    this.#changes.ended(true)
  }

  rollback(): void {
    this.#inTransaction = false
    this.#changes.ended(false)
    this.#sqlite.rollback()
  }
}

/** Runs before each use of a connection. */
type Prepare = () => Promise<void> | void | undefined

/** One connection for all; with a mutex, for one at a time. Closing it is up to who opened it. */
class OneConnectionDriver implements Driver {
  readonly #connection: Connection
  readonly #mutex: FifoMutex | null
  readonly #prepare: Prepare

  constructor(connection: Connection, mutex: FifoMutex | null, prepare: Prepare) {
    this.#connection = connection
    this.#mutex = mutex
    this.#prepare = prepare
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    await this.#mutex?.lock()
    try {
      await this.#prepare()
    } catch (error) {
      this.#mutex?.unlock()
      throw error
    }
    return this.#connection
  }

  async releaseConnection(): Promise<void> {
    this.#mutex?.unlock()
  }

  async beginTransaction(): Promise<void> {
    await this.#connection.begin()
  }

  async commitTransaction(): Promise<void> {
    await this.#connection.commit()
  }

  async rollbackTransaction(): Promise<void> {
    this.#connection.rollback()
  }

  async destroy(): Promise<void> {}
}

const dialect = (connection: Connection, mutex: FifoMutex | null, prepare: Prepare): Dialect => ({
  createAdapter: () => new TransactionalSqliteAdapter(),
  createDriver: () => new OneConnectionDriver(connection, mutex, prepare),
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => new OneWriterCompiler(),
})

export const writerDialect = (
  sqlite: SqliteConnection,
  mutex: FifoMutex,
  prepare: Prepare,
  others: Others = nobody,
): Dialect => dialect(new Connection(sqlite, others), mutex, prepare)

/** `prepare` stores first what reads have to see. */
export const readerDialect = (
  sqlite: SqliteConnection,
  prepare: Prepare = () => undefined,
): Dialect => dialect(new Connection(sqlite, nobody), null, prepare)

export const appendOnlyTrigger = (table: string, event: 'update' | 'delete'): string =>
  `create trigger ${table}_no_${event} before ${event} on ${table}
   begin select raise(abort, 'the audit log is append-only'); end`

export const sqliteSchema: SchemaDialect = {
  text: sql`text collate binary`,
  byKey: sql`without rowid`,
  rowNumber: sql`integer`,
  bytes: sql`blob`,
  transactionNumber: sql`0`,

  async appendOnly(db: Kysely<unknown>, table: string) {
    for (const event of ['update', 'delete'] as const)
      await db.executeQuery(CompiledQuery.raw(appendOnlyTrigger(table, event)))
  },

  async changeable(db: Kysely<unknown>, table: string) {
    for (const event of ['update', 'delete'] as const)
      await db.executeQuery(CompiledQuery.raw(`drop trigger if exists ${table}_no_${event}`))
  },

  async searchIndex(db: Kysely<unknown>) {
    await db.executeQuery(
      CompiledQuery.raw(
        `create virtual table replica_search using fts5 (title, sender, text,
           content='', contentless_delete=1, prefix='2 3', tokenize='unicode61 remove_diacritics 0')`,
      ),
    )
  },

  /** One process counts, in memory: here it only leaves, by the group, what it needs to count on. */
  async limitTables(db: Kysely<unknown>) {
    await db.schema
      .createTable('limit_batches')
      .addColumn('n', 'integer', (c) => c.primaryKey())
      .addColumn('expires_ms', 'integer', (c) => c.notNull())
      .addColumn('stamps', 'text', (c) => c.notNull())
      .execute()
    await db.schema
      .createIndex('limit_batches_expiry')
      .on('limit_batches')
      .column('expires_ms')
      .execute()
  },

  /** Counted in memory, they cost nothing to take. */
  async limitsInBatches() {},
}
