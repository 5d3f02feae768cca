import type { AgentMove } from '@gatehouse/contract'
import type { NextStep } from './next-step.ts'

/** Next step of a person, while the workspace of an agent is to be brought to another node. */
export const moveText = (
  agent: string,
  { from, to, ready, set_aside }: AgentMove,
  next: NextStep,
): string => {
  if (!ready)
    return `${to.node} has not said yet that it is ready; do not copy the workspace before it has: ${next(`agent show ${agent}`)}`
  return [
    `Copy ${from.folder} of ${from.node} to ${to.folder} of ${to.node}, with its owner and modes.`,
    `Then resume the agent on ${to.node}.`,
    ...(set_aside === null ? [] : [`An older folder there is called ${set_aside} now.`]),
  ].join('\n')
}
