import { defineCommand } from '../define.ts'
import { secretText } from '../secret-text.ts'

export const vaultShow = defineCommand({
  name: 'vault show',
  summary: 'Show a secret without its value',
  args: { name: 'the secret' },
  examples: ['gatehouse vault show github_token'],
  run: ({ api }, { name }) => api.showSecret({ name }),
  text: secretText,
})
