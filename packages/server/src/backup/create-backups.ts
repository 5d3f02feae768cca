import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import type { Backups } from '../ports/backup.ts'
import { collect } from './collect.ts'
import { type Manifest, type PackedFile, pack } from './pack.ts'
import { seal } from './seal.ts'

export type GateToCopy = {
  readonly path: string
  /** The same of its log. */
  readonly copyLog: (folder: string) => Promise<void>
}

export type BackupParts = {
  readonly dataDir: string
  readonly version: string
  readonly node: string
  readonly engine: string
  /** Copies the log as it is at one moment into this folder, which is there. */
  readonly copyLog: (folder: string) => void
  /** File in the folder of workspaces that says which one it is. */
  readonly siteFile: string
  /** Folders of the other gate processes, by their names below the data directory. */
  readonly gates: () => readonly GateToCopy[]
  /** Writes a copy of the database, whole and of one moment, into a new file; null where it lies elsewhere. */
  readonly copyDatabase: ((file: string) => Promise<void>) | null
}

const prefix = '.backup-'

/** Beside the log and keys, what makes a data directory. The rest is made anew at the next start. */
const smallParts = [
  'policies',
  'policy.key',
  'tls',
  'secrets',
  'cli-token',
  'node-id',
  'store.json',
  'gatehouse.yaml',
] as const

const vaultKey = 'vault.key'

const linesOf = (file: string): string[] => {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw cause
  }
}

/** The logs of all processes of the node. */
async function* logsOf(
  { dataDir, copyLog: copyOwn, gates }: BackupParts,
  staging: string,
): AsyncGenerator<PackedFile> {
  mkdirSync(join(staging, 'audit'), { mode: 0o700 })
  copyOwn(join(staging, 'audit'))
  yield* collect(join(staging, 'audit'), 'audit')
  for (const { path, copyLog } of gates()) {
    const folder = join(staging, path, 'audit')
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    await copyLog(folder)
    yield* collect(folder, `${path}/audit`)
    yield* collect(join(dataDir, path, 'node-id'), `${path}/node-id`)
  }
}

/** Copies are made inside the data directory: they hold keys, and no other place is known to be private. */
export const createBackups = (parts: BackupParts): Backups => {
  const { dataDir } = parts
  /** Each takes as much room as the database has, and reads all of it. */
  let underWay = false
  // Remains of a crash.
  for (const name of readdirSync(dataDir))
    if (name.startsWith(prefix)) rmSync(join(dataDir, name), { recursive: true, force: true })

  async function* filesOf(staging: string, withWorkspaces: boolean): AsyncGenerator<PackedFile> {
    const copy = join(staging, 'gatehouse.db')
    await parts.copyDatabase?.(copy)
    // After the database, which is derived from it: a log that is ahead is caught up with, one behind looks cut off.
    yield* logsOf(parts, staging)
    if (parts.copyDatabase) {
      yield* collect(copy, 'gatehouse.db')
      rmSync(copy, { force: true })
    }
    // The copy of the database may be older than a new master key, or newer: each finds its key in there.
    const keys = [
      ...new Set([...linesOf(join(dataDir, vaultKey)), ...linesOf(join(staging, vaultKey))]),
    ]
    if (keys.length > 0) {
      writeFileSync(join(staging, vaultKey), `${keys.join('\n')}\n`, { mode: 0o600 })
      yield* collect(join(staging, vaultKey), vaultKey)
    }
    for (const name of smallParts) yield* collect(join(dataDir, name), name)
    // Without the files of agents the node still is the one that has their folders.
    const files = withWorkspaces ? 'workspaces' : join('workspaces', parts.siteFile)
    yield* collect(join(dataDir, files), files)
  }

  return {
    snapshot() {
      if (underWay)
        throw new GatehouseError('BackupRefused', { detail: 'another one is being made' })
      const staging = mkdtempSync(join(dataDir, prefix))
      underWay = true
      const release = () => {
        underWay = false
        rmSync(staging, { recursive: true, force: true })
      }
      try {
        const keys = linesOf(join(dataDir, vaultKey))
        writeFileSync(join(staging, vaultKey), keys.join('\n'), { mode: 0o600 })
      } catch (cause) {
        release()
        throw cause
      }
      return {
        release,
        async *stream({ secret, withWorkspaces, signal }) {
          const { version, node, engine } = parts
          const made_at = new Date().toISOString()
          const manifest: Manifest = { made_at, version, node, engine, workspaces: withWorkspaces }
          try {
            for await (const bytes of seal(
              pack(manifest, filesOf(staging, withWorkspaces)),
              secret,
            )) {
              signal.throwIfAborted()
              yield bytes
            }
          } finally {
            release()
          }
        },
      }
    },
  }
}
