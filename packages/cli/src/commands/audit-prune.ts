import { counted } from '../counted.ts'
import { defineCommand } from '../define.ts'
import { retentionText } from '../retention-text.ts'

export const auditPrune = defineCommand({
  name: 'audit prune',
  summary: 'Remove the audit entries that are due, now instead of at the next run',
  options: {},
  examples: ['gatehouse audit prune --yes'],
  async look({ api, json, note, views }) {
    const status = await api.showRetention()
    if (!json) await note(`${retentionText(status, views.stderr)}\n`)
    return status
  },
  question: (_given, { removable_entries: entries, exported_to: targets }) =>
    `Remove ${counted(entries, 'entry', 'entries')} from the log? ${
      targets.length > 0 ? `They are at ${targets.join(', ')}.` : 'No copy of them was exported.'
    }`,
  run: ({ api }) => api.applyRetention(),
  text: retentionText,
})
