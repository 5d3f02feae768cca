import type { Grant } from '@gatehouse/contract'
import { callText } from '../approval-card.ts'
import { defineCommand } from '../define.ts'
import { renderTable } from '../table.ts'

/** The calls that it lets run. */
const grantedText = ({ capability, arguments: args }: Grant): string =>
  args === null ? `${capability}, any arguments` : callText({ capability, arguments: args })

export const grantsList = defineCommand({
  name: 'grants list',
  summary: 'List standing grants: calls that run without asking again',
  options: {
    all: { about: 'also expired and revoked grants' },
    agent: { value: 'NAME', about: 'only this agent' },
    limit: { value: 'N', integer: true, about: 'at most this many (100)' },
    offset: { value: 'N', integer: true, about: 'skip this many' },
  },
  examples: ['gatehouse grants list', 'gatehouse grants list --agent mailbot --all'],
  run: ({ api }, { all, agent, limit, offset }) =>
    api.listGrants({
      ...(all ? { status: 'all' as const } : {}),
      agent,
      limit,
      offset,
    }),
  text: ({ grants, total }, view) =>
    grants.length === 0
      ? 'Nothing is remembered.'
      : [
          renderTable(
            [
              { title: 'ID', value: (grant) => grant.id },
              { title: 'STATUS', value: (grant) => grant.status },
              { title: 'AGENT', value: (grant) => grant.agent },
              { title: 'WHAT', value: grantedText, below: true },
              { title: 'USED', value: ({ used, uses }) => (uses ? `${used} of ${uses}` : used) },
              {
                title: 'UNTIL',
                time: (grant) => grant.expires_at,
                below: (text) => `until ${text}`,
              },
              { title: 'BY', value: (grant) => grant.created_by, below: (text) => `by ${text}` },
            ],
            grants,
            view,
          ),
          ...(total > grants.length ? [`${grants.length} of ${total} shown.`] : []),
        ].join('\n'),
})
