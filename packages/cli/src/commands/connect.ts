import { shellWord } from '@gatehouse/contract/shell-word'
import { CliError } from '../cli-error.ts'
import { scopes } from '../clients/client.ts'
import { hookSpecs } from '../clients/client-hooks.ts'
import {
  agentLine,
  type ConnectPlan,
  changesNothing,
  editsOf,
  makeConnection,
  planConnection,
} from '../clients/connect-client.ts'
import { isAskedTwice } from '../clients/inspect-hooks.ts'
import { type ListedClient, listClients } from '../clients/list-clients.ts'
import { diffOf, paintDiff } from '../clients/show-change.ts'
import { type Context, defineCommand, type View } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { renderTable } from '../table.ts'

const diffsOf = (planned: ConnectPlan): string =>
  editsOf(planned)
    .map(({ file, before, after }) => diffOf(file.path, before, after))
    .filter((diff) => diff !== '')
    .join('\n')

/** The folder in which each call of Copilot CLI is asked about twice from now on, as far as its files can be read. */
async function askedTwiceIn(
  { io }: Context,
  { client, folder }: ConnectPlan['target'],
): Promise<string | null> {
  if (client.id !== 'copilot' && client.id !== 'claude-code') return null
  try {
    const place = { env: io.env, platform: process.platform, folder }
    return (await isAskedTwice(place)) ? folder : null
  } catch (error) {
    // The file of another program is no fault of ours.
    if (error instanceof CliError) return null
    throw error
  }
}

function twiceLines(folder: string, next: View['next']): string[] {
  const place = `--scope project --folder ${shellWord(folder)}`
  return [
    `Copilot CLI runs the hooks of Claude Code in ${escapeText(folder)} as well as its own: each of its calls there is asked about twice.`,
    '  To be asked once, connect Claude Code for you everywhere instead:',
    `  ${escapeText(next(`disconnect claude-code ${place}`))}`,
    `  ${next('connect claude-code')}`,
  ]
}

async function connect(context: Context, planned: ConnectPlan, mount: readonly string[]) {
  const { target, agent, files, entry, hooks, hooksIn, isDry } = planned
  const { client, scope } = target
  const diff = diffsOf(planned)
  const isChanged = !isDry && !changesNothing(planned)
  // Where there is no data yet, this makes it; the token lies within.
  const served = isDry || (await context.isServed())
  if (isChanged) await makeConnection(context, planned, mount)
  const trusting = hooksIn === null ? null : (hookSpecs[client.id]?.afterwards ?? null)
  return {
    client: client.id,
    scope,
    file: entry.file.path,
    hooks:
      hooksIn === null
        ? null
        : {
            file: hooksIn,
            token_file: files.hookToken,
            backup: isChanged && hooks && hooks.file.bytes !== null ? files.hooksBackup : null,
          },
    agent,
    token_file: files.token,
    backup: isChanged && entry.file.bytes !== null ? files.backup : null,
    changed: isChanged,
    dry_run: isDry,
    diff,
    asked_twice_in: isDry ? null : await askedTwiceIn(context, target),
    afterwards: trusting === null ? client.afterwards : `${client.afterwards} ${trusting}`,
    served,
  }
}

type Connected = Awaited<ReturnType<typeof connect>>

function connectedText(done: Connected, { next, coloured }: View): string {
  const { client, file, hooks, agent, changed, dry_run, diff, backup, afterwards, served } = done
  const { asked_twice_in } = done
  if (dry_run) return diff === '' ? 'Nothing would change.' : paintDiff(diff, coloured)
  if (!changed) return `${client} is connected already, as ${agent}.`
  const backups = [backup, hooks?.backup ?? null].filter((path) => path !== null)
  return [
    `${client} is connected as the agent ${agent}. ${afterwards}`,
    `Changed: ${[...new Set([file, ...(hooks ? [hooks.file] : [])])].map(escapeText).join(', ')}`,
    ...(hooks
      ? ['Its own tools are decided by the gate from now on.']
      : hookSpecs[client]
        ? ['Its own tools bypass the gate.']
        : []),
    ...(asked_twice_in === null ? [] : twiceLines(asked_twice_in, next)),
    ...backups.map((path) => `As it was before: ${escapeText(path)}`),
    ...(served ? [] : [`No server runs yet. Start it: ${next('serve')}`]),
    `Undo: ${next(`disconnect ${client}`)}`,
  ].join('\n')
}

function listText(found: readonly ListedClient[], view: View): string {
  const table = renderTable(
    [
      { title: 'CLIENT', value: ({ client }) => client },
      { title: 'CONNECTED', value: ({ connected }) => (connected ? 'yes' : 'no') },
      { title: 'ITS OWN TOOLS', value: ({ hooks }) => hooks },
    ],
    found,
    view,
  )
  return `${table}\nConnect one: ${view.next('connect CLIENT')}`
}

export const connectClient = defineCommand({
  name: 'connect',
  summary: 'Connect a coding agent: create an agent for it and configure it',
  args: {
    client: {
      about:
        'claude-code, claude-desktop, cursor, vscode, codex, gemini, copilot, zed or windsurf; without it, list those on this machine',
      optional: true,
    },
  },
  options: {
    scope: { value: 'SCOPE', choices: scopes, about: 'for you everywhere, or for one project' },
    folder: { value: 'DIR', about: "the project's folder (the working folder)" },
    agent: { value: 'NAME', about: "name of the agent (the client's name)" },
    mount: { value: 'PATHS', many: true, about: 'folders a new agent may read; PATH:rw to write' },
    start: { about: 'let the client start the server when none runs' },
    'no-hooks': { about: "don't install the hooks that put the client's own tools under policy" },
    'dry-run': { about: 'show the change without making it' },
  },
  examples: [
    'gatehouse connect claude-code',
    'gatehouse connect vscode --scope project --mount /srv/app:rw',
    'gatehouse connect codex --dry-run',
    'gatehouse connect',
  ],
  withoutData: 'begins',
  async look(context, { client, ...given }) {
    if (client === undefined) return null
    const planned = await planConnection(context, { client, ...given })
    const { isDry, agent, step } = planned
    const diff = diffsOf(planned)
    if (!isDry && !changesNothing(planned))
      await context.note(
        [
          ...(diff === '' ? [] : [paintDiff(diff, context.views.stderr.coloured), '']),
          agentLine[step](agent),
        ].join('\n'),
      )
    return planned
  },
  question: (_given, planned) =>
    planned === null || planned.isDry || changesNothing(planned)
      ? null
      : `Connect ${planned.target.client.title}?`,
  async run(context, { folder, mount = [] }, planned) {
    if (planned) return connect(context, planned, mount)
    const { env } = context.io
    return {
      clients: await listClients({
        env,
        platform: process.platform,
        folder: folder ?? process.cwd(),
      }),
    }
  },
  text: (done, view) =>
    'clients' in done ? listText(done.clients, view) : connectedText(done, view),
})
