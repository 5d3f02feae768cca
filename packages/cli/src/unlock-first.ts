import type { Client } from '@gatehouse/rest-client'
import type { Io } from './io.ts'
import { readSecret } from './read-secret.ts'

/** Without a server nothing stays unlocked, so a command opens the vault for itself. */
export const unlockOption = {
  'passphrase-file': { value: 'FILE', about: 'the passphrase, to unlock a locked vault first' },
} as const

export async function unlockFirst(
  api: Client,
  io: Io,
  passphraseFile: string | undefined,
): Promise<void> {
  if (passphraseFile === undefined) return
  const { locked } = await api.showVault()
  if (locked)
    await api.unlockVault({ passphrase: await readSecret(io, passphraseFile, 'Passphrase') })
}
