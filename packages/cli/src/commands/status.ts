import { defineCommand } from '../define.ts'
import { renderFields } from '../table.ts'
import { shownDuration } from '../times.ts'

export const status = defineCommand({
  name: 'status',
  summary: 'Show what the running server does',
  examples: ['gatehouse status', 'gatehouse status --json'],
  async run({ api, server }) {
    const { pid, gateway_url, mcp_url, user_api_url } = await server()
    return { ...(await api.getStatus()), server: { pid, gateway_url, mcp_url, user_api_url } }
  },
  text: (now) =>
    renderFields([
      ['Health', [now.health, ...now.health_reasons].join('; ')],
      ['Version', now.version],
      ['Running for', `${shownDuration(now.uptime_seconds)} (process ${now.server.pid})`],
      ['Agents use', `${now.server.mcp_url} (MCP), ${now.server.gateway_url}/rpc (JSON-RPC)`],
      ['Agents', `${now.active_agents} active, ${now.active_sessions} sessions open`],
      ['Waiting for you', `${now.pending_approvals} approvals`],
      [
        'Last 24 hours',
        `${now.capabilities_invoked_24h} calls, ${now.policy_violations_24h} refused by policy`,
      ],
    ]),
})
