import { scopes } from '../clients/client.ts'
import {
  agentLine,
  changesNothing,
  makeConnection,
  planConnection,
} from '../clients/connect-client.ts'
import { diffOf, paintDiff } from '../clients/show-change.ts'
import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'

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
    const planned = await planConnection(context, given)
    const { file, before, after, isDry, agent, step } = planned
    const diff = diffOf(file.path, before, after)
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
    planned.isDry || changesNothing(planned) ? null : `Connect ${planned.target.client.title}?`,
  async run(context, { mount = [] }, planned) {
    const { target, agent, files, file, before, after, isDry } = planned
    const { client, scope } = target
    const diff = diffOf(file.path, before, after)
    const isChanged = !isDry && !changesNothing(planned)
    // Where there is no data yet, this makes it; the token lies within.
    const served = isDry || (await context.isServed())
    if (isChanged) await makeConnection(context, planned, mount)
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
