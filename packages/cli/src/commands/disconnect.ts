import { scopes } from '../clients/client.ts'
import { agentToRevoke, endConnection, planDisconnection } from '../clients/disconnect-client.ts'
import { diffOf, paintDiff } from '../clients/show-change.ts'
import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'

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
    const planned = await planDisconnection(context, given)
    const { file, before, after } = planned
    const agent = await agentToRevoke(context, planned, given['keep-agent'])
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
  async run(context, { 'dry-run': isDry }, planned) {
    const { client, scope, file, isAsWritten, agent, diff } = planned
    if (!isDry) await endConnection(context, planned, agent)
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
