import type { GateProcesses, ServicePause } from '@gatehouse/contract'
import { asNextStep } from '../as-next-step.ts'
import { counted } from '../counted.ts'
import { defineCommand } from '../define.ts'
import type { NextStep } from '../next-step.ts'
import { renderFields } from '../table.ts'
import { shownDuration, shownTimes } from '../times.ts'

const pausedText = ({ reason, paused_by, since, agents }: ServicePause, next: NextStep): string =>
  [
    since === null ? 'all agents' : `since ${shownTimes(since)} by ${paused_by}`,
    ...(reason === '' ? [] : [reason]),
    `${counted(agents.length, 'agent waits', 'agents wait')} for ${next('resume --all')}`,
  ].join('; ')

const processesText = ({ count, down }: GateProcesses): string =>
  down.length === 0
    ? `${count}, all serving`
    : `${count - down.length} of ${count} serving; down: ${down.join(', ')}`

export const status = defineCommand({
  name: 'status',
  summary: 'Show the status of the running server',
  examples: ['gatehouse status', 'gatehouse status --json'],
  async run({ api, server }) {
    const { pid, gateway_url, mcp_url, user_api_url } = await server()
    return { ...(await api.getStatus()), server: { pid, gateway_url, mcp_url, user_api_url } }
  },
  text: (now, view) =>
    renderFields(
      [
        ['Health', asNextStep([now.health, ...now.health_reasons].join('; '), view.next)],
        ...(now.pause.paused ? [['Paused', pausedText(now.pause, view.next)] as const] : []),
        ['Version', now.version],
        ['Running for', `${shownDuration(now.uptime_seconds)} (process ${now.server.pid})`],
        ...(now.gate_processes
          ? [['Gate processes', processesText(now.gate_processes)] as const]
          : []),
        ['Agents use', `${now.server.mcp_url} (MCP), ${now.server.gateway_url}/rpc (JSON-RPC)`],
        ['Agents', `${now.active_agents} active, ${counted(now.active_sessions, 'session')} open`],
        ['Waiting for you', counted(now.pending_approvals, 'approval')],
        [
          'Last 24 hours',
          `${counted(now.capabilities_invoked_24h, 'call')}, ${now.policy_violations_24h} refused by policy`,
        ],
      ],
      view,
    ),
})
