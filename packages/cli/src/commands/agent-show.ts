import type { AgentDetail } from '@gatehouse/contract'
import { moveText } from '../agent-move-text.ts'
import { limitText } from '../agent-options.ts'
import { counted } from '../counted.ts'
import { defineCommand, type View } from '../define.ts'
import { notListedLines } from '../not-listed-text.ts'
import { renderFields, renderTable } from '../table.ts'
import { shownTimes } from '../times.ts'

const offeredText = ({ offered, callable, tokens_estimate }: AgentDetail['tool_list']): string => {
  const cost = `about ${counted(tokens_estimate, 'token')} to list (estimate: bytes / 4)`
  return offered === callable
    ? `${offered} offered, ${cost}`
    : `${offered} offered of ${callable} that it may call, ${cost}`
}

const moveFields = ({ name, move }: AgentDetail, { next }: View) =>
  move ? [['Moves', moveText(name, move, next).replaceAll('\n', ' ')] as const] : []

export const agentShow = defineCommand({
  name: 'agent show',
  summary: 'Show one agent with its sessions and statistics',
  args: { name: 'the agent' },
  examples: ['gatehouse agent show mailbot', 'gatehouse agent show mailbot --json'],
  run: ({ api }, { name }) => api.showAgent({ name }),
  text(agent, view) {
    const mounts = agent.mounts.map(({ path, read_only }) => `${path}${read_only ? '' : ' (rw)'}`)
    const parts = [
      renderFields(
        [
          ['Name', agent.name],
          ['Purpose', agent.purpose],
          ['Status', agent.status],
          ['Created', shownTimes(agent.created_at)],
          ['Last connected', shownTimes(agent.last_connected)],
          ['Calls', agent.total_invocations],
          ['Held calls', agent.approvals === 'hold' ? 'stay open' : 'answer at once'],
          ['Workspace', agent.workspace],
          ...(agent.site === null ? [] : [['In', agent.site] as const]),
          ...moveFields(agent, view),
          ['Mounts', mounts.join(', ') || 'none'],
          ['Tool set', agent.tools.join(', ') || 'all'],
          ['Own limits', agent.limits.map(limitText).join(', ') || 'none'],
          ['Tools', offeredText(agent.tool_list)],
          ['Token', `${agent.token_fingerprint}… (fingerprint)`],
          ['Token made', shownTimes(agent.token_created_at)],
        ],
        view,
      ),
    ]
    const { by_capability, rate_limits, not_listed } = agent.stats
    if (by_capability.length > 0)
      parts.push(
        renderTable(
          [
            { title: 'CAPABILITY', value: (row) => row.capability },
            { title: 'CALLS', value: (row) => row.calls, align: 'right' },
            { title: 'FAILED', value: (row) => row.failures, align: 'right' },
            { title: 'P50 MS', value: (row) => row.p50_ms, align: 'right' },
            { title: 'P95 MS', value: (row) => row.p95_ms, align: 'right' },
          ],
          by_capability,
          view,
        ),
      )
    if (rate_limits.length > 0)
      parts.push(
        renderTable(
          [
            { title: 'LIMIT', value: (row) => row.match },
            { title: 'USED', value: (row) => `${row.used} of ${row.limit}`, align: 'right' },
            { title: 'IN', value: (row) => row.window },
          ],
          rate_limits,
          view,
        ),
      )
    if (agent.sessions.length > 0)
      parts.push(
        renderTable(
          [
            { title: 'SESSION', value: (row) => row.session_id },
            { title: 'BY', value: (row) => row.transport },
            { title: 'BEGAN', time: (row) => row.created_at },
            { title: 'ENDED', time: (row) => row.ended_at, none: 'open' },
            { title: 'CALLS', value: (row) => row.invocations, align: 'right' },
          ],
          agent.sessions,
          view,
        ),
      )
    return [...parts, ...notListedLines(not_listed, view)].join('\n\n')
  },
})
