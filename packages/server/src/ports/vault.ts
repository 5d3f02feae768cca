import type {
  AddSecret,
  ChangeSecret,
  RotateSecret,
  Secret,
  SecretCheck,
  SetVaultPassphrase,
  VaultStatus,
} from '@gatehouse/contract'
import type { AuditDraft } from './audit.ts'

/** The entry of a change, in the name of whoever makes it. Facts never hold a value. */
export type VaultEntry = (
  act: string,
  facts: {
    readonly arguments?: Readonly<Record<string, unknown>>
    readonly detail?: Readonly<Record<string, unknown>>
    readonly result?: AuditDraft['result']
    readonly agent?: string
  },
) => AuditDraft

/** How the vault is, without the count that takes a look into the store. */
export type VaultState = Omit<VaultStatus, 'secrets'>

/** Vault as operators use it. Each change commits together with its entry. */
export interface Vault {
  /** Must be as it was last found, at once. */
  state(): VaultState

  /** Must compare every row with the sealed state, so that `state` says what was found. Must not raise. */
  look(): Promise<void>

  /** Must forget the master key; what was used stays known to the scrubber. */
  lock(entry: VaultEntry): Promise<void>

  /** Must open it with the passphrase, or with the key file. Raises `WrongPassphrase`, `VaultLocked`. */
  unlock(passphrase: string | null, entry: VaultEntry): Promise<void>

  /** Must put another lock around the master key. Raises `VaultLocked`, `WrongPassphrase`. */
  relock(change: SetVaultPassphrase, entry: VaultEntry): Promise<void>

  /** Must make a new master key, also a new key in a key file, around all secrets; returns their number. */
  rotateKey(passphrase: string | null, entry: VaultEntry): Promise<number>

  list(): Promise<readonly Secret[]>

  /** Raises `SecretNotFound`. */
  show(name: string): Promise<Secret>

  /** Raises `SecretExists`, `SecretRefused`, `VaultLocked`. */
  add(secret: AddSecret, entry: VaultEntry): Promise<Secret>

  /** Must leave nothing of the old value. */
  rotate(name: string, change: RotateSecret, entry: VaultEntry): Promise<Secret>

  change(name: string, change: ChangeSecret, entry: VaultEntry): Promise<Secret>

  remove(name: string, entry: VaultEntry): Promise<void>

  /** Must say what `Secrets.use` would, and use nothing. */
  check(use: {
    name: string
    agent: string
    capability: string
    host: string | null
  }): Promise<SecretCheck>

  /** Notes that an agent that may use it asks for a new value. Raises `SecretNotAllowed`. */
  requestRotation(input: { name: string; agent: string; reason: string }): Promise<void>
}
