import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'

export const operatorRemove = defineCommand({
  name: 'operator remove',
  summary: 'Remove an operator of the dashboard',
  args: { name: 'the operator' },
  examples: ['gatehouse operator remove ana', 'gatehouse operator remove ana --yes'],
  question: ({ name }) => `Remove the operator ${escapeText(name)}?`,
  run: ({ api }, { name }) => api.removeOperator({ name }),
  text: ({ name }) => `${escapeText(name)} is logged out and cannot log in any more.`,
})
