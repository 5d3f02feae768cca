import { defineCommand } from '../define.ts'

export const stateDelete = defineCommand({
  name: 'state delete',
  summary: 'Delete a key',
  args: { agent: 'the agent, or shared', key: 'the key' },
  examples: ['gatehouse state delete mailbot progress'],
  async run({ api, confirm }, { agent, key }) {
    await confirm(`Delete ${key} of ${agent}?`)
    return api.deleteState({ agent, key })
  },
  text: ({ agent, key }) => `${key} of ${agent} is deleted.`,
})
