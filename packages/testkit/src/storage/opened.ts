import type { Storage } from '@gatehouse/server/ports/storage'

/** A store of its own for one test, gone when disposed. */
export type OpenedStorage = AsyncDisposable & {
  readonly storage: Storage
  /** Must close it and open it again, as after a restart. */
  readonly reopen: () => Promise<Storage>
}

export type Open = () => Promise<OpenedStorage>
