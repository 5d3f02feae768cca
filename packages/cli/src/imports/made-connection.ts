import { access, readFile, rm } from 'node:fs/promises'
import type { Scope } from '../clients/client.ts'
import { readConfigFile, sweepBeside } from '../clients/config-file.ts'
import type { ConnectPlan } from '../clients/connect-client.ts'
import { connectionFiles, connectionName, readConnection } from '../clients/connection.ts'
import { agentToRevoke, endConnection, planDisconnection } from '../clients/disconnect-client.ts'
import { findTarget } from '../clients/find-client.ts'
import type { Context } from '../define.ts'

/** A connection that an import makes for a client. */
export type MadeConnection = {
  readonly client: string
  readonly scope: Scope
  /** Folder of the project. */
  readonly folder: string
  readonly agent: string
  /** Whether the agent was created or restored for it. */
  readonly new_agent: boolean
}

export const madeConnectionOf = ({ target, agent, step }: ConnectPlan): MadeConnection => ({
  client: target.client.id,
  scope: target.scope,
  folder: target.folder,
  agent,
  new_agent: step === 'create' || step === 'restore',
})

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/** Ends a connection that an import has made, or begun to make, unless somebody has done so already. */
export async function endMadeConnection(context: Context, made: MadeConnection): Promise<void> {
  const { client, scope, agent, new_agent } = made
  const folder = scope === 'project' ? made.folder : undefined
  const place = { env: context.io.env, platform: process.platform }
  const target = findTarget(client, scope, { ...place, folder })
  const name = connectionName(target.client, scope, target.folder)
  const files = connectionFiles(await context.dataDir(), name)
  for (const path of [files.record, files.backup]) await sweepBeside(path)
  if (await readConnection(files)) {
    const planned = await planDisconnection(context, { client, scope, folder })
    return endConnection(context, planned, await agentToRevoke(context, planned, false))
  }
  // Without a record the configuration was not changed. The file of a token is there before its agent.
  const beside = `${files.token}.new`
  const tokens = new_agent ? [beside, files.token] : [beside]
  const left = await Promise.all(tokens.map(isThere))
  if (new_agent && left.includes(true)) {
    const { agents } = await context.api.listAgents()
    if (agents.some(({ name, status }) => name === agent && status !== 'revoked'))
      await context.api.revokeAgent({ name: agent })
  }
  for (const path of tokens) await rm(path, { force: true })
  const { bytes } = await readConfigFile(target.file, 0o600)
  const backup = await readFile(files.backup).catch(() => null)
  if (bytes && backup?.equals(bytes)) await rm(files.backup)
}
