import { usageError } from '../cli-error.ts'
import { counted } from '../counted.ts'
import { defineCommand } from '../define.ts'

export const pause = defineCommand({
  name: 'pause',
  summary: 'Refuse all new calls of all agents, now',
  options: { all: { about: 'all agents; use agent pause for a single one' } },
  examples: ['gatehouse pause --all', 'gatehouse pause --all --json'],
  async run({ api }, { all }) {
    if (!all) throw usageError('Say --all to pause every agent, or: gatehouse agent pause NAME.')
    return api.pauseAll()
  },
  text: ({ count }, { next }) =>
    `${counted(count, 'agent is', 'agents are')} paused. Undo: ${next('resume --all')}`,
})
