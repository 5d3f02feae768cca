import { GatehouseError } from '@gatehouse/contract'
import { emptyLog } from '../domain/audit/chain.ts'
import type { AuditRows } from '../ports/audit-rows.ts'
import { type Checkpoints, originOf } from './checkpoints.ts'
import type { Keys } from './keys.ts'
import { type Alarm, readMark } from './mark.ts'
import type { Checkpoint } from './note.ts'
import { extend, reconcile } from './reconcile.ts'
import { type Anchor, verifyChain } from './verify-chain.ts'
import type { Standing } from './writer.ts'

type Parts = {
  readonly rows: AuditRows
  readonly directory: string
  readonly chain: string
  readonly keys: Keys
  readonly checkpoints: Checkpoints
}
type Stock = { readonly standing: Standing; readonly alarm: Alarm | null }

export const anchorsOf = (checkpoints: readonly Checkpoint[]): Anchor[] =>
  checkpoints.map(({ size, root }) => ({ size, root, source: `checkpoint ${size}` }))

const largest = (checkpoints: readonly Checkpoint[]): number =>
  Math.max(0, ...checkpoints.map((checkpoint) => checkpoint.size))

/** Compares what the store holds with what was signed, when the service starts. Reads the log's end only. */
export const takeStock = async (parts: Parts): Promise<Stock> => {
  const { rows, directory, chain, keys, checkpoints } = parts
  const mark = readMark(directory, keys, keys)
  if (!mark) return withoutMark(parts)
  if (mark.chain !== chain) {
    throw new GatehouseError('InvalidConfiguration', {
      origin: directory,
      detail: `this directory belongs to chain ${mark.chain}, not ${chain}`,
    })
  }
  const { state, alarm } = await reconcile(rows, chain, mark)
  const { count, baseline } = mark
  const signed = largest(checkpoints.of(originOf(chain, mark.epoch)))
  if (signed <= state.size) {
    return { standing: { state, count, epoch: mark.epoch, alarm: mark.alarm, baseline }, alarm }
  }
  // The mark is older than a checkpoint: log and mark were put back together. What follows is another
  // tree than the one that was signed, so its checkpoints need another origin.
  const rolledBack: Alarm = {
    kind: 'truncated',
    seq: state.size,
    id: (await rows.head(chain))?.id ?? null,
    detail: `${signed - state.size} entries under checkpoint ${signed} are gone`,
  }
  const epoch = mark.epoch + 1
  return { standing: { state, count, epoch, alarm: mark.alarm, baseline }, alarm: rolledBack }
}

/** A first start, or somebody took the mark away: then everything has to be read once. */
const withoutMark = async ({ rows, chain, checkpoints }: Parts): Promise<Stock> => {
  let epoch = 0
  while (checkpoints.of(originOf(chain, epoch + 1)).length > 0) epoch += 1
  const signed = checkpoints.of(originOf(chain, epoch))
  const fresh: Standing = { state: emptyLog, count: 0, epoch, alarm: null, baseline: null }
  const last = await rows.head(chain)
  if (!last && signed.length === 0) return { standing: fresh, alarm: null }
  const anchors = anchorsOf(signed)
  const { fault } = await verifyChain({ rows, chain, from: emptyLog, tree: true, anchors })
  const { state } = await extend(rows, chain, emptyLog, () => true)
  const alarm: Alarm = fault ?? {
    kind: 'anchor_missing',
    seq: state.size - 1,
    id: last?.id ?? null,
    detail: 'there is no signed high-water mark beside the log',
  }
  return { standing: { ...fresh, state, epoch: fault ? epoch + 1 : epoch }, alarm }
}
