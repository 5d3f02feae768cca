import { usageError } from '../cli-error.ts'
import { counted } from '../counted.ts'
import { defineCommand } from '../define.ts'

export const resume = defineCommand({
  name: 'resume',
  summary: 'Resume the agents that were paused by pause --all',
  options: { all: { about: 'all of them; use agent resume for a single one' } },
  examples: ['gatehouse resume --all'],
  async run({ api }, { all }) {
    if (!all) throw usageError('Say --all to resume them, or: gatehouse agent resume NAME.')
    return api.resumeAll()
  },
  text: ({ count }) => `${counted(count, 'agent is', 'agents are')} active again.`,
})
