import { counted } from '../counted.ts'
import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'

export const notificationsRetry = defineCommand({
  name: 'notifications retry',
  summary: 'Send undelivered messages to a target again',
  args: { name: 'the target, as `notifications list` shows it' },
  examples: ['gatehouse notifications retry phone'],
  run: ({ api }, { name }) => api.retryNotifications({ name }),
  text: ({ name, retried }) => `Retrying ${counted(retried, 'message')} to ${escapeText(name)}.`,
})
