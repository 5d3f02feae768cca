import { defineCommand } from '../define.ts'
import { jsonText } from '../escape-text.ts'

export const stateGet = defineCommand({
  name: 'state get',
  summary: 'Print the value of a state key as JSON',
  args: { agent: 'the agent, or shared', key: 'the key' },
  examples: ['gatehouse state get mailbot progress', 'gatehouse state get shared build/status'],
  run: ({ api }, { agent, key }) => api.showState({ agent, key }),
  text: ({ value }) => jsonText(value),
})
