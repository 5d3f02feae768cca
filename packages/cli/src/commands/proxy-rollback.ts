import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { exitCodes } from '../exit-codes.ts'

export const proxyRollback = defineCommand({
  name: 'proxy rollback',
  summary: 'Undo a write, exactly or not at all',
  args: { id: 'the rollback point, as `proxy rollbacks` shows it' },
  options: { 'dry-run': { about: 'show what would be done, without doing it' } },
  examples: [
    'gatehouse proxy rollback rb-01jqz4xk2m8v5w9r3t6y0b7n1c --dry-run',
    'gatehouse proxy rollback rb-01jqz4xk2m8v5w9r3t6y0b7n1c',
  ],
  look: ({ api }, { id }) => api.previewRollback({ id }),
  question: ({ 'dry-run': dryRun }, { possible, steps }) =>
    dryRun || !possible ? null : [...steps.map(escapeText), 'Undo it this way?'].join('\n'),
  async run({ api }, { id, 'dry-run': dryRun }, preview) {
    if (dryRun || !preview.possible) return preview
    return { ...preview, rollback: await api.rollBack({ id }) }
  },
  text: ({ rollback, possible, steps, reason, differences }) => {
    if (!possible)
      return [
        `This can't be undone: ${escapeText(reason ?? '')}`,
        ...differences.map(escapeText),
      ].join('\n')
    return rollback.status === 'rolled_back'
      ? `What stood before ${rollback.write_id} is back.`
      : steps.map(escapeText).join('\n')
  },
  exitCode: ({ possible }) => (possible ? exitCodes.done : exitCodes.failed),
})
