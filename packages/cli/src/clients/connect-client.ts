import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Context } from '../define.ts'
import { entryName, type Scope } from './client.ts'
import { readConfigFile, textOf, writeConfigFile } from './config-file.ts'
import { changeEntry, loadFormat, readServers } from './config-format.ts'
import {
  type Connection,
  connectionFiles,
  connectionName,
  keepConnection,
  readConnection,
  sha256,
} from './connection.ts'
import { findTarget, type Target } from './find-client.ts'
import { type AgentStep, planAgent, provideToken } from './plan-agent.ts'

export type ConnectRequest = {
  readonly client: string
  readonly scope: Scope | undefined
  readonly folder: string | undefined
  readonly agent: string | undefined
  readonly start: boolean
  readonly 'dry-run': boolean
}

/** Other users may read the configuration of a project, and have no business in that of a person. */
const modes = { user: 0o600, project: 0o644 } as const

/** The data directory, which may have to be made, and whether it is there. */
export const findDataDir = async ({ dataDir, places }: Context) => {
  try {
    return { dir: await dataDir(), isThere: true }
  } catch (error) {
    if ((error as { type?: unknown }).type !== 'NoGatehouse') throw error
    return { dir: places.dirs[0], isThere: false }
  }
}

const bridgeArgs = (
  { io, configFile }: Context,
  dataDir: string,
  token: string,
  start: boolean,
) => {
  const [, script] = io.self
  const config = start && configFile !== undefined ? ['--config', resolve(configFile)] : []
  const flags = [...config, ...(start ? ['--start'] : [])]
  return [script, 'mcp', '--token-file', token, '--data-dir', dataDir, ...flags]
}

async function planConfig(context: Context, target: Target, dataDir: string, start: boolean) {
  const { client, scope, folder } = target
  const { io } = context
  const files = connectionFiles(dataDir, connectionName(client, scope, folder))
  const file = await readConfigFile(target.file, modes[scope])
  const before = textOf(file)
  const format = await loadFormat(client.format)
  const { key } = client
  const args = bridgeArgs(context, dataDir, files.token, start)
  const entry = client.entry({ command: io.self[0], args })
  const had = entryName in readServers(format, file.path, before, key)
  const change = { file: file.path, text: before, key, name: entryName, entry }
  const after = changeEntry(format, change)
  return { files, file, before, after, had }
}

export type ConnectPlan = Awaited<ReturnType<typeof planConfig>> & {
  readonly target: Target
  readonly agent: string
  readonly step: AgentStep
  readonly isDry: boolean
}

/** What connecting a client changes; nothing is changed yet. */
export async function planConnection(
  context: Context,
  given: ConnectRequest,
): Promise<ConnectPlan> {
  const { env } = context.io
  const place = { env, platform: process.platform, folder: given.folder }
  const target = findTarget(given.client, given.scope ?? 'user', place)
  const { dir, isThere } = await findDataDir(context)
  const config = await planConfig(context, target, dir, given.start)
  const known = await readConnection(config.files)
  const usual = connectionName(target.client, target.scope, target.folder)
  const agent = given.agent ?? known?.agent ?? usual
  const step = isThere ? await planAgent(context.api, agent, config.files.token) : 'create'
  return { ...config, target, agent, step, isDry: given['dry-run'] }
}

/** The record of a connection: what was before the first of several changes stays what is brought back. */
async function recordOf({ files, file, after, target, agent, had }: ConnectPlan) {
  const known = await readConnection(files)
  const isChained = known !== null && file.bytes !== null && known.written === sha256(file.bytes)
  const made = await stat(dirname(file.path)).then(
    () => null,
    () => dirname(file.path),
  )
  const connection: Connection = {
    client: target.client.id,
    scope: target.scope,
    file: file.path,
    agent,
    // A file that had an entry of ours before is not brought back with it.
    written: had && !isChained ? '' : sha256(after),
    existed: isChained ? known.existed : file.bytes !== null,
    folder: isChained ? known.folder : made,
  }
  return { connection, backup: isChained ? null : file.bytes }
}

export const changesNothing = ({ before, after, step }: ConnectPlan): boolean =>
  before === after && step === 'keep'

/** Takes the planned steps: the agent and its token first, the configuration of the client last. */
export async function makeConnection(
  context: Context,
  planned: ConnectPlan,
  mount: readonly string[],
): Promise<void> {
  const { target, agent, step, files, file, before, after } = planned
  const { connection, backup } = await recordOf(planned)
  const wanted = { name: agent, purpose: `Calls of ${target.client.title}`, mount }
  await provideToken(context.api, step, wanted, files)
  if (before === after) return
  await keepConnection(files, connection, backup)
  await writeConfigFile(file, after)
}

export const agentLine: Readonly<Record<AgentStep, (agent: string) => string>> = {
  create: (agent) => `The agent ${agent} is created for it.`,
  keep: (agent) => `It uses the agent ${agent}, whose token is in place.`,
  rotate: (agent) => `The agent ${agent} gets a new token; its present one ends.`,
  restore: (agent) => `The agent ${agent} was revoked, and is restored with a new token.`,
}
