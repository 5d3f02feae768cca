import type { Storage } from '../ports/storage.ts'

/**
 * Takes the turn to do what one process does for all that share a store, until it is over or taken again; false where another one
 * has it. Alone on its machine a process always has it.
 */
export const takeTurn = async (
  storage: Pick<Storage, 'isNetworked' | 'meta' | 'wallMs'>,
  key: string,
  owner: string,
  turnMs: number,
): Promise<boolean> => {
  if (!storage.isNetworked) return true
  const nowMs = await storage.wallMs()
  return storage.meta.lease(key, owner, nowMs, nowMs + turnMs)
}
