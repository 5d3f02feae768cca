import type { Approval } from '@gatehouse/contract'
import { callText, staleText } from '../approval-card.ts'
import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { periodOf, periodOptions } from '../period.ts'
import { questionLine } from '../question-card.ts'
import { renderTable } from '../table.ts'

const statusText = ({ status, stale, execution }: Approval): string => {
  if (stale !== null) return `${status}, stale`
  return status === 'approved' ? `${status}, ${execution.state}` : status
}

/** Quoted: these are the words of the agent, not ours. */
const agentSays = ({ agent_reason }: Approval): string | null =>
  agent_reason === null ? null : `"${agent_reason}"`

/** Below the table, where nothing of it is cut. */
const staleLine = (approval: Approval): string[] => {
  const stale = staleText(approval)
  return stale === null ? [] : [`${approval.id} is stale: ${escapeText(stale)}.`]
}

export const approvalsList = defineCommand({
  name: 'approvals list',
  summary: 'List requests that are waiting for a decision',
  options: {
    status: {
      value: 'STATUS',
      choices: ['pending', 'approved', 'rejected', 'expired', 'cancelled', 'decided', 'all'],
      about: 'requests with this status (pending); decided is every other one',
    },
    agent: { value: 'NAME', about: 'only this agent' },
    capability: { value: 'NAME', about: 'only this capability' },
    ...periodOptions,
    limit: { value: 'N', integer: true, about: 'at most this many (100)' },
    offset: { value: 'N', integer: true, about: 'skip this many' },
  },
  examples: [
    'gatehouse approvals list',
    'gatehouse approvals list --status decided --agent mailbot --capability email.send',
  ],
  async run({ api, json, note, next }, { since, until, ...filter }) {
    const found = await api.listApprovals({ ...filter, ...periodOf({ since, until }) })
    if (json) return found
    for (const question of (await api.listQuestions()).questions)
      await note(escapeText(questionLine(question, next)))
    return found
  },
  text: ({ approvals, total }, view) =>
    approvals.length === 0
      ? 'No requests match.'
      : [
          renderTable(
            [
              { title: 'ID', value: (approval) => approval.id },
              { title: 'STATUS', value: statusText },
              { title: 'AGENT', value: (approval) => approval.agent },
              { title: 'WHAT', value: callText, below: true },
              {
                title: 'ASKED',
                time: (approval) => approval.requested_at,
                below: (text) => `asked ${text}`,
              },
              { title: 'WHY', value: (approval) => approval.reason, cut: true, drop: true },
              { title: 'AGENT SAYS', value: agentSays, cut: true, drop: true },
            ],
            approvals,
            view,
          ),
          ...approvals.flatMap(staleLine),
          ...(total > approvals.length ? [`${approvals.length} of ${total} shown.`] : []),
        ].join('\n'),
})
