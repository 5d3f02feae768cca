import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'

export const vaultDelete = defineCommand({
  name: 'vault delete',
  summary: 'Delete a secret; calls that name it are refused from now on',
  args: { name: 'the secret' },
  examples: ['gatehouse vault delete github_token', 'gatehouse vault delete github_token --yes'],
  async run({ api, confirm }, { name }) {
    await confirm(`Delete the secret ${escapeText(name)}?`)
    return api.deleteSecret({ name })
  },
  text: ({ name }) => `${escapeText(name)} is deleted.`,
})
