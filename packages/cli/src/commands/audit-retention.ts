import { defineCommand } from '../define.ts'
import { retentionText } from '../retention-text.ts'

export const auditRetention = defineCommand({
  name: 'audit retention',
  summary: 'Show how long audit entries are kept and what delays their removal',
  options: {},
  examples: ['gatehouse audit retention'],
  run: ({ api }) => api.showRetention(),
  text: retentionText,
})
