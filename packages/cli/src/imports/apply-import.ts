import { isDeepStrictEqual } from 'node:util'
import { CliError } from '../cli-error.ts'
import type { ClientSpec } from '../clients/client.ts'
import { readConfigFile, textOf, writeConfigFile } from '../clients/config-file.ts'
import { changeEntry, loadFormat, readServers } from '../clients/config-format.ts'
import { makeConnection } from '../clients/connect-client.ts'
import { sha256 } from '../clients/connection.ts'
import type { Context } from '../define.ts'
import { exitCodes } from '../exit-codes.ts'
import { toFailure } from '../failure.ts'
import { isWaiting } from '../upstream-text.ts'
import type { Candidate } from './candidates.ts'
import type { FoundServer } from './find-servers.ts'
import { forgetImport, keepImport } from './import-record.ts'
import { endMadeConnection, type MadeConnection, madeConnectionOf } from './made-connection.ts'
import { type Connecting, type Left, leftOf } from './plan-import.ts'
import type { Tried } from './try-server.ts'

/** A server that is behind the gate. */
export type Behind = {
  readonly candidate: Candidate
  readonly upstream: string
  readonly tools: number
  /** Whether this import added it. */
  readonly added: boolean
}

/** Adds a server and accepts what was shown of it; what can't be accepted is not kept. */
export async function putBehind(
  { api }: Context,
  { candidate, order, review }: Tried,
): Promise<Behind> {
  const { name } = order
  const added = await api.addUpstream(order)
  const behind = { candidate, upstream: name, added: true }
  if (!added.tools.some(isWaiting)) return { ...behind, tools: 0 }
  try {
    const { upstream } = await api.acceptUpstream({ name, digest: review.digest })
    return { ...behind, tools: upstream.offered }
  } catch (error) {
    await api.removeUpstream({ name })
    throw error
  }
}

/** One configuration with the servers to be taken out of it. */
type TakenOut = {
  readonly client: ClientSpec
  readonly file: string
  readonly servers: readonly { readonly server: FoundServer; readonly behind: Behind }[]
}

const byFile = (behind: readonly Behind[]): readonly TakenOut[] => {
  const all = behind.flatMap((one) => one.candidate.from.map((server) => ({ server, behind: one })))
  const clients = new Map(all.map(({ server: { config } }) => [config.file, config.client]))
  return [...clients].map(([file, client]) => ({
    client,
    file,
    servers: all.filter(({ server }) => server.config.file === file),
  }))
}

/** The text without the servers, which must be as they were found. */
async function textWithout({ file, client, servers }: TakenOut, text: string): Promise<string> {
  const format = await loadFormat(client.format)
  return servers.reduce((before, { server: { config, name, entry } }) => {
    const { list } = config
    if (!isDeepStrictEqual(readServers(format, file, text, list)[name], entry))
      throw new CliError(
        'Conflict',
        exitCodes.failed,
        `${name} has changed in ${file} in the meantime.`,
      )
    return changeEntry(format, { file, text: before, list, name, entry: undefined })
  }, text)
}

/** Takes servers out of one file; the record of it is there before, so that it can be undone. */
async function takeOut(
  dataDir: string,
  taken: TakenOut,
  connection: MadeConnection | null,
): Promise<string> {
  const file = await readConfigFile(taken.file, 0o600)
  const after = await textWithout(taken, textOf(file))
  const kept = await keepImport(
    dataDir,
    {
      client: taken.client.id,
      file: file.path,
      written: sha256(after),
      connection,
      servers: taken.servers.map(({ server, behind }) => ({
        name: server.name,
        list: server.config.list,
        upstream: behind.upstream,
        definition: behind.candidate.fingerprint,
      })),
    },
    file.bytes ?? Buffer.alloc(0),
  )
  try {
    await writeConfigFile(file, after)
    return kept.backup
  } catch (error) {
    await forgetImport(kept)
    throw error
  }
}

export type Changed = {
  readonly client: string
  readonly file: string
  readonly backup: string
  readonly connected: boolean
}

type Edited = { readonly changed: readonly Changed[]; readonly left: readonly Left[] }

/** Edits the files of one client, once it is connected; what could not be edited is named, and stays as it was. */
async function editClient(
  context: Context,
  dataDir: string,
  files: readonly TakenOut[],
  missing: Connecting | undefined,
): Promise<Edited> {
  const changed: Changed[] = []
  const left: Left[] = []
  const leave = ({ servers }: TakenOut, error: unknown) =>
    left.push(...servers.map(({ server }) => leftOf(server, toFailure(error).message)))
  const made = missing ? madeConnectionOf(missing.plan) : null
  try {
    if (missing) await makeConnection(context, missing.plan, [])
    for (const taken of files)
      try {
        const { client, file } = taken
        const backup = await takeOut(dataDir, taken, changed.length === 0 ? made : null)
        changed.push({ client: client.id, file, backup, connected: missing?.config.file === file })
      } catch (error) {
        leave(taken, error)
      }
  } catch (error) {
    for (const taken of files) leave(taken, error)
  }
  if (made && changed.length === 0) await endMadeConnection(context, made)
  return { changed, left }
}

/** Edits the files, the last step. */
export async function editFiles(
  context: Context,
  dataDir: string,
  behind: readonly Behind[],
  connecting: readonly Connecting[],
): Promise<Edited> {
  const files = byFile(behind)
  const edited: Edited[] = []
  for (const client of new Set(files.map((one) => one.client))) {
    const missing = connecting.find(({ config }) => config.client === client)
    const ofClient = files.filter((one) => one.client === client)
    edited.push(await editClient(context, dataDir, ofClient, missing))
  }
  return {
    changed: edited.flatMap(({ changed }) => changed),
    left: edited.flatMap(({ left }) => left),
  }
}
