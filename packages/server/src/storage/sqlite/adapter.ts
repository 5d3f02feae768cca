import { basename } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import {
  DatabaseSync,
  type DatabaseSyncInstance,
  type StatementSyncInstance,
} from '@photostructure/sqlite'
import { hugeNumber } from '../../domain/parse-stored.ts'
import { describeSystemFailure } from '../../domain/system-failure.ts'

// The only file that knows which SQLite this is. The package speaks as `node:sqlite` does, which may
// take its place once every Node we support has it.

/** Older ones may corrupt a WAL that is reset while another connection checkpoints. */
const versionMin = [3, 51, 3] as const

const statementsMax = 256

export type SqlValue = string | number | bigint | null | Uint8Array
/** A text and the values of its parameters. */
export type Statement = readonly [text: string, values: readonly SqlValue[]]

export type SqlRow = Record<string, unknown>

type Prepared = {
  readonly statement: StatementSyncInstance
  readonly returnsRows: boolean
}

/** Result of a statement: rows it returned, or how many rows it changed. */
export type SqlResult = { readonly rows: SqlRow[]; readonly changes: number }

const codeOf = (error: unknown): number | undefined => {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined
  return typeof code === 'number' ? code : undefined
}

/** The package tells this by its text alone; damaged-rows.test.ts. */
const isHugeNumber = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('Value is too large to be represented')

const constraintCode = 19
/** Another process or connection has a lock. */
const busyCodes: readonly number[] = [5, 6]

/** Primary result codes of SQLite. */
const words: Readonly<Record<number, string>> = {
  5: 'another process uses the database',
  6: 'another connection uses a table',
  7: 'memory is used up',
  8: 'the database is read-only',
  10: 'the disk failed',
  11: 'the database file is damaged',
  13: 'the disk is full',
  14: 'the database file cannot be opened',
  26: 'the file is no database',
}

/**
 * Failure in our words: a broken rule of the schema is the caller's, the rest is the store's. The
 * text of SQLite is the cause, for the log alone: it may quote the schema, paths and values.
 */
export const failure = (error: unknown, file: string): GatehouseError => {
  if (error instanceof GatehouseError) return error
  if (isHugeNumber(error))
    return new GatehouseError('StoreDamaged', { place: hugeNumber }, { cause: error })
  // The low byte is the primary result code, the rest says which constraint it was.
  const code = (codeOf(error) ?? 0) & 0xff
  if (code === constraintCode)
    return new GatehouseError(
      'Conflict',
      { detail: 'Another change was stored first.' },
      { cause: error },
    )
  const detail = words[code] ?? describeSystemFailure(error)
  return new GatehouseError(
    'StorageUnavailable',
    { detail: `${basename(file)}: ${detail}` },
    { cause: error },
  )
}

/** Whether a failure of a connection may be gone when the same is tried again. */
export const isBusy = (error: unknown): boolean => {
  const code = codeOf(error instanceof Error ? error.cause : null)
  return code !== undefined && busyCodes.includes(code & 0xff)
}

/** One connection, with its prepared statements. Everything is synchronous. */
export class SqliteConnection implements Disposable {
  readonly file: string
  readonly #database: DatabaseSyncInstance
  /** By SQL text, least recently used first. */
  readonly #statements = new Map<string, Prepared>()

  constructor(file: string, options: { readonly readOnly: boolean; readonly timeoutMs?: number }) {
    this.file = file
    try {
      this.#database = new DatabaseSync(file, {
        readOnly: options.readOnly,
        timeout: options.timeoutMs ?? 5_000,
      })
    } catch (error) {
      throw failure(error, file)
    }
    this.#assertVersion()
  }

  get inTransaction(): boolean {
    return this.#database.isTransaction
  }

  /** Runs statements without parameters or rows. */
  exec(sql: string): void {
    try {
      this.#database.exec(sql)
    } catch (error) {
      throw failure(error, this.file)
    }
  }

  run(sql: string, parameters: readonly SqlValue[]): SqlResult {
    try {
      const { statement, returnsRows } = this.#prepare(sql)
      if (!returnsRows) return { rows: [], changes: statement.run(...parameters).changes }
      const rows = statement.all(...parameters) as SqlRow[]
      return { rows, changes: rows.length }
    } catch (error) {
      throw failure(error, this.file)
    }
  }

  /** The one value that a pragma or a scalar query returns. */
  value(sql: string): unknown {
    const row = this.run(sql, []).rows[0]
    return row && Object.values(row)[0]
  }

  /** Undoes an open transaction; some failures (a full disk) have done so already. */
  rollback(): void {
    if (this.inTransaction) this.exec('rollback')
  }

  [Symbol.dispose](): void {
    this.#statements.clear()
    if (this.#database.isOpen) this.#database.close()
  }

  #prepare(sql: string): Prepared {
    const cached = this.#statements.get(sql)
    if (cached) {
      this.#statements.delete(sql)
      this.#statements.set(sql, cached)
      return cached
    }
    const statement = this.#database.prepare(sql)
    const returnsRows = statement.columns().length > 0
    const prepared = { statement, returnsRows }
    this.#statements.set(sql, prepared)
    if (this.#statements.size > statementsMax) {
      const [oldest] = this.#statements.keys()
      if (oldest !== undefined) this.#statements.delete(oldest)
    }
    return prepared
  }

  #assertVersion(): void {
    const version = String(this.value('select sqlite_version()'))
    const parts = version.split('.').map(Number)
    const differs = versionMin.findIndex((part, i) => part !== parts[i])
    if (differs === -1 || (parts[differs] ?? 0) > (versionMin[differs] ?? 0)) return
    this[Symbol.dispose]()
    throw new GatehouseError('StorageUnavailable', {
      detail: `SQLite ${version} is too old: at least ${versionMin.join('.')} is needed.`,
    })
  }
}
