import { usageError } from '../cli-error.ts'
import { counted } from '../counted.ts'
import { defineCommand } from '../define.ts'

export const pause = defineCommand({
  name: 'pause',
  summary: 'Refuse every new call of every agent until you resume them',
  options: {
    all: { about: 'all agents; use agent pause for a single one' },
    reason: { value: 'TEXT', about: 'why, for other people: agents are not told' },
  },
  examples: ['gatehouse pause --all', 'gatehouse pause --all --reason "a token has leaked"'],
  async run({ api }, { all, reason }) {
    if (!all) throw usageError('Say --all to pause every agent, or: gatehouse agent pause NAME.')
    return api.pauseAll(reason === undefined ? {} : { reason })
  },
  text: ({ count }, { next }) =>
    `${counted(count, 'agent is', 'agents are')} paused. Undo: ${next('resume --all')}`,
})
