import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { periodOf, periodOptions } from '../period.ts'
import { renderTable } from '../table.ts'

export const proxyRollbacks = defineCommand({
  name: 'proxy rollbacks',
  summary: 'List rollback points, newest first',
  options: {
    service: { value: 'NAME', about: 'only this service' },
    ...periodOptions,
    limit: { value: 'N', integer: true, about: 'at most this many (100)' },
    offset: { value: 'N', integer: true, about: 'skip this many' },
  },
  examples: ['gatehouse proxy rollbacks', 'gatehouse proxy rollbacks --service mail --json'],
  run: ({ api }, { since, until, ...filter }) =>
    api.listRollbacks({ ...filter, ...periodOf({ since, until }) }),
  text: ({ rollbacks, total }, view) =>
    rollbacks.length === 0
      ? 'There is nothing to go back to.'
      : [
          renderTable(
            [
              { title: 'ID', value: ({ id }) => id },
              { title: 'STATUS', value: ({ status }) => status },
              {
                title: 'MADE',
                time: ({ created_at }) => created_at,
                below: (text) => `made ${text}`,
              },
              { title: 'UNTIL', time: ({ expires_at }) => expires_at },
              { title: 'AGENT', value: ({ agent }) => agent },
              { title: 'SERVICE', value: ({ service }) => service, below: (text) => `at ${text}` },
              { title: 'WHAT', value: ({ operation }) => operation, below: true },
              {
                title: 'DETAIL',
                value: ({ error }) => escapeText(error?.message ?? ''),
                cut: true,
                below: true,
              },
            ],
            rollbacks,
            view,
          ),
          ...(total > rollbacks.length ? [`${rollbacks.length} of ${total} shown.`] : []),
        ].join('\n'),
})
