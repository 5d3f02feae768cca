import { defineCommand } from '../define.ts'
import { renderTable } from '../table.ts'
import { shownTime } from '../times.ts'

export const notificationsFailed = defineCommand({
  name: 'notifications failed',
  summary: 'List the messages to a target that were given up',
  args: { name: 'the target, as `notifications list` shows it' },
  examples: ['gatehouse notifications failed phone'],
  run: ({ api }, { name }) => api.listFailedNotifications({ name }),
  text: ({ failed }, view) =>
    failed.length === 0
      ? 'Nothing was given up.'
      : renderTable(
          [
            { title: 'MADE', value: (one) => shownTime(one.created_at) },
            { title: 'EVENT', value: (one) => one.event },
            { title: 'TRIED', value: (one) => String(one.attempts) },
            { title: 'WHY', value: (one) => one.detail ?? '-' },
            { title: 'TITLE', value: (one) => one.title, cut: true },
          ],
          failed,
          view,
        ),
})
