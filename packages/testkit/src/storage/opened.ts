import type { Storage } from '@gatehouse/server/ports/storage'

/** A store of its own for one test, gone when disposed. */
export type OpenedStorage = AsyncDisposable & {
  readonly storage: Storage
  /** Closes it and opens it again, where it outlives its process. */
  readonly reopen?: () => Promise<Storage>
}

export type Open = () => Promise<OpenedStorage>

/** The store as it is after a restart; where nothing outlives the process, the store itself. */
export const afterRestart = async (opened: OpenedStorage): Promise<Storage> =>
  opened.reopen ? opened.reopen() : opened.storage
