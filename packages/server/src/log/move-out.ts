import { idOf } from '../domain/audit/verify-range.ts'
import type { LoggedEntry } from './frame.ts'
import type { LogFiles } from './log-files.ts'
import { rowOfEntry } from './read-groups.ts'
import { type SetAside, setAsideFile } from './set-aside.ts'
import type { Alarm } from './signed-head.ts'

type Place = { readonly seq: number; readonly id: string | null }

/** Keeps the entries from a number on elsewhere, and takes them out of the log. */
export const moveOut = (
  { files, setAside }: { readonly files: LogFiles; readonly setAside: SetAside },
  from: number,
): Place => {
  let first: LoggedEntry | undefined
  for (const group of files.entries(from)) {
    first ??= group[0]
    setAside(group.map((entry) => rowOfEntry(entry) ?? entry))
  }
  files.cut(from)
  return { seq: from, id: first ? idOf(first) : null }
}

/** The finding about them. */
export const inserted = ({ seq, id }: Place): Alarm => ({
  kind: 'inserted',
  seq,
  id,
  detail: `entries from seq ${seq} on are not of this service; they were moved to ${setAsideFile}`,
})
