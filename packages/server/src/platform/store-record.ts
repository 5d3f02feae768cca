import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import { dataFormat } from '../domain/data-format.ts'
import { writePrivateFile } from './data-directory.ts'
import { hasDatabase, hasLog, recordFile } from './is-installed.ts'

type Engine = 'sqlite' | 'postgres'
/** `store.json`: which store the data directory belongs to. The store has the same id. */
type StoreRecord = {
  readonly format: number
  readonly engine: Engine
  readonly store_id: string
  /** The program that wrote the record. */
  readonly version: string
}

const isRecord = (value: unknown): value is StoreRecord => {
  const { engine, store_id } = (value ?? {}) as Partial<StoreRecord>
  return (engine === 'sqlite' || engine === 'postgres') && typeof store_id === 'string'
}

const readRecord = (dataDir: string): StoreRecord | null => {
  const file = recordFile(dataDir)
  if (!existsSync(file)) return null
  let value: unknown = null
  try {
    value = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    // Said below, together with every other damage.
  }
  const { format, version: writer } = (value ?? {}) as Partial<StoreRecord>
  // @SECURITY An older program would misread newer data and raise a false alarm; store-record.test.ts.
  if (typeof format === 'number' && format > dataFormat)
    throw new GatehouseError('DataTooNew', {
      data_dir: dataDir,
      written_by: String(writer ?? 'unknown'),
    })
  if (!isRecord(value))
    throw new GatehouseError('InvalidConfiguration', {
      origin: file,
      detail: 'is damaged; restore it from a backup',
    })
  return value
}

/** A directory without a record was left by a start that did not get far. */
const engineOf = (dataDir: string, record: StoreRecord | null): Engine | null => {
  if (record) return record.engine
  if (hasDatabase(dataDir)) return 'sqlite'
  return hasLog(dataDir) ? 'postgres' : null
}

const otherEngine = (dataDir: string, kept: Engine, origin: string): GatehouseError =>
  kept === 'sqlite'
    ? new GatehouseError(
        'StoreMismatch',
        { detail: `the store of ${dataDir} is SQLite, and ${origin} names PostgreSQL` },
        {
          recovery: [
            { action: `leave out ${origin}`, description: 'Use the data that is there.' },
            {
              action: '--data-dir DIR',
              description: 'Begin another Gatehouse on PostgreSQL; data is not moved.',
            },
          ],
        },
      )
    : new GatehouseError(
        'StoreMismatch',
        { detail: `the store of ${dataDir} is PostgreSQL, and no database_url is set` },
        {
          recovery: [
            {
              action: `database_url in ${join(dataDir, 'gatehouse.yaml')}`,
              description:
                'Set it there, so that the server and every command find it, or give GATEHOUSE_DATABASE_URL.',
            },
            { action: '--data-dir DIR', description: 'Name another data directory.' },
          ],
        },
      )

/**
 * Id of the store that the directory belongs to; null where it belongs to none yet. Only reads. Raises
 * `StoreMismatch` where the settings name another engine, or the database has gone, and `DataTooNew`.
 */
export const recordedStore = (
  dataDir: string,
  settings: { readonly engine: Engine; readonly origin: string },
): string | null => {
  const record = readRecord(dataDir)
  const kept = engineOf(dataDir, record)
  if (kept !== null && kept !== settings.engine) throw otherEngine(dataDir, kept, settings.origin)
  if (record?.engine === 'sqlite' && !hasDatabase(dataDir))
    throw new GatehouseError(
      'StoreMismatch',
      { detail: `${join(dataDir, 'gatehouse.db')} is gone` },
      {
        recovery: [
          { action: 'gatehouse restore', description: 'Restore a backup into a new directory.' },
          { action: '--data-dir DIR', description: 'Begin another Gatehouse.' },
        ],
      },
    )
  return record?.store_id ?? null
}

/** Written once the store has the id, and again by a program that raised the format. */
export const recordStore = (
  dataDir: string,
  { engine, store_id, version }: Omit<StoreRecord, 'format'>,
): void => {
  if (readRecord(dataDir)?.format === dataFormat) return
  const record: StoreRecord = { format: dataFormat, engine, store_id, version }
  writePrivateFile(recordFile(dataDir), `${JSON.stringify(record, null, 2)}\n`)
}
