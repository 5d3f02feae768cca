import type { Secrets } from '../ports/secrets.ts'
import type { Vault } from '../ports/vault.ts'
import { managing } from './manage-secrets.ts'
import type { Scrubber } from './scrub/scrubber.ts'
import { secretsOf } from './use-secret.ts'
import { VaultKeys } from './vault-keys.ts'
import type { VaultParts } from './vault-parts.ts'

export type OpenedVault = { readonly secrets: Secrets; readonly vault: Vault } & Disposable

/** Secrets and what is around them. Never fails for a key that is missing: the vault is locked then. */
export async function openVault(
  parts: VaultParts & { readonly scrubber: Scrubber },
): Promise<OpenedVault> {
  const keys = await VaultKeys.open(parts)
  return {
    secrets: secretsOf(parts, keys, parts.scrubber),
    vault: {
      ...managing(parts, keys),
      state: () => keys.state(),
      look: () => keys.look(),
      lock: (entry) => keys.lock(entry),
      unlock: (passphrase, entry) => keys.unlock(passphrase, entry),
      relock: (change, entry) => keys.relock(change, entry),
      rotateKey: (passphrase, entry) => keys.rotateKey(passphrase, entry),
    },
    [Symbol.dispose]: () => keys[Symbol.dispose](),
  }
}
