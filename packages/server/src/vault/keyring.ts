import { randomBytes } from 'node:crypto'
import type { Kdf } from './passphrase-key.ts'
import { newKey, seal, unseal } from './seal.ts'

/**
 * Master key as the store knows it: sealed under the key of the key file (`key_id` names it) or under
 * one made of a passphrase (`kdf` says how).
 */
export type Keyring = {
  readonly v: 1
  /** Random, of this installation: what is sealed here opens in no other vault. */
  readonly install: string
  readonly mode: 'key_file' | 'passphrase'
  readonly key_id: string | null
  readonly kdf: Kdf | null
  readonly root_id: string
  readonly root: string
}

/** The master key while the vault is open. */
export type Root = { readonly id: string; readonly install: string; readonly key: Buffer }

export type Lock =
  | { readonly mode: 'key_file'; readonly key: Buffer; readonly key_id: string }
  | { readonly mode: 'passphrase'; readonly key: Buffer; readonly kdf: Kdf }

const boundOf = ({ install, mode, key_id, kdf, root_id }: Omit<Keyring, 'v' | 'root'>): string =>
  `gatehouse-vault-v1|${JSON.stringify([
    install,
    mode,
    key_id,
    kdf && [kdf.memory_kib, kdf.passes, kdf.lanes, kdf.salt, kdf.check],
    root_id,
  ])}`

export const newRoot = (install = randomBytes(8).toString('hex')): Root => ({
  id: randomBytes(8).toString('hex'),
  install,
  key: newKey(),
})

export function sealRoot(root: Root, lock: Lock): Keyring {
  const facts = {
    install: root.install,
    mode: lock.mode,
    key_id: lock.mode === 'key_file' ? lock.key_id : null,
    kdf: lock.mode === 'passphrase' ? lock.kdf : null,
    root_id: root.id,
  }
  return { v: 1, ...facts, root: seal(lock.key, root.key, boundOf(facts)) }
}

/** Null where it is not what `sealRoot` made. */
export function openRoot(keyring: Keyring, key: Uint8Array): Root | null {
  const root = unseal(key, keyring.root, boundOf(keyring))
  return root && { id: keyring.root_id, install: keyring.install, key: root }
}

/** Null where it cannot be one. */
export function parseKeyring(text: string): Keyring | null {
  try {
    const given = JSON.parse(text) as Partial<Keyring> | null
    const isKeyring =
      given?.v === 1 &&
      typeof given.install === 'string' &&
      typeof given.root === 'string' &&
      typeof given.root_id === 'string' &&
      (given.mode === 'key_file'
        ? typeof given.key_id === 'string'
        : given.mode === 'passphrase') &&
      (given.mode !== 'passphrase' || typeof given.kdf?.salt === 'string')
    return isKeyring ? (given as Keyring) : null
  } catch {
    return null
  }
}
