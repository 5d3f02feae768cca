import type { AuditLog, VaultAnchor } from '../ports/audit.ts'
import type { Clock } from '../ports/clock.ts'
import type { Ids } from '../ports/ids.ts'
import type { Log } from '../ports/log.ts'
import type { Storage } from '../ports/storage.ts'
import type { KdfCosts } from './passphrase-key.ts'

export type VaultParts = {
  readonly storage: Storage
  readonly auditLog: AuditLog & VaultAnchor
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly keyFile: string
  /** Of passphrases; the usual costs where it is left out. */
  readonly kdf?: KdfCosts | undefined
}
