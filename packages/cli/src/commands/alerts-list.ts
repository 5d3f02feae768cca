import { asNextStep } from '../as-next-step.ts'
import { counted } from '../counted.ts'
import { defineCommand } from '../define.ts'
import { periodOf, periodOptions } from '../period.ts'
import { renderTable } from '../table.ts'

export const alertsList = defineCommand({
  name: 'alerts list',
  summary: 'List alerts, newest first',
  options: {
    status: {
      value: 'STATUS',
      choices: ['open', 'acknowledged', 'resolved'],
      about: 'only alerts with this status',
    },
    severity: {
      value: 'SEVERITY',
      choices: ['info', 'warning', 'critical'],
      about: 'only alerts of this severity',
    },
    ...periodOptions,
    limit: { value: 'N', integer: true, about: 'at most this many (100)' },
    offset: { value: 'N', integer: true, about: 'skip this many' },
  },
  examples: ['gatehouse alerts list', 'gatehouse alerts list --status open --json'],
  run: ({ api }, { since, until, ...filter }) =>
    api.listAlerts({ ...filter, ...periodOf({ since, until }) }),
  text: ({ alerts, total }, view) =>
    alerts.length === 0
      ? 'There are no alerts.'
      : [
          renderTable(
            [
              { title: 'ID', value: ({ id }) => id },
              { title: 'RAISED', time: ({ last_raised_at }) => last_raised_at },
              {
                title: 'TIMES',
                value: ({ count }) => count,
                align: 'right',
                below: (text) => `raised ${counted(Number(text), 'time')}`,
              },
              { title: 'STATUS', value: ({ status }) => status },
              { title: 'SEVERITY', value: ({ severity }) => severity },
              { title: 'FROM', value: ({ source }) => source, below: (text) => `from ${text}` },
              {
                title: 'MESSAGE',
                value: ({ message }) => asNextStep(message, view.next),
                cut: true,
                below: true,
              },
            ],
            alerts,
            view,
          ),
          ...(total > alerts.length ? [`${alerts.length} of ${total} shown.`] : []),
        ].join('\n'),
})
