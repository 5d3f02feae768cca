import type { AuditIndex, IndexRow } from '../ports/audit-rows.ts'
import type { Storage } from '../ports/storage.ts'
import type { IndexQuestion } from './check-index.ts'
import type { LogFiles } from './log-files.ts'
import { groupsAt } from './read-groups.ts'
import type { SetAside } from './set-aside.ts'

type Parts = {
  readonly storage: Storage
  readonly files: LogFiles
  readonly chain: string
  readonly setAside: SetAside
}

const sliceRows = 512
const lowest = Number.MIN_SAFE_INTEGER
const highest = Number.MAX_SAFE_INTEGER

/** Keeps the index in step with the log. */
export interface IndexKeeper {
  /** Must bring in what the log has and the index does not; with a thread that indexes, a little later. */
  catchUp(): Promise<void>

  /** Must count uses of limits that are in the log and were not stored before the service ended. */
  restoreUses(): Promise<void>

  /** Must make the index anew, and keep elsewhere what nobody here wrote. */
  rebuild(): Promise<void>

  /** What a comparison of index and log has to know. */
  question(through: number): IndexQuestion
}

export const createIndexKeeper = ({ storage, files, chain, setAside }: Parts): IndexKeeper => {
  const index: AuditIndex = storage.auditIndex
  const { isShared } = storage

  const bringIn = async (from: number): Promise<void> => {
    for (const place of files.places(from, highest)) {
      if (storage.behind) storage.behind.note(place, highest)
      else for (const group of groupsAt(place)) await storage.indexGroup(group)
    }
  }

  /** Rows without an entry may be all that is left of one. */
  const keepStrangers = async (
    of: string,
    from: number,
    to: number,
    isStrange: (seq: number) => boolean,
  ): Promise<void> => {
    for (let next = from; ; ) {
      const rows: readonly IndexRow[] = await index.range(of, next, to, sliceRows)
      const last = rows.at(-1)
      if (!last) return
      const strange = rows.filter(({ seq }) => isStrange(seq))
      if (strange.length > 0) setAside(strange)
      next = last.seq + 1
    }
  }

  return {
    question: (through) => ({ chain, through, isShared }),

    async restoreUses() {
      const { counted } = await index.progress(chain)
      for (const place of files.places(counted, highest))
        for (const { rows, stamps } of groupsAt(place))
          if ((rows[0]?.seq ?? 0) >= counted) storage.limits.restore(stamps)
    },

    async catchUp() {
      const { next } = await index.progress(chain)
      if (next < files.end) await bringIn(next)
    },

    async rebuild() {
      await storage.behind?.caughtUp()
      await keepStrangers(chain, lowest, highest, (seq) => files.entry(seq) === null)
      for (const { chain: other } of isShared ? [] : await index.ends()) {
        if (other === chain) continue
        await keepStrangers(other, lowest, highest, () => true)
        await index.clear(other)
      }
      await index.clear(chain)
      await index.dropCopies(chain)
      await bringIn(0)
    },
  }
}
