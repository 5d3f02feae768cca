import { defineCommand } from '../define.ts'
import { reviewText } from '../upstream-text.ts'

export const upstreamRefresh = defineCommand({
  name: 'upstream refresh',
  summary: 'Fetch the tools of a server again and compare them with what was accepted',
  args: { name: 'the server' },
  examples: ['gatehouse upstream refresh github'],
  run: ({ api }, { name }) => api.refreshUpstream({ name }),
  text: reviewText,
})
