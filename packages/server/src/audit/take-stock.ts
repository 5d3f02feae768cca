import { GatehouseError } from '@gatehouse/contract'
import { createLinker, emptyLog, type LogState, leafOf } from '../domain/audit/chain.ts'
import { createTree } from '../domain/audit/merkle.ts'
import type { AuditRows } from '../ports/audit-rows.ts'
import type { MetaStore } from '../ports/storage.ts'
import { type Checkpoints, originOf } from './checkpoints.ts'
import { compareEnd } from './compare-end.ts'
import { hashing } from './hashing.ts'
import type { Keys } from './keys.ts'
import { type Alarm, type Mark, readMark } from './mark.ts'
import type { Checkpoint } from './note.ts'
import { newerOf, readStoredMark } from './stored-mark.ts'
import { type Anchor, verifyChain } from './verify-chain.ts'
import type { Standing } from './writer.ts'

type Parts = {
  readonly rows: AuditRows
  readonly meta: Pick<MetaStore, 'get'>
  readonly directory: string
  readonly chain: string
  readonly keys: Keys
  readonly checkpoints: Checkpoints
}
type Stock = {
  readonly standing: Standing
  readonly alarm: Alarm | null
  /** Whether anything sealed says where the log ends. */
  readonly isSealed: boolean
}

const sliceRows = 512
const hex = /^[0-9a-f]{64}$/

export const anchorsOf = (checkpoints: readonly Checkpoint[]): Anchor[] =>
  checkpoints.map(({ size, root }) => ({ size, root, source: `checkpoint ${size}` }))

const largest = (checkpoints: readonly Checkpoint[]): number =>
  Math.max(0, ...checkpoints.map((checkpoint) => checkpoint.size))

const withoutMark: Alarm = {
  kind: 'anchor_missing',
  seq: 0,
  id: null,
  detail: 'there is no signed high-water mark beside the log',
}

/**
 * Compares what the store holds with what was sealed, when the service starts. Reads the log's end only. Where
 * something is sealed, the standing covers nothing else: rows behind it are not taken in.
 */
export const takeStock = async (parts: Parts): Promise<Stock> => {
  const { rows, meta, directory, chain, keys } = parts
  const mark = readMark(directory, keys, keys)
  if (mark && mark.chain !== chain) {
    throw new GatehouseError('InvalidConfiguration', {
      origin: directory,
      detail: `this directory belongs to chain ${mark.chain}, not ${chain}`,
    })
  }
  const known = newerOf(mark, await readStoredMark(meta, chain, keys))
  if (!known) return unsealed(parts)
  const id = (await rows.head(chain))?.id ?? null
  const missing = mark ? null : { ...withoutMark, seq: known.size - 1, id }
  const alarm = (await compareEnd(rows, chain, known)) ?? missing
  return (
    (await upToCheckpoint(parts, known, alarm)) ?? {
      standing: standingOf(known),
      alarm,
      isSealed: true,
    }
  )
}

const standingOf = ({
  size,
  head,
  peaks,
  count,
  epoch,
  alarm,
  baseline,
  vault,
}: Mark): Standing => ({
  state: { size, head, peaks },
  count,
  epoch,
  alarm,
  baseline,
  vault,
})

/** What a checkpoint reaches further than the mark: a mark was put back, or log and mark were. */
const upToCheckpoint = async (
  { rows, chain, checkpoints }: Parts,
  known: Mark,
  alarm: Alarm | null,
): Promise<Stock | null> => {
  const signed = checkpoints.of(originOf(chain, known.epoch))
  const size = largest(signed)
  if (size <= known.size) return null
  const anchors = anchorsOf(signed)
  const found = await verifyChain({ rows, chain, from: known, through: size, tree: true, anchors })
  const standing = standingOf(known)
  if (!found.fault) return { standing: { ...standing, state: found.state }, alarm, isSealed: true }
  // What follows is another tree than the one that was signed, so its checkpoints need another origin.
  const rolledBack: Alarm = {
    kind: 'truncated',
    seq: known.size,
    id: (await rows.range(chain, known.size - 1, known.size, 1))[0]?.id ?? null,
    detail: `${size - known.size} entries under checkpoint ${size} are gone`,
  }
  return {
    standing: { ...standing, epoch: known.epoch + 1 },
    alarm: rolledBack,
    isSealed: true,
  }
}

/**
 * A first start, or somebody took away every mark: then everything has to be read once. Checkpoints say up to
 * where entries are taken in; without any there is nothing that could tell them from forged ones, and all are
 * under the alarm.
 */
const unsealed = async ({ rows, chain, checkpoints }: Parts): Promise<Stock> => {
  let epoch = 0
  while (checkpoints.of(originOf(chain, epoch + 1)).length > 0) epoch += 1
  const signed = checkpoints.of(originOf(chain, epoch))
  const fresh: Standing = {
    state: emptyLog,
    count: 0,
    epoch,
    alarm: null,
    baseline: null,
    vault: null,
  }
  const last = await rows.head(chain)
  if (!last && signed.length === 0) return { standing: fresh, alarm: null, isSealed: false }
  const anchors = anchorsOf(signed)
  const through = signed.length > 0 ? largest(signed) : last ? last.seq + 1 : 0
  const { fault } = await verifyChain({ rows, chain, from: emptyLog, through, tree: true, anchors })
  const state = await takeIn(rows, chain, through)
  const alarm = fault ?? { ...withoutMark, seq: state.size - 1, id: last?.id ?? null }
  return {
    standing: { ...fresh, state, epoch: fault ? epoch + 1 : epoch },
    alarm,
    isSealed: false,
  }
}

/** Takes in every row before `size`, sound or not: what is unsound is an alarm, not a lost entry. */
const takeIn = async (
  rows: Pick<AuditRows, 'range'>,
  chain: string,
  size: number,
): Promise<LogState> => {
  const linker = createLinker(hashing)
  const tree = createTree(hashing)
  let { head } = emptyLog
  for (;;) {
    const slice = await rows.range(chain, tree.size, size, sliceRows)
    if (slice.length === 0) return { size: tree.size, head, peaks: tree.peaks() }
    for (const row of slice) {
      // Entries that are gone keep their place in the tree, as leaves of nothing.
      while (tree.size < row.seq) tree.push(leafOf(linker, tree.size, ''))
      tree.push(leafOf(linker, row.seq, row.body))
      if (hex.test(row.hash)) head = row.hash
    }
  }
}
