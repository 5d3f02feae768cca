import { moveText } from '../agent-move-text.ts'
import { usageError } from '../cli-error.ts'
import { defineCommand } from '../define.ts'

export const agentMove = defineCommand({
  name: 'agent move',
  summary: 'Bind a paused agent to another node, to which you then copy its workspace',
  args: { name: 'the agent to move' },
  options: { to: { value: 'NODE', about: 'the node, as `nodes list` shows it' } },
  examples: ['gatehouse agent move mailbot --to node-0123456789ab'],
  run({ api }, { name, to }) {
    if (to === undefined) throw usageError('Say where to: --to NODE, as `nodes list` shows it.')
    return api.moveAgent({ name, to })
  },
  text: ({ agent: { name }, move }, { next }) =>
    move
      ? `${name} moves from ${move.from.node} to ${move.to.node}.\n${moveText(name, move, next)}`
      : `${name} is back where its workspace is. Resume it: ${next(`agent resume ${name}`)}`,
})
