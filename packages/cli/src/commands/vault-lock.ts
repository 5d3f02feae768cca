import { defineCommand } from '../define.ts'
import { vaultText } from '../secret-text.ts'

export const vaultLock = defineCommand({
  name: 'vault lock',
  summary: 'Lock the vault of the running server; calls that need a secret are refused',
  examples: ['gatehouse vault lock'],
  async run({ api, server }) {
    await server()
    return api.lockVault()
  },
  text: vaultText,
})
