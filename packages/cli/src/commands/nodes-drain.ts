import { defineCommand } from '../define.ts'

export const nodesDrain = defineCommand({
  name: 'nodes drain',
  summary: 'Let a node finish what it does and take nothing new',
  args: { name: 'its name, as `nodes list` shows it' },
  examples: ['gatehouse nodes drain node-0123456789ab'],
  run: ({ api }, { name }) => api.drainNode({ name }),
  text: ({ name, sessions }) =>
    `${name} takes nothing new and answers 503 at /readyz; ${sessions} of its sessions are open. Undo: gatehouse nodes resume ${name}`,
})
