import type { AuditLog } from '../../ports/audit.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Digest } from '../../ports/digest.ts'
import type { EventBus } from '../../ports/events.ts'
import type { Ids } from '../../ports/ids.ts'
import type { Log } from '../../ports/log.ts'
import type { Storage } from '../../ports/storage.ts'

/** The few things nearly every use case needs; each names the ones it takes by `Pick`. */
export type Basics = {
  readonly storage: Storage
  readonly auditLog: AuditLog
  readonly clock: Clock
  readonly ids: Ids
  readonly digest: Digest
  readonly events: EventBus
  readonly log: Log
}
