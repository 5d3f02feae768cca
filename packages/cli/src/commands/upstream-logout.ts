import { defineCommand } from '../define.ts'

export const upstreamLogout = defineCommand({
  name: 'upstream logout',
  summary: 'Delete the tokens of a server, and have them revoked where it can be done',
  args: { name: 'the server' },
  examples: ['gatehouse upstream logout tickets'],
  run: ({ api }, { name }) => api.logoutUpstream({ name }),
  text: ({ upstream }, { next }) =>
    `The tokens of ${upstream.name} are deleted. To use it again: ${next(`upstream login ${upstream.name}`)}`,
})
