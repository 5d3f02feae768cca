import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { exitCodes } from '../exit-codes.ts'

export const notificationsTest = defineCommand({
  name: 'notifications test',
  summary: 'Send a test message to a target now',
  args: { name: 'the target, as `notifications list` shows it' },
  examples: ['gatehouse notifications test phone'],
  run: ({ api }, { name }) => api.testNotification({ name }),
  text: ({ name, delivered, detail }) =>
    delivered
      ? `${escapeText(name)} has taken the message.`
      : `${escapeText(name)} has not taken the message: ${escapeText(detail ?? '')}.`,
  exitCode: ({ delivered }) => (delivered ? exitCodes.done : exitCodes.failed),
})
