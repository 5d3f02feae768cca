import { createHash } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { ClientSpec, Scope } from './client.ts'
import { replaceFile } from './config-file.ts'

/** A file that was changed, as it was before. */
export type KeptFile = {
  readonly file: string
  /** SHA-256 of the file as it was written; while it is that, the backup brings back what was before. */
  readonly written: string
  /** Whether there was a file before; its bytes are the backup. */
  readonly existed: boolean
  /** Folder that was made for the file. */
  readonly folder: string | null
}

export type KeptHooks = {
  readonly token_id: string
  /** Null where they are in the file of the servers. */
  readonly file: KeptFile | null
}

/** Record of how a client was connected, kept in the data directory so that it can be undone. */
export type Connection = KeptFile & {
  readonly client: string
  readonly scope: Scope
  readonly agent: string
  readonly hooks?: KeptHooks
}

/** Files of a connection in the data directory. */
export type ConnectionFiles = {
  readonly dir: string
  readonly record: string
  readonly backup: string
  readonly token: string
  readonly hooksBackup: string
  readonly hookToken: string
}

export const sha256 = (content: string | Buffer): string =>
  createHash('sha256').update(content).digest('hex')

const slug = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 30)

/** One for each client and place; also the name of the agent, unless another is asked for. */
export function connectionName({ id }: ClientSpec, scope: Scope, folder: string): string {
  if (scope === 'user') return id
  return [id, slug(basename(folder)), sha256(folder).slice(0, 6)].filter(Boolean).join('-')
}

export function connectionFiles(dataDir: string, name: string): ConnectionFiles {
  const dir = join(dataDir, 'connections')
  return {
    dir,
    record: join(dir, `${name}.json`),
    backup: join(dir, `${name}.backup`),
    token: join(dir, `${name}.token`),
    hooksBackup: join(dir, `${name}.hooks.backup`),
    hookToken: join(dir, `${name}.hook-token`),
  }
}

export async function readConnection({ record }: ConnectionFiles): Promise<Connection | null> {
  const text = await readFile(record, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
    throw error
  })
  return text === null ? null : (JSON.parse(text) as Connection)
}

/** The bytes of before that a change of a file keeps; null where none are to be kept. */
export type Backup = { readonly path: string; readonly bytes: Buffer | null }

/** The record and the bytes of before, so that whatever happens next can be undone. */
export async function keepConnection(
  { record }: ConnectionFiles,
  connection: Connection,
  backups: readonly Backup[],
): Promise<void> {
  for (const { path, bytes } of backups) if (bytes !== null) await replaceFile(path, bytes, 0o600)
  await replaceFile(record, `${JSON.stringify(connection, null, 2)}\n`, 0o600)
}

export async function forgetConnection(files: ConnectionFiles, keptBackups: readonly string[]) {
  const { token, hookToken, record, backup, hooksBackup } = files
  const backups = [backup, hooksBackup].filter((path) => !keptBackups.includes(path))
  // The record last: until then the same can be done again.
  for (const file of [token, hookToken, ...backups, record]) await rm(file, { force: true })
}
