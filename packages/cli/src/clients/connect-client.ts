import { resolve } from 'node:path'
import type { Context } from '../define.ts'
import { changeHooks, readHooks } from './change-hooks.ts'
import { entryName, type Place, type Scope } from './client.ts'
import { gateLine, type HookSpec, hookLine, hookSpecs } from './client-hooks.ts'
import { changeEntry, loadFormat, readServers } from './config-format.ts'
import {
  type Backup,
  type Connection,
  type ConnectionFiles,
  connectionFiles,
  connectionName,
  keepConnection,
  readConnection,
} from './connection.ts'
import { findTarget, type Target } from './find-client.ts'
import { type HookToken, planHookToken, provideHookToken } from './hook-token.ts'
import { type AgentStep, planAgent, provideToken } from './plan-agent.ts'
import { type Change, type Edit, keptOf, makeEdit, planEdit } from './plan-edit.ts'

export type ConnectRequest = {
  readonly client: string
  readonly scope: Scope | undefined
  readonly folder: string | undefined
  readonly agent: string | undefined
  readonly start: boolean
  readonly 'no-hooks': boolean
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

type Planning = {
  readonly context: Context
  readonly target: Target
  readonly dataDir: string
  readonly files: ConnectionFiles
  readonly known: Connection | null
}

async function setEntry(
  { context, target, dataDir, files }: Planning,
  start: boolean,
  { file, text }: { readonly file: string; readonly text: string },
): Promise<Change> {
  const { client } = target
  const format = await loadFormat(client.format)
  const list = [client.key]
  const args = bridgeArgs(context, dataDir, files.token, start)
  const entry = client.entry({ command: context.io.self[0], args })
  const had = entryName in readServers(format, file, text, list)
  return { had, after: changeEntry(format, { file, text, list, name: entryName, entry }) }
}

async function setHooks(
  { context, target, dataDir, files }: Planning,
  spec: HookSpec,
  { file, text }: { readonly file: string; readonly text: string },
): Promise<Change> {
  const { id } = target.client
  const format = await loadFormat(spec.format)
  const flags = ['--token-file', files.hookToken, '--data-dir', dataDir]
  const { platform } = process
  const line = hookLine([...context.io.self, 'hook', id, ...flags], platform)
  const items = spec.items(line, platform)
  const lists = Object.values(readHooks(format, file, text, Object.keys(items)))
  const had = lists.flat().some((item) => gateLine(item, id) !== null)
  const { isVersioned } = spec
  return { had, after: changeHooks(format, { file, text, client: id, items, isVersioned }) }
}

export const hooksFile = (
  spec: HookSpec,
  { scope, folder }: Target,
  place: Omit<Place, 'folder'>,
): string => spec.files[scope]({ ...place, folder })

/** Files to change: the entry of the server, and the hooks in a file of theirs or in the same. */
async function planEdits(
  planning: Planning,
  start: boolean,
  hooks: { readonly spec: HookSpec; readonly name: string } | null,
): Promise<{ readonly entry: Edit; readonly hooks: Edit | null }> {
  const { target, files, known } = planning
  const mode = modes[target.scope]
  const isShared = hooks?.name === target.file
  const entry = await planEdit(
    target.file,
    mode,
    { known, backup: files.backup },
    async (file, text) => {
      const server = await setEntry(planning, start, { file, text })
      if (!hooks || !isShared) return server
      const both = await setHooks(planning, hooks.spec, { file, text: server.after })
      return { after: both.after, had: server.had || both.had }
    },
  )
  if (!hooks || isShared) return { entry, hooks: null }
  const kept = { known: known?.hooks?.file ?? null, backup: files.hooksBackup }
  const change = (file: string, text: string) => setHooks(planning, hooks.spec, { file, text })
  return { entry, hooks: await planEdit(hooks.name, mode, kept, change) }
}

export type ConnectPlan = {
  readonly target: Target
  readonly agent: string
  readonly step: AgentStep
  readonly files: ConnectionFiles
  readonly known: Connection | null
  readonly entry: Edit
  /** Null where they have no file of their own. */
  readonly hooks: Edit | null
  /** Null without hooks. */
  readonly hookToken: HookToken | null
  /** Where the hooks are; null without them. */
  readonly hooksIn: string | null
  readonly isDry: boolean
}

/** Changes that connect a client; nothing is changed yet. */
export async function planConnection(
  context: Context,
  given: ConnectRequest,
): Promise<ConnectPlan> {
  const { env } = context.io
  const place = { env, platform: process.platform }
  const target = findTarget(given.client, given.scope ?? 'user', { ...place, folder: given.folder })
  const { dir, isThere } = await findDataDir(context)
  const usual = connectionName(target.client, target.scope, target.folder)
  const files = connectionFiles(dir, usual)
  const known = await readConnection(files)
  const spec = given['no-hooks'] ? undefined : hookSpecs[target.client.id]
  const hooked = spec ? { spec, name: hooksFile(spec, target, place) } : null
  const planning = { context, target, dataDir: dir, files, known }
  const edits = await planEdits(planning, given.start, hooked)
  const agent = given.agent ?? known?.agent ?? usual
  const step = isThere ? await planAgent(context.api, agent, files.token) : 'create'
  const tokens = isThere ? context.api : { listUserTokens: async () => ({ user_tokens: [] }) }
  const wanted = { agent, file: files.hookToken }
  const hookToken = hooked ? await planHookToken(tokens, known?.hooks, wanted) : null
  const hooksIn = hooked ? (edits.hooks ?? edits.entry).file.path : null
  return {
    target,
    agent,
    step,
    files,
    known,
    ...edits,
    hookToken,
    hooksIn,
    isDry: given['dry-run'],
  }
}

export const editsOf = ({ entry, hooks }: Pick<ConnectPlan, 'entry' | 'hooks'>): readonly Edit[] =>
  hooks ? [entry, hooks] : [entry]

export const changesNothing = (planned: ConnectPlan): boolean =>
  editsOf(planned).every(({ before, after }) => before === after) &&
  planned.step === 'keep' &&
  planned.hookToken?.step !== 'create'

/** The record of a connection, and the bytes to keep with it. */
async function recordOf(planned: ConnectPlan, tokenId: string | null) {
  const { target, agent, known, entry, hooks } = planned
  const ofEntry = await keptOf(entry)
  const ofHooks = hooks ? await keptOf(hooks) : null
  const kept = tokenId === null ? known?.hooks : { token_id: tokenId, file: ofHooks?.kept ?? null }
  const connection: Connection = {
    client: target.client.id,
    scope: target.scope,
    agent,
    ...ofEntry.kept,
    ...(kept ? { hooks: kept } : {}),
  }
  const backups: Backup[] = [ofEntry.backup, ...(ofHooks ? [ofHooks.backup] : [])]
  return { connection, backups }
}

/** Takes the planned steps: the agent and its tokens first, the configuration of the client last. */
export async function makeConnection(
  context: Context,
  planned: ConnectPlan,
  mount: readonly string[],
): Promise<void> {
  const { target, agent, step, files, hookToken } = planned
  const wanted = { name: agent, purpose: `Calls of ${target.client.title}`, mount }
  await provideToken(context.api, step, wanted, files)
  const tokenId = hookToken ? await provideHookToken(context.api, hookToken, agent, files) : null
  const { connection, backups } = await recordOf(planned, tokenId)
  await keepConnection(files, connection, backups)
  for (const edit of editsOf(planned)) await makeEdit(edit)
}

export const agentLine: Readonly<Record<AgentStep, (agent: string) => string>> = {
  create: (agent) => `The agent ${agent} is created for it.`,
  keep: (agent) => `It uses the agent ${agent}, whose token is in place.`,
  rotate: (agent) => `The agent ${agent} gets a new token; its present one ends.`,
  restore: (agent) => `The agent ${agent} was revoked, and is restored with a new token.`,
}
