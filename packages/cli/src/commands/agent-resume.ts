import { defineCommand } from '../define.ts'

export const agentResume = defineCommand({
  name: 'agent resume',
  summary: 'Resume a paused agent',
  args: { name: 'the agent to resume' },
  examples: ['gatehouse agent resume mailbot'],
  run: ({ api }, { name }) => api.resumeAgent({ name }),
  text: (agent) => `${agent.name} is active again.`,
})
