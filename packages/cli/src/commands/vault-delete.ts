import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'

export const vaultDelete = defineCommand({
  name: 'vault delete',
  summary: 'Delete a secret; calls that name it are refused from then on',
  args: { name: 'the secret' },
  examples: ['gatehouse vault delete github_token', 'gatehouse vault delete github_token --yes'],
  question: ({ name }) => `Delete the secret ${escapeText(name)}?`,
  run: ({ api }, { name }) => api.deleteSecret({ name }),
  text: ({ name }) => `${escapeText(name)} is deleted.`,
})
