import { counted } from '../counted.ts'
import { defineCommand } from '../define.ts'

export const upstreamDecline = defineCommand({
  name: 'upstream decline',
  summary: 'Leave new or changed tools of a server out of service until they change again',
  args: { name: 'the server' },
  options: {
    tool: { value: 'NAMES', many: true, about: "only these tools, by the server's own names" },
  },
  examples: [
    'gatehouse upstream decline github',
    'gatehouse upstream decline github --tool create_issue',
  ],
  async run({ api }, { name, tool }) {
    const { digest } = await api.showUpstream({ name })
    return api.declineUpstream({ name, digest, ...(tool ? { tools: [...tool] } : {}) })
  },
  text: ({ upstream: { name, declined, waiting } }, view) =>
    declined === 0
      ? `No tool of ${name} waits, so none is declined.`
      : `${name}: ${counted(declined, 'tool')} declined, ${waiting} waiting. Undo: ${view.next(`upstream accept ${name} --tool NAME`)}`,
})
