import { shellWord } from '@gatehouse/contract/shell-word'
import { scopes } from '../clients/client.ts'
import { agentToRevoke, endConnection, planDisconnection } from '../clients/disconnect-client.ts'
import { diffOf, paintDiff } from '../clients/show-change.ts'
import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'

/** The bytes of before that could not be brought back without losing what has changed since. */
const keptLines = (file: string, backup: string): string[] => {
  const [kept, now] = [backup, file].map((path) => escapeText(shellWord(path)))
  return [
    '  It has changed since; the file of before is kept, with the secrets that it had.',
    `  See the difference: diff ${kept} ${now}`,
    `  Delete it if you want none of it back: rm ${kept}`,
  ]
}

export const disconnectClient = defineCommand({
  name: 'disconnect',
  summary: 'Disconnect a coding agent: undo its configuration, revoke its agent',
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
    const agent = await agentToRevoke(context, planned, given['keep-agent'])
    const diffs = planned.undos.map(({ file, before, after }) =>
      diffOf(file.path, before, after.toString()),
    )
    const diff = diffs.filter((one) => one !== '').join('\n')
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
    const { client, scope, undos, agent, diff } = planned
    if (!isDry) await endConnection(context, planned, agent)
    const files = undos
      .filter(({ known, before, after }) => known !== null || after.toString() !== before)
      .map(({ file, known, isRestored, backup }) => ({
        file: file.path,
        restored: isRestored && !isDry,
        backup: !isDry && !isRestored && known?.existed ? backup : null,
      }))
    return {
      client: client.id,
      scope,
      files,
      restored: files.every(({ restored }) => restored),
      revoked: isDry ? null : agent,
      dry_run: isDry,
      diff,
    }
  },
  text({ client, files, revoked, dry_run, diff }, { next, coloured }) {
    if (dry_run) return diff === '' ? 'Nothing would change.' : paintDiff(diff, coloured)
    return [
      `${client} is disconnected.`,
      ...files.flatMap(({ file, restored, backup }) =>
        restored
          ? [`${escapeText(file)} is as it was before.`]
          : [
              `Only what Gatehouse had added was taken out of ${escapeText(file)}.`,
              ...(backup === null ? [] : keptLines(file, backup)),
            ],
      ),
      ...(revoked === null ? [] : [`The agent ${revoked} is revoked.`]),
      `Connect it again: ${next(`connect ${client}`)}`,
    ].join('\n')
  },
})
