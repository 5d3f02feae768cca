import { defineCommand } from '../define.ts'
import { renderTable } from '../table.ts'

export const notificationsFailed = defineCommand({
  name: 'notifications failed',
  summary: 'List messages to a target that could not be delivered',
  args: { name: 'the target, as `notifications list` shows it' },
  examples: ['gatehouse notifications failed phone'],
  run: ({ api }, { name }) => api.listFailedNotifications({ name }),
  text: ({ failed }, view) =>
    failed.length === 0
      ? 'Nothing was given up.'
      : renderTable(
          [
            { title: 'MADE', time: (one) => one.created_at },
            { title: 'EVENT', value: (one) => one.event },
            { title: 'TRIED', value: (one) => String(one.attempts) },
            { title: 'WHY', value: (one) => one.detail ?? '-' },
            { title: 'TITLE', value: (one) => one.title, cut: true },
          ],
          failed,
          view,
        ),
})
