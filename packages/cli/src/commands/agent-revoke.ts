import { defineCommand } from '../define.ts'

export const agentRevoke = defineCommand({
  name: 'agent revoke',
  summary: 'End an agent: its token, its connections and what it asked for',
  args: { name: 'the agent' },
  examples: ['gatehouse agent revoke mailbot', 'gatehouse agent revoke mailbot --yes'],
  question: ({ name }) => `Revoke ${name}? Its connections and waiting requests end now.`,
  run: ({ api }, { name }) => api.revokeAgent({ name }),
  text: (agent) => `${agent.name} is revoked. Undo: gatehouse agent restore ${agent.name}`,
})
