import { readFile } from 'node:fs/promises'
import { CliError } from '../cli-error.ts'
import { entryName, scopes } from '../clients/client.ts'
import {
  readConfigFile,
  removeConfigFile,
  textOf,
  writeConfigFile,
} from '../clients/config-file.ts'
import { changeEntry, loadFormat } from '../clients/config-format.ts'
import {
  connectionFiles,
  connectionName,
  forgetConnection,
  readConnection,
  sha256,
} from '../clients/connection.ts'
import { findTarget } from '../clients/find-client.ts'
import { diffOf, paintDiff } from '../clients/show-change.ts'
import { type Context, defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { exitCodes } from '../exit-codes.ts'

type Given = {
  readonly client: string
  readonly scope: (typeof scopes)[number] | undefined
  readonly folder: string | undefined
  readonly 'keep-agent': boolean
  readonly 'dry-run': boolean
}

/** The file as it was before, if nothing else has changed since; otherwise without our entry. */
async function plan(context: Context, given: Given) {
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

type Plan = Awaited<ReturnType<typeof plan>>

async function undo({ file, before, after, known, isAsWritten }: Plan): Promise<void> {
  if (isAsWritten && !known?.existed) await removeConfigFile(file, known?.folder ?? null)
  else if (after.toString() !== before) await writeConfigFile(file, after)
}

/** The agent that was made for the client, unless it is kept or was revoked already. */
async function agentOf({ api }: Context, { known }: Plan, keep: boolean): Promise<string | null> {
  if (known === null || keep) return null
  const { agents } = await api.listAgents()
  const agent = agents.find(({ name }) => name === known.agent)
  return agent && agent.status !== 'revoked' ? agent.name : null
}

export const disconnectClient = defineCommand({
  name: 'disconnect',
  summary: 'Take a coding agent off: its entry, its token and its agent',
  args: { client: 'the client, as connect names it' },
  options: {
    scope: { value: 'SCOPE', choices: scopes, about: 'for you everywhere, or for one project' },
    folder: { value: 'DIR', about: "the project's folder (the working folder)" },
    'keep-agent': { about: 'do not revoke its agent' },
    'dry-run': { about: 'show the change without making it' },
  },
  examples: ['gatehouse disconnect claude-code', 'gatehouse disconnect cursor --dry-run'],
  async look(context, given) {
    const planned = await plan(context, given)
    const { file, before, after } = planned
    const agent = await agentOf(context, planned, given['keep-agent'])
    const diff = diffOf(file.path, before, after.toString())
    if (!given['dry-run'] && diff !== '')
      await context.note(paintDiff(diff, context.views.stderr.coloured))
    return { ...planned, agent, diff }
  },
  question({ 'dry-run': isDry }, { client, agent }) {
    if (isDry) return null
    const revoking = agent === null ? '' : ` and revoke its agent ${agent}`
    return `Disconnect ${client.title}${revoking}?`
  },
  async run({ api }, { 'dry-run': isDry }, planned) {
    const { client, scope, files, file, isAsWritten, agent, diff } = planned
    if (!isDry) {
      await undo(planned)
      if (agent !== null) await api.revokeAgent({ name: agent })
      await forgetConnection(files, !isAsWritten)
    }
    return {
      client: client.id,
      scope,
      file: file.path,
      restored: isAsWritten && !isDry,
      revoked: isDry ? null : agent,
      dry_run: isDry,
      diff,
    }
  },
  text({ client, file, restored, revoked, dry_run, diff }, { next, coloured }) {
    if (dry_run) return diff === '' ? 'Nothing would change.' : paintDiff(diff, coloured)
    const path = escapeText(file)
    return [
      restored
        ? `${client} is disconnected; ${path} is as it was before.`
        : `${client} is disconnected; only the entry of Gatehouse was taken out of ${path}.`,
      ...(revoked === null ? [] : [`The agent ${revoked} is revoked.`]),
      `Connect it again: ${next(`connect ${client}`)}`,
    ].join('\n')
  },
})
