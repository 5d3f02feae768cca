import { defineCommand } from '../define.ts'

export const agentPause = defineCommand({
  name: 'agent pause',
  summary: 'Refuse all new calls of an agent until it is resumed',
  args: { name: 'the agent to pause' },
  examples: ['gatehouse agent pause mailbot', 'gatehouse agent pause mailbot --json'],
  run: ({ api }, { name }) => api.pauseAgent({ name }),
  text: (agent) => `${agent.name} is paused. Undo: gatehouse agent resume ${agent.name}`,
})
