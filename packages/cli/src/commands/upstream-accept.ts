import { usageError } from '../cli-error.ts'
import { counted } from '../counted.ts'
import { defineCommand } from '../define.ts'
import { isWaiting, reviewText } from '../upstream-text.ts'

export const upstreamAccept = defineCommand({
  name: 'upstream accept',
  summary: 'Accept new or changed tools of a server as they are shown',
  args: { name: 'the server' },
  options: {
    tool: { value: 'NAMES', many: true, about: "only these tools, by the server's own names" },
  },
  examples: [
    'gatehouse upstream accept github',
    'gatehouse upstream accept github --tool create_issue',
  ],
  async look({ api, json, note, views }, { name, tool }) {
    const review = await api.showUpstream({ name })
    const unknown = tool?.find((one) => !review.tools.some((known) => known.tool === one))
    if (unknown !== undefined) throw usageError(`${name} has no tool ${unknown}.`)
    const isSomethingMeant = tool !== undefined || review.tools.some(isWaiting)
    if (!json && isSomethingMeant) await note(reviewText(review, views.stderr))
    return review
  },
  question: ({ name, tool }, { tools }) => {
    const waiting = tools.filter(isWaiting).length
    return waiting === 0
      ? null
      : `Accept ${counted(tool?.length ?? waiting, 'tool')} of ${name} as shown?`
  },
  run: ({ api }, { name, tool }, { digest }) =>
    api.acceptUpstream({ name, digest, ...(tool ? { tools: [...tool] } : {}) }),
  text: ({ upstream }) =>
    `${upstream.name}: ${counted(upstream.offered, 'tool')} offered, ${upstream.waiting} waiting.`,
})
