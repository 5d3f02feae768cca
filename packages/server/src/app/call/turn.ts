import { GatehouseError } from '@gatehouse/contract'
import type { MetaStore } from '../../ports/storage.ts'
import type { Basics } from './basics.ts'

export type Turn = AsyncDisposable & {
  /** Raises `Conflict` where somebody else has the turn by now; `meta` is that of the transaction that asks. */
  keep(meta?: MetaStore): Promise<void>
}

type Given = {
  readonly key: string
  /** Longer than the steps between two calls of `keep`, so that a turn ends by itself only where its node died. */
  readonly ms: number
  /** Message for whoever comes meanwhile. */
  readonly detail: string
}

/** Lets one at a time do what takes several transactions, over all nodes. Raises `Conflict` where somebody else does it. */
export async function takeTurn(
  { storage, clock, ids }: Pick<Basics, 'storage' | 'clock' | 'ids'>,
  { key, ms, detail }: Given,
): Promise<Turn> {
  const owner = ids.next('req')
  const keep = async (meta: MetaStore = storage.meta): Promise<void> => {
    const nowMs = clock.now()
    if (!(await meta.lease(key, owner, nowMs, nowMs + ms)))
      throw new GatehouseError('Conflict', { detail })
  }
  await keep()
  return {
    keep,
    [Symbol.asyncDispose]: () => storage.meta.release(key, owner),
  }
}
