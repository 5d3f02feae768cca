import { defineCommand } from '../define.ts'

export const nodesForget = defineCommand({
  name: 'nodes forget',
  summary: 'Remove a node that has stopped for good',
  args: { name: 'its name, as `nodes list` shows it' },
  examples: ['gatehouse nodes forget node-0123456789ab'],
  run: ({ api }, { name }) => api.forgetNode({ name }),
  text: ({ name }) => `${name} is forgotten; its entries of the audit log stay.`,
})
