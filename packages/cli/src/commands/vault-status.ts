import { defineCommand } from '../define.ts'
import { vaultText } from '../secret-text.ts'

export const vaultStatus = defineCommand({
  name: 'vault status',
  summary: 'Show whether the vault is locked, and how many secrets it has',
  examples: ['gatehouse vault status'],
  run: ({ api }) => api.showVault(),
  text: vaultText,
})
