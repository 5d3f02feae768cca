import { defineCommand } from '../define.ts'

export const agentPause = defineCommand({
  name: 'agent pause',
  summary: 'Refuse all new calls of an agent until it is resumed',
  args: { name: 'the agent to pause' },
  examples: ['gatehouse agent pause mailbot', 'gatehouse agent pause mailbot --json'],
  run: ({ api }, { name }) => api.pauseAgent({ name }),
  text: (agent, { next }) => `${agent.name} is paused. Undo: ${next(`agent resume ${agent.name}`)}`,
})
