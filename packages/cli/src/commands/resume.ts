import { usageError } from '../cli-error.ts'
import { counted } from '../counted.ts'
import { defineCommand } from '../define.ts'

export const resume = defineCommand({
  name: 'resume',
  summary: 'Resume the agents that were paused by pause --all',
  options: {
    all: { about: 'all of them; use agent resume for a single one' },
    agent: { value: 'NAMES', many: true, about: 'only these; the others stay paused' },
  },
  examples: ['gatehouse resume --all', 'gatehouse resume --agent mailbot,builder'],
  async run({ api }, { all, agent }) {
    if (all === (agent !== undefined))
      throw usageError(
        'Say --all to resume them, or --agent NAMES for some of them; one paused by name: gatehouse agent resume NAME.',
      )
    return api.resumeAll(agent === undefined ? {} : { agents: [...agent] })
  },
  text({ count, pause }, { next }) {
    const left = pause.agents.length
    const back = `${counted(count, 'agent is', 'agents are')} active again.`
    return left === 0
      ? back
      : `${back} ${counted(left, 'agent stays', 'agents stay')} paused; resume the rest: ${next('resume --all')}`
  },
})
