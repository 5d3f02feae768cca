import { readFile } from 'node:fs/promises'
import { CliError } from '../cli-error.ts'
import type { Context } from '../define.ts'
import { exitCodes } from '../exit-codes.ts'
import { entryName, type Scope } from './client.ts'
import { readConfigFile, removeConfigFile, textOf, writeConfigFile } from './config-file.ts'
import { changeEntry, loadFormat } from './config-format.ts'
import {
  connectionFiles,
  connectionName,
  forgetConnection,
  readConnection,
  sha256,
} from './connection.ts'
import { findTarget } from './find-client.ts'

export type DisconnectRequest = {
  readonly client: string
  readonly scope: Scope | undefined
  readonly folder: string | undefined
}

/** The file as it was before, if nothing else has changed since; otherwise without our entry. */
export async function planDisconnection(context: Context, given: DisconnectRequest) {
  const { env } = context.io
  const place = { env, platform: process.platform, folder: given.folder }
  const {
    client,
    scope,
    folder,
    file: name,
  } = findTarget(given.client, given.scope ?? 'user', place)
  const files = connectionFiles(await context.dataDir(), connectionName(client, scope, folder))
  const known = await readConnection(files)
  const file = await readConfigFile(name, 0o600)
  const before = textOf(file)
  const isAsWritten = known !== null && file.bytes !== null && known.written === sha256(file.bytes)
  const format = await loadFormat(client.format)
  const change = { file: file.path, text: before, key: client.key, name: entryName }
  const original = isAsWritten && known.existed ? await readFile(files.backup) : null
  const after =
    original ?? Buffer.from(isAsWritten ? '' : changeEntry(format, { ...change, entry: undefined }))
  if (known === null && after.toString() === before)
    throw new CliError(
      'NotConnected',
      exitCodes.notFound,
      `${client.title} is not connected in ${name}.`,
    )
  return { client, scope, files, known, file, before, after, isAsWritten }
}

export type DisconnectPlan = Awaited<ReturnType<typeof planDisconnection>>

async function takeOff({ file, before, after, known, isAsWritten }: DisconnectPlan): Promise<void> {
  if (isAsWritten && !known?.existed) await removeConfigFile(file, known?.folder ?? null)
  else if (after.toString() !== before) await writeConfigFile(file, after)
}

/** The agent that was made for the client, unless it is kept or was revoked already. */
export async function agentToRevoke(
  { api }: Context,
  { known }: DisconnectPlan,
  keep: boolean,
): Promise<string | null> {
  if (known === null || keep) return null
  const { agents } = await api.listAgents()
  const agent = agents.find(({ name }) => name === known.agent)
  return agent && agent.status !== 'revoked' ? agent.name : null
}

/** Takes the entry out first, so that the client does not go on with a token that has ended. */
export async function endConnection(
  { api }: Context,
  planned: DisconnectPlan,
  agent: string | null,
): Promise<void> {
  await takeOff(planned)
  if (agent !== null) await api.revokeAgent({ name: agent })
  await forgetConnection(planned.files, !planned.isAsWritten)
}
