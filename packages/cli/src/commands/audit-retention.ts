import { defineCommand } from '../define.ts'
import { retentionText } from '../retention-text.ts'

export const auditRetention = defineCommand({
  name: 'audit retention',
  summary: 'Show how long audit entries stay, and what holds back those that are due',
  options: {},
  examples: ['gatehouse audit retention'],
  run: ({ api }) => api.showRetention(),
  text: retentionText,
})
