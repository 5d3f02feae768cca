import type { CommitGroup } from '../ports/audit-rows.ts'
import type { Storage } from '../ports/storage.ts'
import { copiesOf } from './chain-verifier.ts'
import type { LogReader } from './log-files.ts'
import { groupOf } from './read-groups.ts'
import type { SetAside } from './set-aside.ts'

export type RecordParts = {
  readonly storage: Pick<Storage, 'copies' | 'isShared' | 'limits' | 'record' | 'recorded'>
  readonly files: LogReader
  readonly chain: string
}

/** Records what follows from the groups before `end` that the store does not have. */
export const recordRest = async (
  { storage, files, chain }: RecordParts,
  end: number,
  eachGroup: (group: CommitGroup) => void = () => undefined,
): Promise<void> => {
  for (const frame of files.frames(await storage.recorded(chain), end)) {
    const group = groupOf(chain, frame)
    eachGroup(group)
    await storage.record(group)
  }
}

/** The same when a service starts: uses of limits that were not stored before it ended are counted again. */
export const recordRestAtStart = (parts: RecordParts, end: number): Promise<void> =>
  recordRest(parts, end, ({ stamps }) => parts.storage.limits.restore(stamps))

/** Copies the entries before `end` anew; a copy of an entry that the log does not have is kept elsewhere. */
export const remakeCopies = async (
  parts: RecordParts & { readonly setAside: SetAside },
  end: number,
): Promise<void> => {
  const { storage, files, chain, setAside } = parts
  for await (const group of copiesOf(storage.copies, chain, Number.MIN_SAFE_INTEGER)) {
    const strange = group.filter(({ seq }) => files.entry(seq) === null)
    if (strange.length > 0) setAside(strange)
  }
  await storage.copies.drop(chain)
  for (const frame of files.frames(0, end)) await storage.record(groupOf(chain, frame))
}
