import { counted } from '../counted.ts'
import { defineCommand } from '../define.ts'
import { readSecret } from '../read-secret.ts'

export const vaultRotateKey = defineCommand({
  name: 'vault rotate-key',
  summary: 'Create a new master key and encrypt every secret with it',
  options: {
    'passphrase-file': {
      value: 'FILE',
      about: 'the file with the present passphrase, if there is one',
    },
  },
  examples: [
    'gatehouse vault rotate-key',
    'gatehouse vault rotate-key --passphrase-file passphrase.txt',
  ],
  async run({ api, io }, { 'passphrase-file': file }) {
    const { mode, locked } = await api.showVault()
    if (mode === 'key_file') return api.rotateVaultKey({})
    const passphrase = await readSecret(io, file, 'Passphrase')
    if (locked) await api.unlockVault({ passphrase })
    return api.rotateVaultKey({ passphrase })
  },
  text: ({ secrets }) =>
    `A new master key encrypts ${counted(secrets, 'secret')}. Older backups still open with the old key.`,
})
