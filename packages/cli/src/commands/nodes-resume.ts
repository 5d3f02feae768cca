import { defineCommand } from '../define.ts'

export const nodesResume = defineCommand({
  name: 'nodes resume',
  summary: 'Let a node that is draining take work again',
  args: { name: 'its name, as `nodes list` shows it' },
  examples: ['gatehouse nodes resume node-0123456789ab'],
  run: ({ api }, { name }) => api.resumeNode({ name }),
  text: ({ name }) => `${name} takes work.`,
})
