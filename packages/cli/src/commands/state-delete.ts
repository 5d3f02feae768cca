import { defineCommand } from '../define.ts'

export const stateDelete = defineCommand({
  name: 'state delete',
  summary: 'Delete a state key',
  args: { agent: 'the agent, or shared', key: 'the key' },
  examples: ['gatehouse state delete mailbot progress'],
  question: ({ agent, key }) => `Delete ${key} of ${agent}?`,
  run: ({ api }, { agent, key }) => api.deleteState({ agent, key }),
  text: ({ agent, key }) => `${key} of ${agent} is deleted.`,
})
