import { defineCommand } from '../define.ts'
import { readSecret } from '../read-secret.ts'
import { vaultText } from '../secret-text.ts'

export const vaultUnlock = defineCommand({
  name: 'vault unlock',
  summary: 'Unlock the vault of the running server with its passphrase or key file',
  options: {
    'passphrase-file': { value: 'FILE', about: 'the file with the passphrase (- for the input)' },
  },
  examples: ['gatehouse vault unlock < passphrase.txt'],
  async run({ api, io, server }, { 'passphrase-file': file }) {
    await server()
    const vault = await api.showVault()
    if (!vault.locked) return vault
    if (vault.mode === 'key_file') return api.unlockVault({})
    return api.unlockVault({ passphrase: await readSecret(io, file, 'Passphrase') })
  },
  text: vaultText,
})
