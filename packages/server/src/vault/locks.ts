import { GatehouseError } from '@gatehouse/contract'
import type { VaultState } from '../ports/vault.ts'
import { keyId, readKeyFile, writeKeyFile } from './key-file.ts'
import { type Keyring, type Lock, openRoot, type Root } from './keyring.ts'
import { type KdfCosts, newPassphraseKey, passphraseKey } from './passphrase-key.ts'
import { newKey } from './seal.ts'

export type Opened =
  | { readonly root: Root; readonly lock: Lock }
  | { readonly root: null; readonly why: Pick<VaultState, 'reason' | 'remedy'> }

const shut = (reason: string, remedy: string): Opened => ({ root: null, why: { reason, remedy } })

export const damaged = shut(
  'the stored master key is not what the vault wrote',
  'restore the database from a backup, and look who else can write to it',
)

/** The master key by the key file of this machine, or why not. */
export function openByKeyFile(keyring: Keyring, file: string): Opened {
  const found = readKeyFile(file)
  if (found.kind === 'refused') return shut(found.reason, found.remedy)
  const key =
    found.kind === 'keys' ? found.keys.find((known) => keyId(known) === keyring.key_id) : undefined
  if (!key)
    return shut(
      found.kind === 'absent' ? `there is no ${file}` : `${file} belongs to another vault`,
      'restore it from a backup, or copy it from the node that made this vault',
    )
  const root = openRoot(keyring, key)
  return root ? { root, lock: { mode: 'key_file', key, key_id: keyId(key) } } : damaged
}

/** Raises `WrongPassphrase`. */
export async function openByPassphrase(keyring: Keyring, passphrase: string): Promise<Opened> {
  const { kdf } = keyring
  if (!kdf) return damaged
  const key = await passphraseKey(passphrase, kdf)
  if (!key) throw new GatehouseError('WrongPassphrase', {})
  const root = openRoot(keyring, key)
  return root ? { root, lock: { mode: 'passphrase', key, kdf } } : damaged
}

export const passphraseMin = 12

export async function newPassphraseLock(passphrase: string, costs: KdfCosts): Promise<Lock> {
  if (passphrase.length < passphraseMin)
    throw new GatehouseError('WeakPassword', {
      detail: `the passphrase of the vault has at least ${passphraseMin} characters`,
    })
  return { mode: 'passphrase', ...(await newPassphraseKey(passphrase, costs)) }
}

const keysIn = (file: string): readonly Buffer[] => {
  const found = readKeyFile(file)
  return found.kind === 'keys' ? found.keys : []
}

/**
 * A new key beside the one in use: whichever of the two the store names after a crash is in the file.
 * The vault drops the other one once the store has it.
 */
export function prepareKeyFile(file: string, present: Lock | null): Lock {
  const key = newKey()
  const kept = present?.mode === 'key_file' ? [present.key] : []
  writeKeyFile(file, [key, ...kept])
  return { mode: 'key_file', key, key_id: keyId(key) }
}

/** For a vault that is new: a key that is there already, as after the loss of a database, is used on. */
export function firstKeyFile(file: string): Lock {
  const [key] = keysIn(file)
  if (key) return { mode: 'key_file', key, key_id: keyId(key) }
  return prepareKeyFile(file, null)
}
