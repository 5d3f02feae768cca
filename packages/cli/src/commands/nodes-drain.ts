import { counted } from '../counted.ts'
import { defineCommand } from '../define.ts'

export const nodesDrain = defineCommand({
  name: 'nodes drain',
  summary: 'Let a node finish its work and take no new work',
  args: { name: 'its name, as `nodes list` shows it' },
  examples: ['gatehouse nodes drain node-0123456789ab'],
  run: ({ api }, { name }) => api.drainNode({ name }),
  text: ({ name, sessions }, { next }) =>
    `${name} takes nothing new and answers 503 at /readyz; ${counted(sessions, 'session')} of it ${sessions === 1 ? 'is' : 'are'} open. Undo: ${next(`nodes resume ${name}`)}`,
})
