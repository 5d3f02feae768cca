import { CliError } from '../cli-error.ts'
import type { Context } from '../define.ts'
import { exitCodes } from '../exit-codes.ts'
import { changeHooks } from './change-hooks.ts'
import { type ClientSpec, entryName, type Scope } from './client.ts'
import { type HookSpec, hookSpecs } from './client-hooks.ts'
import { changeEntry, loadFormat } from './config-format.ts'
import { hooksFile } from './connect-client.ts'
import { connectionFiles, connectionName, forgetConnection, readConnection } from './connection.ts'
import { findTarget } from './find-client.ts'
import { endHookToken } from './hook-token.ts'
import { planUndo, type Undo, undoEdit } from './plan-edit.ts'

export type DisconnectRequest = {
  readonly client: string
  readonly scope: Scope | undefined
  readonly folder: string | undefined
}

const withoutEntry = async ({ format, key }: ClientSpec, file: string, text: string) => {
  const change = { file, text, list: [key], name: entryName, entry: undefined }
  return changeEntry(await loadFormat(format), change)
}

const withoutHooks = async (client: string, spec: HookSpec, file: string, text: string) => {
  const { format, isVersioned } = spec
  const change = { file, text, client, items: undefined, isVersioned }
  return changeHooks(await loadFormat(format), change)
}

/** Each file as it was before, if nothing else has changed in it since; otherwise without what is ours. */
export async function planDisconnection(context: Context, given: DisconnectRequest) {
  const place = { env: context.io.env, platform: process.platform }
  const target = findTarget(given.client, given.scope ?? 'user', { ...place, folder: given.folder })
  const { client, scope, folder } = target
  const files = connectionFiles(await context.dataDir(), connectionName(client, scope, folder))
  const known = await readConnection(files)
  const spec = hookSpecs[client.id]
  const hooksName = spec ? hooksFile(spec, target, place) : null
  const isShared = hooksName === target.file
  const entry = await planUndo(target.file, { known, backup: files.backup }, async (file, text) => {
    const without = await withoutEntry(client, file, text)
    return spec && isShared ? withoutHooks(client.id, spec, file, without) : without
  })
  const undos: Undo[] = [entry]
  if (spec && hooksName !== null && !isShared) {
    const kept = { known: known?.hooks?.file ?? null, backup: files.hooksBackup }
    const without = (file: string, text: string) => withoutHooks(client.id, spec, file, text)
    undos.push(await planUndo(hooksName, kept, without))
  }
  const isNothing = undos.every(({ before, after }) => after.toString() === before)
  if (known === null && isNothing)
    throw new CliError(
      'NotConnected',
      exitCodes.notFound,
      `${client.title} is not connected in ${target.file}.`,
    )
  return { client, scope, files, known, undos }
}

export type DisconnectPlan = Awaited<ReturnType<typeof planDisconnection>>

/** The agent that was made for the client, unless it is kept or was revoked already. */
export async function agentToRevoke(
  { api }: Context,
  { known }: Pick<DisconnectPlan, 'known'>,
  keep: boolean,
): Promise<string | null> {
  if (known === null || keep) return null
  const { agents } = await api.listAgents()
  const agent = agents.find(({ name }) => name === known.agent)
  return agent && agent.status !== 'revoked' ? agent.name : null
}

/** Takes entry and hooks out first, so that the client does not go on with tokens that have ended. */
export async function endConnection(
  { api }: Context,
  { files, known, undos }: DisconnectPlan,
  agent: string | null,
): Promise<void> {
  // The last change first: a folder that was made for both files is empty only then.
  for (const undo of undos.toReversed()) await undoEdit(undo)
  if (known?.hooks) await endHookToken(api, known.hooks.token_id)
  if (agent !== null) await api.revokeAgent({ name: agent })
  // The bytes of before stay where they were not brought back.
  const kept = undos.filter(({ isRestored }) => !isRestored).map(({ backup }) => backup)
  await forgetConnection(files, kept)
}
