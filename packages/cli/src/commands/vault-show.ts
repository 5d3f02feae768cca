import { defineCommand } from '../define.ts'
import { secretText } from '../secret-text.ts'

export const vaultShow = defineCommand({
  name: 'vault show',
  summary: 'Show everything about a secret but its value',
  args: { name: 'the secret' },
  examples: ['gatehouse vault show github_token'],
  run: ({ api }, { name }) => api.showSecret({ name }),
  text: (secret) => secretText(secret),
})
