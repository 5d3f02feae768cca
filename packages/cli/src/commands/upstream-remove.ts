import { defineCommand } from '../define.ts'

export const upstreamRemove = defineCommand({
  name: 'upstream remove',
  summary: 'Remove a server with its tools, its credentials and its folder',
  args: { name: 'the server' },
  examples: ['gatehouse upstream remove github --yes'],
  question: ({ name }) =>
    `Remove ${name}? Its credentials and what it has kept in its own folder are deleted.`,
  run: ({ api }, { name }) => api.removeUpstream({ name }),
  text: ({ name }) => `${name} is removed.`,
})
