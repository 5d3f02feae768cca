import { usageError } from '../cli-error.ts'
import { counted } from '../counted.ts'
import { defineCommand } from '../define.ts'

export const resume = defineCommand({
  name: 'resume',
  summary: 'Resume the agents that pausing everything paused',
  options: { all: { about: 'all of them; one alone is resumed by agent resume' } },
  examples: ['gatehouse resume --all'],
  async run({ api }, { all }) {
    if (!all) throw usageError('Say --all to resume them, or: gatehouse agent resume NAME.')
    return api.resumeAll()
  },
  text: ({ count }) => `${counted(count, 'agent is', 'agents are')} active again.`,
})
