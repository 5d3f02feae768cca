import { defineCommand } from '../define.ts'
import { vaultText } from '../secret-text.ts'

export const vaultLock = defineCommand({
  name: 'vault lock',
  summary: 'Let the running server forget the master key; what needs a secret is refused',
  examples: ['gatehouse vault lock'],
  async run({ api, server }) {
    await server()
    return api.lockVault()
  },
  text: (vault) => vaultText(vault),
})
