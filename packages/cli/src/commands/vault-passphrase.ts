import { usageError } from '../cli-error.ts'
import { defineCommand } from '../define.ts'
import { readSecretLines } from '../read-secret.ts'
import { vaultText } from '../secret-text.ts'

export const vaultPassphrase = defineCommand({
  name: 'vault passphrase',
  summary: 'Set, change or remove the passphrase of the vault',
  options: {
    remove: { about: 'remove the passphrase; a key file then unlocks the vault at each start' },
  },
  examples: [
    'gatehouse vault passphrase < new.txt',
    'cat present.txt new.txt | gatehouse vault passphrase',
    'gatehouse vault passphrase --remove < present.txt',
  ],
  withoutData: 'begins',
  async run({ api, io }, { remove }) {
    const { mode, locked } = await api.showVault()
    const hasOne = mode === 'passphrase'
    if (remove && !hasOne) throw usageError('The vault has no passphrase; a key file opens it.')
    const wanted = [
      ...(hasOne ? ['Present passphrase'] : []),
      ...(remove ? [] : ['New passphrase']),
    ]
    const lines = await readSecretLines(io, wanted)
    const current = hasOne ? lines[0] : undefined
    // Without a server the vault was just opened for this command alone.
    if (locked && current !== undefined) await api.unlockVault({ passphrase: current })
    return api.setVaultPassphrase({ passphrase: remove ? null : (lines.at(-1) ?? ''), current })
  },
  text: (vault, view) =>
    vault.mode === 'passphrase'
      ? `${vaultText(vault, view)}\nIt is locked after each start until you unlock it. Without the passphrase, it can't be opened again.`
      : vaultText(vault, view),
})
