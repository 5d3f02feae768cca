import type { AppDeps } from './app/app-deps.ts'
import type { ChangingRegistry } from './ports/capability.ts'
import type { Clock } from './ports/clock.ts'
import type { Ids } from './ports/ids.ts'
import type { Outbound } from './ports/outbound.ts'
import type { Sandbox } from './ports/sandbox.ts'
import type { ServiceAdapters } from './ports/service-adapter.ts'
import type { Storage } from './ports/storage.ts'
import type { KdfCosts } from './vault/passphrase-key.ts'

/**
 * Replacements that tests put in place of what this machine has. Given by the caller in code alone: settings and environment
 * never reach it.
 */
export type Overrides = {
  /** In place of the clock of this machine. */
  readonly clock?: Clock
  readonly ids?: Ids
  /** The folder of the agents' own folders, when it lies outside of the data directory. */
  readonly workspaces?: string
  /** Stands between the whole service, its log included, and its store. */
  readonly storage?: (opened: Storage) => Storage
  /** False: long parts of the log are verified on this thread, in slices. */
  readonly verifiesOnThread?: boolean
  /** Costs of making a key of a passphrase. */
  readonly kdf?: KdfCosts
  /** In place of one with the standard capabilities. */
  readonly registry?: ChangingRegistry
  readonly sandbox?: Sandbox
  readonly outbound?: Outbound
  /** In place of the kinds of services that can be connected. */
  readonly adapters?: ServiceAdapters
  /** Exchanges or wraps, last of all, what the application stands on. */
  readonly parts?: (parts: AppDeps) => AppDeps
}
