import type { BufferedWrite } from '@gatehouse/contract'
import { describeCall } from '@gatehouse/contract/describe-call'
import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { periodOf, periodOptions } from '../period.ts'
import { renderTable } from '../table.ts'

/** Operation, service and recipients of a write. */
const writtenText = ({ operation, service, arguments: args }: BufferedWrite): string =>
  describeCall('write', { ...args, operation, service })

export const proxyWrites = defineCommand({
  name: 'proxy writes',
  summary: 'List pending writes, or those with another status',
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
      about: 'writes with this status (pending); dead: failed, and needs a person',
    },
    agent: { value: 'NAME', about: 'only this agent' },
    service: { value: 'NAME', about: 'only this service' },
    ...periodOptions,
    limit: { value: 'N', integer: true, about: 'at most this many (100)' },
    offset: { value: 'N', integer: true, about: 'skip this many' },
  },
  examples: ['gatehouse proxy writes', 'gatehouse proxy writes --status dead --json'],
  run: ({ api }, { since, until, ...filter }) =>
    api.listWrites({ ...filter, ...periodOf({ since, until }) }),
  text: ({ writes, total }, view) =>
    writes.length === 0
      ? 'There are no such writes.'
      : [
          renderTable(
            [
              { title: 'ID', value: ({ id }) => id },
              { title: 'STATUS', value: ({ status }) => status },
              { title: 'RUNS', time: ({ execute_at }) => execute_at },
              { title: 'AGENT', value: ({ agent }) => agent },
              { title: 'WHAT', value: writtenText, below: true },
              {
                title: 'DETAIL',
                value: ({ error, arguments: args }) =>
                  escapeText(error?.message ?? JSON.stringify(args)),
                cut: true,
                below: true,
              },
            ],
            writes,
            view,
          ),
          ...(total > writes.length ? [`${writes.length} of ${total} shown.`] : []),
        ].join('\n'),
})
