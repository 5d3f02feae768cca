import { GatehouseError } from '@gatehouse/contract'
import { moveKey, parseMark } from '../../domain/move-mark.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import type { Op } from '../call/op.ts'

/** Lets a store be served whose data was moved here, and records in the same transaction what was moved. */
export async function recordMove(
  op: Op,
  { storage, auditLog }: Pick<Basics, 'storage' | 'auditLog'>,
): Promise<void> {
  await auditLog.transaction(async (tx) => {
    const mark = parseMark(await tx.meta.get(moveKey))
    if (mark?.state !== 'arriving')
      throw new GatehouseError('MoveRefused', { detail: 'no move into this store is under way' })
    await tx.meta.set(moveKey, JSON.stringify({ ...mark, state: 'done' }))
    const { from_store, tables } = mark
    const sums = Object.entries(tables)
      .filter(([, { rows }]) => rows > 0)
      .map(([name, { rows, sha256 }]) => [name, `${rows} ${sha256}`] as const)
    tx.append(
      actDraft(op, 'store.moved', {
        arguments: { engine: storage.engine },
        detail: { from_store, store: storage.id, tables: Object.fromEntries(sums) },
      }),
    )
  })
}
