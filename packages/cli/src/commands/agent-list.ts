import { defineCommand } from '../define.ts'
import { renderTable } from '../table.ts'

export const agentList = defineCommand({
  name: 'agent list',
  summary: 'List the agents',
  examples: ['gatehouse agent list', 'gatehouse agent list --json'],
  run: ({ api }) => api.listAgents(),
  text: ({ agents }, view) =>
    agents.length === 0
      ? `There is no agent yet. Create one: ${view.next('agent create NAME')}`
      : renderTable(
          [
            { title: 'NAME', value: (agent) => agent.name },
            { title: 'STATUS', value: (agent) => agent.status },
            { title: 'CALLS', value: (agent) => agent.total_invocations, align: 'right' },
            { title: 'LAST CONNECTED', time: (agent) => agent.last_connected },
            { title: 'PURPOSE', value: (agent) => agent.purpose, cut: true },
          ],
          agents,
          view,
        ),
})
