import { defineCommand } from '../define.ts'

export const agentRevoke = defineCommand({
  name: 'agent revoke',
  summary: 'Revoke an agent: its token, connections and pending requests',
  args: { name: 'the agent' },
  examples: ['gatehouse agent revoke mailbot', 'gatehouse agent revoke mailbot --yes'],
  question: ({ name }) => `Revoke ${name}? Its connections and waiting requests end now.`,
  run: ({ api }, { name }) => api.revokeAgent({ name }),
  text: (agent, { next }) =>
    `${agent.name} is revoked. Undo: ${next(`agent restore ${agent.name}`)}`,
})
