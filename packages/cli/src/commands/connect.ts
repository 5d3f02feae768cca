import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { entryName, scopes } from '../clients/client.ts'
import { readConfigFile, textOf, writeConfigFile } from '../clients/config-file.ts'
import { changeEntry, loadFormat, readServers } from '../clients/config-format.ts'
import {
  type Connection,
  connectionFiles,
  connectionName,
  keepConnection,
  readConnection,
  sha256,
} from '../clients/connection.ts'
import { findTarget, type Target } from '../clients/find-client.ts'
import { type AgentStep, planAgent, provideToken } from '../clients/plan-agent.ts'
import { diffOf, paintDiff } from '../clients/show-change.ts'
import { type Context, defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'

type Given = {
  readonly client: string
  readonly scope: (typeof scopes)[number] | undefined
  readonly folder: string | undefined
  readonly agent: string | undefined
  readonly start: boolean
  readonly 'dry-run': boolean
}

/** Other users may read the configuration of a project, and have no business in that of a person. */
const modes = { user: 0o600, project: 0o644 } as const

/** The data directory, which may have to be made, and whether it is there. */
const findDataDir = async ({ dataDir, places }: Context) => {
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

type Plan = Awaited<ReturnType<typeof planConfig>> & {
  readonly target: Target
  readonly agent: string
  readonly step: AgentStep
  readonly isDry: boolean
}

async function plan(context: Context, given: Given): Promise<Plan> {
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
async function recordOf({ files, file, after, target, agent, had }: Plan) {
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

const agentLine: Readonly<Record<AgentStep, (agent: string) => string>> = {
  create: (agent) => `The agent ${agent} is created for it.`,
  keep: (agent) => `It uses the agent ${agent}, whose token is in place.`,
  rotate: (agent) => `The agent ${agent} gets a new token; its present one ends.`,
  restore: (agent) => `The agent ${agent} was revoked, and is restored with a new token.`,
}

const isNothing = ({ before, after, step }: Plan): boolean => before === after && step === 'keep'

export const connectClient = defineCommand({
  name: 'connect',
  summary: 'Connect a coding agent: an agent for it, and an entry in its configuration',
  args: { client: 'claude-code, claude-desktop, cursor, vscode, codex, gemini, zed or windsurf' },
  options: {
    scope: { value: 'SCOPE', choices: scopes, about: 'for you everywhere, or for one project' },
    folder: { value: 'DIR', about: "the project's folder (the working folder)" },
    agent: { value: 'NAME', about: 'the agent that it is (named after the client)' },
    mount: { value: 'PATHS', many: true, about: 'folders a new agent may read; PATH:rw to write' },
    start: { about: 'let the client start the server when none runs' },
    'dry-run': { about: 'show the change without making it' },
  },
  examples: [
    'gatehouse connect claude-code',
    'gatehouse connect vscode --scope project --mount /srv/app:rw',
    'gatehouse connect codex --dry-run',
  ],
  withoutData: 'begins',
  async look(context, given) {
    const planned = await plan(context, given)
    const { file, before, after, isDry, agent, step } = planned
    const diff = diffOf(file.path, before, after)
    if (!isDry && !isNothing(planned))
      await context.note(
        [
          ...(diff === '' ? [] : [paintDiff(diff, context.views.stderr.coloured), '']),
          agentLine[step](agent),
        ].join('\n'),
      )
    return planned
  },
  question: (_given, planned) =>
    planned.isDry || isNothing(planned) ? null : `Connect ${planned.target.client.title}?`,
  async run(context, { mount = [] }, planned) {
    const { target, agent, step, files, file, before, after, isDry } = planned
    const { client, scope } = target
    const diff = diffOf(file.path, before, after)
    const isChanged = !isDry && !isNothing(planned)
    // Where there is no data yet, this makes it; the token lies within.
    const served = isDry || (await context.isServed())
    if (isChanged) {
      const { connection, backup } = await recordOf(planned)
      const wanted = { name: agent, purpose: `Calls of ${client.title}`, mount }
      await provideToken(context.api, step, wanted, files)
      if (before !== after) {
        await keepConnection(files, connection, backup)
        await writeConfigFile(file, after)
      }
    }
    return {
      client: client.id,
      scope,
      file: file.path,
      agent,
      token_file: files.token,
      backup: isChanged && file.bytes !== null ? files.backup : null,
      changed: isChanged,
      dry_run: isDry,
      diff,
      afterwards: client.afterwards,
      served,
    }
  },
  text({ client, file, agent, changed, dry_run, diff, backup, afterwards, served }, view) {
    const { next, coloured } = view
    if (dry_run) return diff === '' ? 'Nothing would change.' : paintDiff(diff, coloured)
    if (!changed) return `${client} is connected already, as ${agent}.`
    return [
      `${client} is connected as the agent ${agent}. ${afterwards}`,
      `Changed: ${escapeText(file)}`,
      ...(backup === null ? [] : [`As it was before: ${escapeText(backup)}`]),
      ...(served ? [] : [`No server runs yet. Start it: ${next('serve')}`]),
      `Undo: ${next(`disconnect ${client}`)}`,
    ].join('\n')
  },
})
