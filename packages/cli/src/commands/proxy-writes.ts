import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { renderTable } from '../table.ts'
import { shownTime } from '../times.ts'

export const proxyWrites = defineCommand({
  name: 'proxy writes',
  summary: 'List writes that wait for their time, or those that stand otherwise',
  options: {
    status: {
      value: 'STATUS',
      choices: [
        'pending',
        'buffered',
        'executing',
        'executed',
        'cancelled',
        'failed',
        'dead',
        'all',
      ],
      about: 'pending by default; dead: failed, and waiting for a person',
    },
    agent: { value: 'NAME', about: 'of one agent only' },
    service: { value: 'NAME', about: 'of one service only' },
    limit: { value: 'N', integer: true, about: 'at most this many (100)' },
    offset: { value: 'N', integer: true, about: 'leave out this many first' },
  },
  examples: ['gatehouse proxy writes', 'gatehouse proxy writes --status dead --json'],
  run: ({ api }, { status, agent, service, limit, offset }) =>
    api.listWrites({
      ...(status === undefined ? {} : { status }),
      ...(agent === undefined ? {} : { agent }),
      ...(service === undefined ? {} : { service }),
      ...(limit === undefined ? {} : { limit }),
      ...(offset === undefined ? {} : { offset }),
    }),
  text: ({ writes, total }, view) =>
    writes.length === 0
      ? 'No write is so.'
      : [
          renderTable(
            [
              { title: 'ID', value: ({ id }) => id },
              { title: 'STATUS', value: ({ status }) => status },
              { title: 'RUNS', value: ({ execute_at }) => shownTime(execute_at) },
              { title: 'AGENT', value: ({ agent }) => agent },
              { title: 'SERVICE', value: ({ service }) => service },
              { title: 'WHAT', value: ({ operation }) => operation },
              {
                title: 'DETAIL',
                value: ({ error, arguments: args }) =>
                  escapeText(error?.message ?? JSON.stringify(args)),
                cut: true,
              },
            ],
            writes,
            view,
          ),
          ...(total > writes.length ? [`${writes.length} of ${total} shown.`] : []),
        ].join('\n'),
})
