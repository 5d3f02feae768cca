import { GatehouseError } from '@gatehouse/contract'
import type { LogState } from '../domain/audit/chain.ts'
import type { ExportSource, SignedNote } from '../ports/audit-export.ts'
import type { AuditRows } from '../ports/audit-rows.ts'
import type { Clock } from '../ports/clock.ts'
import { originOf } from './checkpoints.ts'
import { createCursors } from './export-cursors.ts'
import { exportPart } from './export-part.ts'
import type { Keys } from './keys.ts'
import type { LogFiles } from './log-files.ts'
import { type Checkpoint, readCheckpoints } from './note.ts'
import type { RecordedRoot } from './recorded-root.ts'
import { readRoots } from './root-note.ts'
import type { Writer } from './writer.ts'

type Parts = {
  readonly directory: string
  readonly chain: string
  readonly keys: Keys
  readonly clock: Clock
  readonly files: LogFiles
  readonly writer: Pick<Writer, 'standing' | 'raise'>
  readonly rows: Pick<AuditRows, 'range'>
  /** The newest checkpoints, and some of the older ones; and each of them. */
  readonly signed: () => readonly Checkpoint[]
  readonly all: () => readonly Checkpoint[]
  /** The newest root over all logs that this process made. */
  readonly root: () => Promise<RecordedRoot | null>
  /** The state before the first entry that is left. */
  readonly begin: () => LogState
}

const notesOf = (
  checkpoints: readonly Checkpoint[],
  made: RecordedRoot | null,
): readonly SignedNote[] => {
  const ofAll = made ? [{ size: made.seq + 1, note: made.note, of: 'all logs' } as const] : []
  const ofLog = checkpoints.map(({ size, note }) => ({ size, note, of: 'log' }) as const)
  // A checkpoint is over the entry about the root: of the same size it comes behind.
  return [...ofAll, ...ofLog].toSorted((a, b) => a.size - b.size)
}

/** The log as those see it who carry it elsewhere. */
export const createExportSource = (parts: Parts): ExportSource => {
  const { directory, chain, keys, clock, files, writer, rows, signed, all, root, begin } = parts
  const cursors = createCursors(directory, chain, keys)
  const origin = (): string => originOf(chain, writer.standing.epoch)
  const partFrom = (state: LogState) =>
    exportPart(
      {
        ...{ files, chain, origin: origin(), publicKey: keys.raw },
        createdAt: new Date(clock.wall()).toISOString(),
        checkpoints: signed(),
      },
      state,
    )

  return {
    partFrom(state) {
      try {
        return partFrom(state)
      } catch (cause) {
        const { baseline } = writer.standing
        const isAccepted =
          cause instanceof GatehouseError && baseline !== null && state.size < baseline.size
        // Entries that were acknowledged as damaged are left out: the next part says where it begins.
        if (!isAccepted) throw cause
        return partFrom(baseline)
      }
    },
    // @SECURITY A root of before this start must be looked for first, or witnesses never get it; log-of-two-nodes.test.ts.
    notesAfter: async (size) => notesOf(signed(), await root()).filter((one) => one.size > size),
    begin,
    size: () => writer.standing.state.size,
    async timeOf(seq) {
      const [row] = await rows.range(chain, seq, seq + 1, 1)
      return row ? Date.parse(row.timestamp) : null
    },
    readCursor: (name) => cursors.read(name),
    writeCursor: (name, state) => cursors.write(name, state),

    compare(notes, source) {
      const { size } = writer.standing.state
      const own = new Map(all().map((checkpoint) => [checkpoint.size, checkpoint.root]))
      for (const kept of readCheckpoints(notes, keys)) {
        if (kept.origin !== origin()) continue
        const place = { seq: Math.min(size, kept.size), id: null }
        if (kept.size > size)
          writer.raise({
            ...{ kind: 'truncated', ...place },
            detail: `${source} has a checkpoint over ${kept.size} entries, and the log has ${size}`,
          })
        else if ((own.get(kept.size) ?? kept.root) !== kept.root)
          writer.raise({
            ...{ kind: 'modified', ...place },
            detail: `${source} has another checkpoint over ${kept.size} entries`,
          })
      }
      for (const kept of readRoots(notes, (name) => (name === chain ? keys : null)))
        if (kept.size > size)
          writer.raise({
            ...{ kind: 'truncated', seq: size, id: null },
            detail: `${source} has a root over all logs from when this one had ${kept.size} entries, and it has ${size}`,
          })
    },
  }
}
