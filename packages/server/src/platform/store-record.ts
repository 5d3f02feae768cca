import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import { dataFormat } from '../domain/data-format.ts'
import { damagedFile, writePrivateFile } from './data-directory.ts'
import { hasDatabase, hasLog, recordFile } from './is-installed.ts'

type Engine = 'sqlite' | 'postgres'
/** `store.json`: which store the data directory belongs to. The store has the same id. */
type StoreRecord = {
  readonly format: number
  readonly engine: Engine
  readonly store_id: string
  /** The program that wrote the record. */
  readonly version: string
  /** When the data came here from another engine. */
  readonly moved_at?: string
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
  if (!isRecord(value)) throw damagedFile(file)
  return value
}

/** A directory without a record was left by a start that did not get far. */
const engineOf = (dataDir: string, record: StoreRecord | null): Engine | null => {
  if (record) return record.engine
  if (hasDatabase(dataDir)) return 'sqlite'
  return hasLog(dataDir) ? 'postgres' : null
}

const otherEngine = (
  dataDir: string,
  { kept, moved_at }: { readonly kept: Engine; readonly moved_at: string | undefined },
  origin: string,
): GatehouseError => {
  const since = moved_at === undefined ? '' : `, moved there on ${moved_at}`
  return kept === 'sqlite'
    ? new GatehouseError(
        'StoreMismatch',
        { detail: `the store of ${dataDir} is SQLite${since}, and ${origin} names PostgreSQL` },
        {
          recovery: [
            { action: `leave out ${origin}`, description: 'Use the data that is there.' },
            {
              action: 'gatehouse migrate --to URL',
              description: 'Move the data to PostgreSQL.',
            },
            { action: '--data-dir DIR', description: 'Begin another Gatehouse on PostgreSQL.' },
          ],
        },
      )
    : new GatehouseError(
        'StoreMismatch',
        { detail: `the store of ${dataDir} is PostgreSQL${since}, and no database_url is set` },
        {
          recovery: [
            {
              action: `database_url in ${join(dataDir, 'gatehouse.yaml')}`,
              description:
                'Set it there, so that the server and every command find it, or give GATEHOUSE_DATABASE_URL.',
            },
            ...(moved_at === undefined
              ? []
              : [
                  {
                    action: 'gatehouse migrate --back',
                    description: 'Move the data to SQLite again, as it is now.',
                  },
                ]),
            { action: '--data-dir DIR', description: 'Name another data directory.' },
          ],
        },
      )
}

const write = (dataDir: string, record: Omit<StoreRecord, 'format'>): void =>
  writePrivateFile(
    recordFile(dataDir),
    `${JSON.stringify({ format: dataFormat, ...record }, null, 2)}\n`,
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
  if (kept !== null && kept !== settings.engine)
    throw otherEngine(dataDir, { kept, moved_at: record?.moved_at }, settings.origin)
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
  const known = readRecord(dataDir)
  if (known?.format === dataFormat) return
  const { moved_at } = known ?? {}
  write(dataDir, { engine, store_id, version, ...(moved_at === undefined ? {} : { moved_at }) })
}

/** From here on the data directory belongs to the store that its data was moved to. */
export const recordMovedStore = (
  dataDir: string,
  moved: Omit<Required<StoreRecord>, 'format'>,
): void => write(dataDir, moved)

/** The engine that has the data; null where there is none yet. Raises `DataTooNew`. */
export const recordedEngine = (dataDir: string): Engine | null =>
  engineOf(dataDir, readRecord(dataDir))
