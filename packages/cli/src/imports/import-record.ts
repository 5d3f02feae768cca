import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../clients/config-file.ts'
import type { List } from '../clients/config-format.ts'
import type { MadeConnection } from './made-connection.ts'

/** Record of what an import did to one file, kept in the data directory so that it can be undone. */
export type ImportRecord = {
  readonly client: string
  readonly file: string
  /** SHA-256 of the file as it was written; while it is that, the backup brings back what was before. */
  readonly written: string
  /** The connection that was made for it, which ends with it. */
  readonly connection: MadeConnection | null
  readonly servers: readonly {
    /** Name of the server in the client, where its list is in the file, and its name behind the gate. */
    readonly name: string
    readonly list: List
    readonly upstream: string
    /** Fingerprint of its definition. */
    readonly definition: string
  }[]
}

export type KeptImport = ImportRecord & {
  readonly number: number
  readonly record: string
  /** The bytes of before, with whatever secrets they hold. */
  readonly backup: string
}

export const importsFolder = (dataDir: string): string => join(dataDir, 'imports')

const pathsOf = (dataDir: string, number: number) => {
  const start = join(importsFolder(dataDir), `${number}`.padStart(6, '0'))
  return { number, record: `${start}.json`, backup: `${start}.backup` }
}

/** Imports that were not undone, the latest first. */
export async function readImports(dataDir: string): Promise<readonly KeptImport[]> {
  const names = await readdir(importsFolder(dataDir)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const numbers = names
    .filter((name) => /^\d+\.json$/.test(name))
    .map((name) => Number.parseInt(name, 10))
  const kept: KeptImport[] = []
  for (const number of numbers.toSorted((a, b) => b - a)) {
    const paths = pathsOf(dataDir, number)
    kept.push({ ...(JSON.parse(await readFile(paths.record, 'utf8')) as ImportRecord), ...paths })
  }
  return kept
}

/** Number of the next record. */
export async function nextNumber(dataDir: string): Promise<number> {
  const [latest] = await readImports(dataDir)
  return (latest?.number ?? 0) + 1
}

/**
 * Keeps the record and the bytes of before, the record last: what has one can be undone.
 * @SECURITY The bytes hold secrets that are in no configuration any more: private to this user, deleted by the undo;
 * import-clients.test.ts.
 */
export async function keepImport(
  dataDir: string,
  record: ImportRecord,
  before: Buffer,
): Promise<KeptImport> {
  const paths = pathsOf(dataDir, await nextNumber(dataDir))
  await replaceFile(paths.backup, before, 0o600)
  await replaceFile(paths.record, `${JSON.stringify(record, null, 2)}\n`, 0o600)
  return { ...record, ...paths }
}

export async function forgetImport({ record, backup }: KeptImport): Promise<void> {
  // A record without its backup could not be undone.
  await rm(record, { force: true })
  await rm(backup, { force: true })
}
