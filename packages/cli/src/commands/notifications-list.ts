import { defineCommand } from '../define.ts'
import { renderTable } from '../table.ts'

export const notificationsList = defineCommand({
  name: 'notifications list',
  summary: 'List notification targets and their delivery status',
  examples: ['gatehouse notifications list', 'gatehouse notifications list --json'],
  run: ({ api }) => api.listNotifications(),
  text: ({ targets }, view) =>
    targets.length === 0
      ? 'Nobody is told. Name targets in gatehouse.yaml, under notifications.'
      : renderTable(
          [
            { title: 'NAME', value: (target) => target.name },
            { title: 'KIND', value: (target) => target.kind },
            { title: 'AT', value: (target) => target.origin, below: true },
            { title: 'WAITING', value: (target) => String(target.waiting) },
            { title: 'GIVEN UP', value: (target) => String(target.failed) },
            {
              title: 'LAST TOLD',
              time: ({ last_delivered_at: at }) => at,
            },
            {
              title: 'TROUBLE',
              value: ({ last_failure: why }) => why ?? '-',
              cut: true,
              below: true,
            },
          ],
          targets,
          view,
        ),
})
