import { existsSync, realpathSync, renameSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import { systemOp } from './app/call/op.ts'
import { type Composition, compose } from './compose.ts'
import { loadSettings, usualDataDir } from './config/load.ts'
import type { Settings } from './config/settings.ts'
import { withSetting } from './config/write-setting.ts'
import { type MoveMark, type MoveReport, moveKey, parseMark } from './domain/move-mark.ts'
import { standingOf } from './domain/nodes.ts'
import { LogReader } from './log/log-files.ts'
import { gateFolders, logFolder, removalIn } from './log/sibling-logs.ts'
import { nodeName, writePrivateFile } from './platform/data-directory.ts'
import { recordedEngine, recordMovedStore } from './platform/store-record.ts'
import { openPostgresEnd, type PostgresEnd } from './storage/postgres/move.ts'
import { countAll, type Move, type MoveTarget, moveAll } from './storage/sql/move-all.ts'
import { writeMark } from './storage/sql/move-mark.ts'
import { claimStoreId } from './storage/sql/store-id.ts'
import { databaseFiles, fillSqlite, openSqliteSource } from './storage/sqlite/move.ts'
import { createLog } from './telemetry/log.ts'
import { LogOutput } from './telemetry/log-output.ts'
import { Scrubber } from './vault/scrub/scrubber.ts'
import { version } from './version.ts'

export type MoveInput = {
  readonly dataDir: string
  readonly configFile?: string
  /** Where to: the URL of a database, or null for SQLite in the data directory. */
  readonly url: string | null
  readonly dryRun: boolean
  readonly onTable?: (name: string, rows: number) => void
}

export type Moved = {
  readonly engine: 'sqlite' | 'postgres'
  readonly data_dir: string
  /** Rows by table. */
  readonly tables: Readonly<Record<string, number>>
  readonly dry_run: boolean
  /** Whether an interrupted move had copied the data already. */
  readonly resumed: boolean
  /** Where the store that was left is. */
  readonly kept: string | null
}

type Place = {
  readonly dataDir: string
  readonly file: string
  readonly settings: Settings
  readonly databaseFile: string
}

const nameOf = (url: string | null): string => (url === null ? 'SQLite' : 'PostgreSQL')

const refuse = (detail: string): never => {
  throw new GatehouseError('MoveRefused', { detail })
}

const placeOf = ({ dataDir, configFile }: MoveInput): Place => {
  const flags = {
    ...(usualDataDir(process.env) === dataDir ? {} : { 'data-dir': dataDir }),
    ...(configFile ? { config: configFile } : {}),
  }
  const settings = loadSettings(flags)
  const file = settings.configuration.file ?? configFile ?? join(dataDir, 'gatehouse.yaml')
  return { dataDir, file, settings, databaseFile: join(dataDir, 'gatehouse.db') }
}

/** Opens the data as a command does while no service runs, on the engine that this names. */
const openOn = ({ settings }: Place, url: string | null): Promise<Composition> => {
  const scrubber = new Scrubber()
  const output = new LogOutput(process.stderr.fd)
  const log = createLog('warn', output, (line) => scrubber.scrub(line))
  const options = { runsApproved: false, moves: true, scrubber, output }
  return compose({ ...settings, database_url: url }, log, options)
}

const opOf = ({ ids }: Composition) => systemOp({ ids, signal: new AbortController().signal })

const assertVerified = async (composition: Composition): Promise<void> => {
  const { integrity, detail } = await composition.app.verifyAudit(opOf(composition))
  if (integrity !== 'verified') refuse(`the audit log is not verified (${detail ?? integrity})`)
}

/** Entries of each process of the node, by the names of their chains. */
const logsIn = ({ dataDir }: Place): Move['logs'] =>
  new Map(
    [dataDir, ...gateFolders(dataDir)].map((folder) => [
      nodeName(folder),
      {
        entries: () => new LogReader(join(folder, logFolder)).entries(0),
        removals: removalIn(folder, nodeName(folder)),
      },
    ]),
  )

/** The mark and the id are part of the copy: it is there with both, or not at all. */
const markArrived = async (
  { db }: MoveTarget,
  from_store: string,
  tables: MoveReport,
): Promise<{ id: string; mark: MoveMark & { state: 'arriving' } }> => {
  const moved_at = new Date().toISOString()
  const mark = { state: 'arriving', from_store, moved_at, tables } as const
  await writeMark(db, mark)
  return { id: await claimStoreId(db), mark }
}

const rowsOf = (report: MoveReport): Record<string, number> =>
  Object.fromEntries(Object.entries(report).map(([name, { rows }]) => [name, rows]))

/** Fills the database, and makes it the store of the data directory. Nothing is left changed by a dry run. */
const copyToPostgres = async (
  place: Place,
  url: string,
  { dryRun, onTable }: MoveInput,
): Promise<Record<string, number>> => {
  await using composition = await openOn(place, null)
  const { storage } = composition
  await assertVerified(composition)
  await storage.flush()
  await using end = await openPostgresEnd(place.settings.database_direct_url ?? url)
  await end.assertFree(storage.id)
  using source = openSqliteSource(place.databaseFile)
  const logs = logsIn(place)
  if (dryRun) return await countAll(source, [...logs.keys()])
  const { id, mark } = await end.fill(async (target) => {
    const told = onTable ? { onTable } : {}
    const report = await moveAll({ source, target, logs, ...told })
    return markArrived(target, storage.id, report)
  })
  const { moved_at, tables } = mark
  recordMovedStore(place.dataDir, { engine: 'postgres', store_id: id, version, moved_at })
  return rowsOf(tables)
}

const assertAlone = async ({ storage, node }: Composition): Promise<void> => {
  const now = await storage.wallMs()
  for (const other of await storage.nodes.list()) {
    const standing = standingOf(other, now)
    if (other.name === node || standing === 'stopped') continue
    refuse(
      standing === 'missing'
        ? `${other.name} (${other.place}) is missing: if it has ended, run gatehouse nodes forget ${other.name}`
        : `${other.name} (${other.place}) runs on this database; stop it first`,
    )
  }
}

const assertOwnMove = (mark: MoveMark | null, place: string): void => {
  if (mark?.state === 'leaving' && mark.data_dir !== place)
    refuse(`the data was moved to SQLite in ${mark.data_dir} on ${mark.moved_at}`)
  if (mark?.state === 'arriving') refuse('a move into this database is not finished')
}

/** No node may begin on the database from the first row that is read. */
const leaving = async <T>(
  end: PostgresEnd,
  composition: Composition,
  place: string,
  work: () => Promise<T>,
): Promise<T> => {
  const before = await end.mark()
  assertOwnMove(before, place)
  await end.setMark({ state: 'leaving', data_dir: place, moved_at: new Date().toISOString() })
  try {
    // Again: one that began meanwhile sees the mark, or is seen here.
    await assertAlone(composition)
    return await work()
  } catch (error) {
    await end.setMark(before?.state === 'leaving' ? null : before).catch(() => undefined)
    throw error
  }
}

const copyToSqlite = async (
  place: Place,
  url: string,
  { dryRun, onTable }: MoveInput,
): Promise<Record<string, number>> => {
  await using composition = await openOn(place, url)
  const { storage } = composition
  await assertAlone(composition)
  await assertVerified(composition)
  await using end = await openPostgresEnd(place.settings.database_direct_url ?? url)
  const logs = logsIn(place)
  if (dryRun) return await end.read((source) => countAll(source, [...logs.keys()]))
  const arriving = `${place.databaseFile}.arriving`
  return await leaving(end, composition, `${hostname()}:${place.dataDir}`, async () => {
    const { id, mark } = await end.read((source) =>
      fillSqlite(arriving, async (target) => {
        const told = onTable ? { onTable } : {}
        const report = await moveAll({ source, target, logs, ...told })
        return markArrived(target, storage.id, report)
      }),
    )
    renameSync(arriving, place.databaseFile)
    const { moved_at, tables } = mark
    recordMovedStore(place.dataDir, { engine: 'sqlite', store_id: id, version, moved_at })
    return rowsOf(tables)
  })
}

const writeDatabaseUrl = ({ file }: Place, url: string | null): void => {
  const text = withSetting(file, 'database_url', url)
  if (!existsSync(file) && text === '') return
  writePrivateFile(existsSync(file) ? realpathSync(file) : file, text)
}

/** The store that was left gets a name that no start looks for. */
const setAsideDatabase = ({ databaseFile }: Place, at: string): string => {
  const kept = `${databaseFile}.moved-${at.replace(/\D/g, '').slice(0, 14)}`
  const names = databaseFiles(kept)
  for (const [i, file] of databaseFiles(databaseFile).entries())
    if (existsSync(file)) renameSync(file, names[i] as string)
  return kept
}

/** Opens the store as a service would, verifies the log beside it, and records the move. Again after a kill, it goes on. */
const finish = async (place: Place, url: string | null): Promise<Omit<Moved, 'dry_run'>> => {
  const { dataDir } = place
  await using composition = await openOn(place, url)
  const { storage, app } = composition
  const mark = parseMark(await storage.meta.get(moveKey))
  if (mark?.state !== 'arriving') return refuse(`the data is in ${nameOf(url)} already`)
  await assertVerified(composition)
  writeDatabaseUrl(place, url)
  const kept = url === null ? null : setAsideDatabase(place, mark.moved_at)
  await app.nodes.recordMove(opOf(composition))
  const { engine } = storage
  return { engine, data_dir: dataDir, tables: rowsOf(mark.tables), resumed: false, kept }
}

/**
 * Moves the data of a directory into another store, while no service runs on it: copied, compared table by table, and
 * only then in the place of the old one. After a kill the same command begins anew or finishes.
 */
export async function moveStore(input: MoveInput): Promise<Moved> {
  const place = placeOf(input)
  const { dryRun } = input
  const there = recordedEngine(place.dataDir)
  const engine = input.url === null ? 'sqlite' : 'postgres'
  if (there === engine) {
    if (dryRun) return refuse(`the data is in ${nameOf(input.url)} already`)
    return { ...(await finish(place, input.url)), resumed: true, dry_run: false }
  }
  const tables =
    input.url === null
      ? await copyToSqlite(
          place,
          place.settings.database_url ?? refuse('database_url is not set'),
          input,
        )
      : await copyToPostgres(place, input.url, input)
  if (dryRun)
    return {
      ...{ engine, tables, data_dir: place.dataDir },
      ...{ dry_run: true, resumed: false, kept: null },
    }
  return { ...(await finish(place, input.url)), dry_run: false }
}
