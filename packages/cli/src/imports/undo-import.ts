import { readFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { ClientError } from '@gatehouse/rest-client'
import { CliError } from '../cli-error.ts'
import { type ClientSpec, clients } from '../clients/client.ts'
import {
  type ConfigFile,
  readConfigFile,
  sweepBeside,
  textOf,
  writeConfigFile,
} from '../clients/config-file.ts'
import { changeEntry, isMembers, loadFormat, readServers } from '../clients/config-format.ts'
import { sha256 } from '../clients/connection.ts'
import type { Context } from '../define.ts'
import { exitCodes } from '../exit-codes.ts'
import {
  type AddedServer,
  closeJournal,
  type ImportSteps,
  type Journal,
  openJournal,
} from './import-journal.ts'
import { forgetImport, type KeptImport, readImports } from './import-record.ts'
import { endMadeConnection } from './made-connection.ts'

export type FileUndo = {
  readonly file: ConfigFile
  readonly after: Buffer
  /** Whether it is as it was before, to the byte. */
  readonly exact: boolean
  readonly kept: readonly KeptImport[]
}

export type UndoPlan = {
  /** An import or undo that was killed, which is undone, or completed, as well. */
  readonly interrupted: Journal | null
  readonly steps: ImportSteps
  readonly files: readonly FileUndo[]
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
async function restored(before: Buffer, kept: KeptImport): Promise<Buffer> {
  const { file, backup, client, servers } = kept
  const original = await readFile(backup)
  if (sha256(before) === kept.written) return original
  const format = await loadFormat(clientOf(client).format)
  let text = before.toString()
  for (const { name, list } of servers.toReversed()) {
    const entry = readServers(format, backup, original.toString(), list)[name]
    // One that somebody has put there since is theirs.
    if (isMembers(entry) && !(name in readServers(format, file, text, list)))
      text = changeEntry(format, { file, text, list, name, entry })
  }
  return Buffer.from(text)
}

/** `kept` are the imports of one file, the latest first. */
async function planFile(name: string, kept: readonly KeptImport[]): Promise<FileUndo> {
  const file = await readConfigFile(name, 0o600)
  let after: Buffer = Buffer.from(textOf(file))
  for (const one of kept) after = await restored(after, one)
  const [first] = kept.toReversed()
  const exact = first !== undefined && after.equals(await readFile(first.backup))
  return { file, after, exact, kept }
}

/** Servers behind the gate that no import but those to be undone needs. */
async function upstreamsOf(
  { api }: Context,
  kept: readonly KeptImport[],
  others: readonly KeptImport[],
  interrupted: Journal | null,
): Promise<readonly AddedServer[]> {
  const namesOf = (imports: readonly KeptImport[]) =>
    new Set(imports.flatMap((one) => one.servers.map(({ upstream }) => upstream)))
  const [names, needed] = [namesOf(kept), namesOf(others)]
  const { upstreams } = await api.listUpstreams()
  return upstreams
    .map(({ name, server }) => ({ name, server }))
    .filter(
      (one) =>
        !needed.has(one.name) &&
        (names.has(one.name) ||
          interrupted?.upstreams.some((added) => isDeepStrictEqual(added, one))),
    )
}

/**
 * Plan for undoing imports, with what is left of one that was killed. `ids` are clients, or none for all; null is
 * for that one alone. Raises `NotImported` where there is none.
 */
export async function planUndo(
  context: Context,
  ids: readonly string[] | null,
  interrupted: Journal | null,
): Promise<UndoPlan> {
  const all = await readImports(await context.dataDir())
  const isMeant = ({ number, client }: KeptImport) =>
    interrupted?.imports.includes(number) ||
    (ids !== null && (ids.length === 0 || ids.includes(client)))
  const kept = all.filter(isMeant)
  if (kept.length === 0 && !interrupted)
    throw new CliError('NotImported', exitCodes.notFound, 'There is no import to undo.')
  const others = all.filter((one) => !kept.includes(one))
  const names = [...new Set(kept.map(({ file }) => file))]
  const files: FileUndo[] = []
  for (const name of names)
    files.push(
      await planFile(
        name,
        kept.filter(({ file }) => file === name),
      ),
    )
  const connections = kept.flatMap(({ connection }) => (connection ? [connection] : []))
  return {
    interrupted,
    steps: {
      kind: 'undo',
      imports: kept.map(({ number }) => number),
      files: [...new Set([...names, ...(interrupted?.files ?? [])])],
      upstreams: await upstreamsOf(context, kept, others, interrupted),
      connections: [...connections, ...(interrupted?.connections ?? [])],
    },
    files,
  }
}

async function removeUpstream({ api }: Context, name: string): Promise<void> {
  try {
    await api.removeUpstream({ name })
  } catch (error) {
    if (!(error instanceof ClientError && error.status === 404)) throw error
  }
}

/** Puts the files back first, so that no client is without a server. Every step can be taken again. */
export async function undoImports(
  context: Context,
  { interrupted, steps, files }: UndoPlan,
): Promise<void> {
  const dataDir = await context.dataDir()
  await openJournal(dataDir, steps, interrupted)
  if (interrupted) for (const file of steps.files) await sweepBeside(file)
  for (const { file, after, kept } of files) {
    if (file.bytes === null || !file.bytes.equals(after)) await writeConfigFile(file, after)
    for (const one of kept) await forgetImport(one)
  }
  for (const { name } of steps.upstreams) await removeUpstream(context, name)
  for (const connection of steps.connections) await endMadeConnection(context, connection)
  await closeJournal(dataDir)
}

/** Result of an undo, done or planned. */
export const undoneOf = ({ interrupted, steps, files }: UndoPlan, isDry: boolean) => ({
  dry_run: isDry,
  interrupted: interrupted?.kind ?? null,
  files: files.map(({ file, exact }) => ({ file: file.path, restored: exact })),
  removed: steps.upstreams.map(({ name }) => name),
})

export type Undone = ReturnType<typeof undoneOf>
