import { readFile } from 'node:fs/promises'
import { ClientError } from '@gatehouse/rest-client'
import { CliError } from '../cli-error.ts'
import { type ClientSpec, clients } from '../clients/client.ts'
import { type ConfigFile, readConfigFile, textOf, writeConfigFile } from '../clients/config-file.ts'
import { changeEntry, isMembers, loadFormat, readServers } from '../clients/config-format.ts'
import { sha256 } from '../clients/connection.ts'
import { agentToRevoke, endConnection, planDisconnection } from '../clients/disconnect-client.ts'
import type { Context } from '../define.ts'
import { exitCodes } from '../exit-codes.ts'
import { forgetImport, type KeptImport, readImports } from './import-record.ts'

type Restored = { readonly bytes: Buffer; readonly exact: boolean }

export type FileUndo = {
  readonly file: ConfigFile
  readonly after: Buffer
  /** Whether it is as it was before, to the byte. */
  readonly exact: boolean
  readonly kept: readonly KeptImport[]
}

export type UndoPlan = {
  readonly files: readonly FileUndo[]
  /** Servers behind the gate that no other import needs. */
  readonly upstreams: readonly string[]
}

const clientOf = (id: string): ClientSpec => {
  const client = clients.find((one) => one.id === id)
  if (client) return client
  throw new CliError(
    'ConfigUnusable',
    exitCodes.failed,
    `An import is of ${id}, which is no client.`,
  )
}

/** One import taken back: the bytes of before, or only the entries, where the file has changed since. */
async function restored(before: Restored, kept: KeptImport): Promise<Restored> {
  const { file, backup, client, servers } = kept
  const original = await readFile(backup)
  if (sha256(before.bytes) === kept.written) return { ...before, bytes: original }
  const { format: name, key } = clientOf(client)
  const format = await loadFormat(name)
  const source = readServers(format, backup, original.toString(), key)
  let text = before.bytes.toString()
  for (const { name: server } of servers.toReversed()) {
    const entry = source[server]
    // One that somebody has put there since is theirs.
    if (isMembers(entry) && !(server in readServers(format, file, text, key)))
      text = changeEntry(format, { file, text, key, name: server, entry })
  }
  return { bytes: Buffer.from(text), exact: false }
}

async function planFile(name: string, kept: readonly KeptImport[]): Promise<FileUndo> {
  const file = await readConfigFile(name, 0o600)
  let now: Restored = { bytes: Buffer.from(textOf(file)), exact: true }
  for (const one of kept) now = await restored(now, one)
  return { file, after: now.bytes, exact: now.exact, kept }
}

/** What undoing the imports of some clients, or of all, would do. Raises `NotImported` where there is none. */
export async function planUndo(context: Context, ids: readonly string[]): Promise<UndoPlan> {
  const all = await readImports(await context.dataDir())
  const kept = all.filter(({ client }) => ids.length === 0 || ids.includes(client))
  if (kept.length === 0)
    throw new CliError('NotImported', exitCodes.notFound, 'There is no import to undo.')
  const names = [...new Set(kept.map(({ file }) => file))]
  const files: FileUndo[] = []
  for (const name of names)
    files.push(
      await planFile(
        name,
        kept.filter(({ file }) => file === name),
      ),
    )
  const needed = new Set(
    all
      .filter((one) => !kept.includes(one))
      .flatMap((one) => one.servers.map(({ upstream }) => upstream)),
  )
  const upstreams = new Set(kept.flatMap((one) => one.servers.map(({ upstream }) => upstream)))
  return { files, upstreams: [...upstreams].filter((name) => !needed.has(name)) }
}

/** Takes a client off that an import has connected, unless somebody has done so already. */
async function disconnect(context: Context, { client, scope, folder }: KeptImport): Promise<void> {
  try {
    const place = { client, scope, folder: scope === 'project' ? folder : undefined }
    const planned = await planDisconnection(context, place)
    await endConnection(context, planned, await agentToRevoke(context, planned, false))
  } catch (error) {
    if (!(error instanceof CliError && error.type === 'NotConnected')) throw error
  }
}

async function removeUpstream({ api }: Context, name: string): Promise<void> {
  try {
    await api.removeUpstream({ name })
  } catch (error) {
    if (!(error instanceof ClientError && error.status === 404)) throw error
  }
}

/** Puts the files back first, so that no client is without a server; forgets the secrets last. */
export async function undoImports(context: Context, { files, upstreams }: UndoPlan): Promise<void> {
  for (const { file, after } of files)
    if (file.bytes === null || !file.bytes.equals(after)) await writeConfigFile(file, after)
  for (const name of upstreams) await removeUpstream(context, name)
  for (const { kept } of files) {
    const connecting = kept.find(({ connected }) => connected)
    if (connecting) await disconnect(context, connecting)
  }
  for (const { kept } of files) for (const one of kept) await forgetImport(one)
}

/** What an undo has done, or would do. */
export const undoneOf = ({ files, upstreams }: UndoPlan, isDry: boolean) => ({
  dry_run: isDry,
  files: files.map(({ file, exact }) => ({ file: file.path, restored: exact })),
  removed: upstreams,
})

export type Undone = ReturnType<typeof undoneOf>
