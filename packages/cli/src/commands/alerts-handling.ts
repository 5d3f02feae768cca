import { alertHandlingText } from '../alert-handling-text.ts'
import { defineCommand } from '../define.ts'

export const alertsHandling = defineCommand({
  name: 'alerts handling',
  summary: 'Show which kinds of alerts are muted, and who is notified of which',
  examples: ['gatehouse alerts handling', 'gatehouse alerts handling --json'],
  run: ({ api }) => api.showAlertHandling(),
  text: alertHandlingText,
})
