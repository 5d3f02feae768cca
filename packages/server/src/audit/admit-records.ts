import { createLinker, genesis } from '../domain/audit/chain.ts'
import type { AuditRow, CommitGroup } from '../ports/audit-rows.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { Storage } from '../ports/storage.ts'
import { hashing } from './hashing.ts'
import { loadKeys } from './keys.ts'
import { type Alarm, type Mark, openMark, readMark, sealMark } from './mark.ts'
import { createSetAside, setAsideFile } from './set-aside.ts'
import { newerOf, readStoredMark } from './stored-mark.ts'

type Store = Pick<Storage, 'auditRows' | 'meta' | 'evictRows'>
type Options = {
  readonly directory: string
  readonly chain: string
  readonly clock: Pick<Clock, 'wall'>
  readonly log: Log
}

/**
 * Decides which of the groups that were kept beside the mark are stored at a start: exactly those that a sealed
 * state covers. Nobody was answered for one that came later. Entries that the store was known to hold and holds no
 * more are put back under an alarm; entries that stand in their place are moved out of the log.
 */
export const admitRecords =
  ({ directory, chain, clock, log }: Options) =>
  async (groups: readonly CommitGroup[], store: Store): Promise<readonly CommitGroup[]> => {
    if (groups.length === 0) return []
    const keys = loadKeys(directory)
    const known = newerOf(
      readMark(directory, keys, keys),
      await readStoredMark(store.meta, chain, keys),
    )
    if (known?.chain !== chain) return []
    const sealed = await sealedEnd(groups, known, store)
    const held = await heldOf(sealed, known, store)
    const isOurs = (row: AuditRow): boolean => sealed.get(row.seq)?.hash === row.hash
    const { some, foreign } = await lookBehind(store, chain, held, isOurs)
    // Later rows are stored after earlier ones: where there are some, what is not there was there.
    const lost = some || held < known.stored
    const alarm = foreign ? inserted(foreign) : lost ? removed(held, sealed) : null
    if (alarm && !known.alarm) {
      log.error({ alarm, chain }, 'the audit log failed verification')
      // Before anything is changed: whoever is killed from here on has not made it unseen.
      using mark = openMark(directory, keys)
      mark.write(sealMark({ ...known, count: known.count + 1, alarm }, keys))
    }
    const setAside = createSetAside(directory, clock)
    if (some)
      await store.evictRows(chain, held, Number.MAX_SAFE_INTEGER, (rows) => {
        const others = rows.filter((row) => !isOurs(row))
        if (others.length > 0) setAside(others)
      })
    return groups.flatMap((group) => admitted(group, held, known, isOurs))
  }

/**
 * The rows of the records that the head of the sealed state proves, one after the other from the last one back to
 * where the store is known to go on. A row proves the hash of the one before it.
 */
const sealedEnd = async (
  groups: readonly CommitGroup[],
  known: Mark,
  { auditRows }: Store,
): Promise<ReadonlyMap<number, AuditRow>> => {
  const { chain, size, stored } = known
  const kept = new Map<number, AuditRow[]>()
  for (const row of groups.flatMap((group) => group.rows))
    if (row.chain === chain) kept.set(row.seq, [...(kept.get(row.seq) ?? []), row])
  const from = Math.min(stored, size, ((await auditRows.head(chain))?.seq ?? -1) + 1)
  const linker = createLinker(hashing)
  const proven = new Map<number, AuditRow>()
  let head = known.head
  for (let seq = size - 1; seq >= from; seq -= 1) {
    const row = kept.get(seq)?.find(({ hash }) => hash === head)
    if (!row) break
    const before = seq === 0 ? [genesis] : (kept.get(seq - 1) ?? []).map(({ hash }) => hash)
    const below = seq === 0 ? [] : await auditRows.range(chain, seq - 1, seq, 1)
    const prev = [...before, ...below.map(({ hash }) => hash)].find(
      (hash) => linker.link(hash, seq, row.body) === row.hash,
    )
    if (prev === undefined) break
    proven.set(seq, row)
    head = prev
  }
  return proven
}

/** How far the store holds what is sealed, as far as the records can tell. */
const heldOf = async (
  sealed: ReadonlyMap<number, AuditRow>,
  { chain, size }: Mark,
  { auditRows }: Store,
): Promise<number> => {
  let held = size - sealed.size
  while (held < size) {
    const rows = await auditRows.range(chain, held, size, 512)
    const differs = rows.findIndex(
      (row, i) => row.seq !== held + i || sealed.get(row.seq)?.hash !== row.hash,
    )
    if (differs !== -1 || rows.length === 0) return held + Math.max(differs, 0)
    held += rows.length
  }
  return held
}

const inserted = ({ seq, id }: AuditRow): Alarm => ({
  kind: 'inserted',
  seq,
  id,
  detail: `entries from seq ${seq} on are not of this service; they were moved to ${setAsideFile}`,
})

/** Without records for it, nothing is put back, and the comparison with the mark tells of it. */
const removed = (held: number, sealed: ReadonlyMap<number, AuditRow>): Alarm | null => {
  const first = sealed.get(held)
  if (!first) return null
  const detail = `entries from seq ${held} on had been removed from the store, and were put back`
  return { kind: 'truncated', seq: held, id: first.id, detail }
}

/** Rows where the store may hold none: whether there are any, and the first that is not ours. */
const lookBehind = async (
  { auditRows }: Store,
  chain: string,
  held: number,
  isOurs: (row: AuditRow) => boolean,
): Promise<{ readonly some: boolean; readonly foreign: AuditRow | undefined }> => {
  for (let from = held; ; ) {
    const rows = await auditRows.range(chain, from, Number.MAX_SAFE_INTEGER, 512)
    const foreign = rows.find((row) => !isOurs(row))
    const last = rows.at(-1)
    if (foreign || !last) return { some: from > held || rows.length > 0, foreign }
    from = last.seq + 1
  }
}

/** The part of a group that the store does not hold. What goes with its rows was counted when they were stored. */
const admitted = (
  group: CommitGroup,
  held: number,
  { stored }: Mark,
  isOurs: (row: AuditRow) => boolean,
): CommitGroup[] => {
  const rows = group.rows.filter((row) => row.seq >= held && isOurs(row))
  const [first] = rows
  if (!first) return []
  if (rows.length === group.rows.length && first.seq >= stored) return [group]
  return [{ ...group, rows, stamps: [], agentCounts: new Map(), sessionCounts: new Map() }]
}
