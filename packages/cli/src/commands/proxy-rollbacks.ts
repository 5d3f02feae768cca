import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { renderTable } from '../table.ts'
import { shownTime } from '../times.ts'

export const proxyRollbacks = defineCommand({
  name: 'proxy rollbacks',
  summary: 'List what stood before writes and can be gone back to, the newest first',
  options: {
    service: { value: 'NAME', about: 'of one service only' },
    limit: { value: 'N', integer: true, about: 'at most this many (100)' },
    offset: { value: 'N', integer: true, about: 'leave out this many first' },
  },
  examples: ['gatehouse proxy rollbacks', 'gatehouse proxy rollbacks --service mail --json'],
  run: ({ api }, { service, limit, offset }) =>
    api.listRollbacks({
      ...(service === undefined ? {} : { service }),
      ...(limit === undefined ? {} : { limit }),
      ...(offset === undefined ? {} : { offset }),
    }),
  text: ({ rollbacks, total }, view) =>
    rollbacks.length === 0
      ? 'There is nothing to go back to.'
      : [
          renderTable(
            [
              { title: 'ID', value: ({ id }) => id },
              { title: 'STATUS', value: ({ status }) => status },
              { title: 'MADE', value: ({ created_at }) => shownTime(created_at) },
              { title: 'UNTIL', value: ({ expires_at }) => shownTime(expires_at) },
              { title: 'AGENT', value: ({ agent }) => agent },
              { title: 'SERVICE', value: ({ service }) => service },
              { title: 'WHAT', value: ({ operation }) => operation },
              {
                title: 'DETAIL',
                value: ({ error }) => escapeText(error?.message ?? ''),
                cut: true,
              },
            ],
            rollbacks,
            view,
          ),
          ...(total > rollbacks.length ? [`${rollbacks.length} of ${total} shown.`] : []),
        ].join('\n'),
})
