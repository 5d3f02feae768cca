import { defineCommand } from '../define.ts'

export const upstreamRestart = defineCommand({
  name: 'upstream restart',
  summary: 'End the connections and processes of a server; the next call starts it again',
  args: { name: 'the server' },
  examples: ['gatehouse upstream restart github'],
  run: ({ api }, { name }) => api.restartUpstream({ name }),
  text: ({ upstream }) => `${upstream.name} starts again with the next call.`,
})
