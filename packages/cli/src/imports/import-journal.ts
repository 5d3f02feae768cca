import { randomBytes } from 'node:crypto'
import { link, mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { UpstreamServer } from '@gatehouse/contract'
import { CliError } from '../cli-error.ts'
import { replaceFile } from '../clients/config-file.ts'
import { exitCodes } from '../exit-codes.ts'
import { isAlive } from '../run-file.ts'
import { importsFolder } from './import-record.ts'
import type { MadeConnection } from './made-connection.ts'

/** A server behind the gate: one of this name with another command or address is another server. */
export type AddedServer = { readonly name: string; readonly server: UpstreamServer }

/** All that an import, or an undo of imports, is about to touch. */
export type ImportSteps = {
  readonly kind: 'import' | 'undo'
  /** Numbers of the records that it makes, or takes back. */
  readonly imports: readonly number[]
  /** Configurations that it writes. */
  readonly files: readonly string[]
  /** Servers that it puts behind the gate, or takes from there. */
  readonly upstreams: readonly AddedServer[]
  /** Connections that it makes, or ends. */
  readonly connections: readonly MadeConnection[]
}

/** The steps, kept from before the first until after the last, so that those of a process that was killed can be undone. */
export type Journal = ImportSteps & { readonly pid: number; readonly started_at: string }

/** No import takes that long: the process of this number is another one by then. */
const underWayMsMax = 60 * 60_000

const journalFile = (dataDir: string): string => join(importsFolder(dataDir), 'journal.json')

/** The import or undo that has not ended; null where there is none. */
export async function readJournal(dataDir: string): Promise<Journal | null> {
  const text = await readFile(journalFile(dataDir), 'utf8').catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
      throw error
    },
  )
  return text === null ? null : (JSON.parse(text) as Journal)
}

/** Whether the process that began it goes on with it. */
export const isUnderWay = ({ pid, started_at }: Journal): boolean =>
  pid !== process.pid && isAlive(pid) && Date.now() - Date.parse(started_at) < underWayMsMax

const underWay = ({ kind, pid }: Journal): CliError =>
  new CliError(
    'Conflict',
    exitCodes.failed,
    `An import is under way as process ${pid}${kind === 'undo' ? ', which undoes it' : ''}.`,
    { recovery: [{ action: 'wait until it has ended', description: 'Then try again.' }] },
  )

/** An import or undo that was killed; null where there is none. Raises `Conflict` for one that is under way. */
export async function readInterrupted(dataDir: string): Promise<Journal | null> {
  const journal = await readJournal(dataDir)
  if (journal && isUnderWay(journal)) throw underWay(journal)
  return journal
}

/** Keeps the steps, before the first is taken. `interrupted` are those that they go on with. */
export async function openJournal(
  dataDir: string,
  steps: ImportSteps,
  interrupted: Journal | null,
): Promise<void> {
  const file = journalFile(dataDir)
  const journal: Journal = { ...steps, pid: process.pid, started_at: new Date().toISOString() }
  const text = `${JSON.stringify(journal, null, 2)}\n`
  if (interrupted) return replaceFile(file, text, 0o600)
  await mkdir(importsFolder(dataDir), { recursive: true, mode: 0o700 })
  const beside = join(importsFolder(dataDir), `.journal.${randomBytes(6).toString('hex')}`)
  await replaceFile(beside, text, 0o600)
  try {
    // Fails where there is one already, unlike a rename.
    await link(beside, file)
  } catch (cause) {
    const other = await readJournal(dataDir)
    throw other ? underWay(other) : cause
  } finally {
    await rm(beside)
  }
}

/** All steps were taken. Whatever has no record was needed by none: what a killed process has left goes with it. */
export async function closeJournal(dataDir: string): Promise<void> {
  const folder = importsFolder(dataDir)
  const names = await readdir(folder)
  const isLeft = (name: string) =>
    /^\..*\.[0-9a-f]{12}$/.test(name) ||
    (name.endsWith('.backup') && !names.includes(name.replace(/backup$/, 'json')))
  for (const name of names.filter(isLeft)) await rm(join(folder, name))
  await rm(journalFile(dataDir))
}
