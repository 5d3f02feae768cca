import { defineCommand } from '../define.ts'
import { toolTable } from '../upstream-text.ts'

export const upstreamTools = defineCommand({
  name: 'upstream tools',
  summary: 'List the tools of a server, with their state',
  args: { name: 'the server' },
  examples: ['gatehouse upstream tools github', 'gatehouse upstream tools github --json'],
  run: async ({ api }, { name }) => ({ tools: (await api.showUpstream({ name })).tools }),
  text: ({ tools }, view) => toolTable(tools, view),
})
