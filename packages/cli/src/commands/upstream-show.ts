import { defineCommand } from '../define.ts'
import { reviewText } from '../upstream-text.ts'

export const upstreamShow = defineCommand({
  name: 'upstream show',
  summary: 'Show one server: its access, its tools, and how they differ from what was accepted',
  args: { name: 'the server' },
  examples: ['gatehouse upstream show github'],
  run: ({ api }, { name }) => api.showUpstream({ name }),
  text: reviewText,
})
