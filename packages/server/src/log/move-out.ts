import { idOf } from '../domain/audit/verify-range.ts'
import type { Log } from '../ports/log.ts'
import type { LoggedEntry } from './frame.ts'
import type { LogFiles } from './log-files.ts'
import { rowOfEntry } from './read-groups.ts'
import { type SetAside, setAsideFile } from './set-aside.ts'
import type { Alarm } from './signed-head.ts'

type ResidueParts = {
  readonly files: LogFiles
  readonly setAside: SetAside
  readonly log: Pick<Log, 'error' | 'warn'>
}

type Place = { readonly seq: number; readonly id: string | null }

/**
 * Keeps the entries from a number on elsewhere, and takes them out of the log. @SECURITY A finding about them is on the disk
 * before they are gone: whoever is killed in between would leave no trace of it; forged-entries.test.ts.
 */
export const moveOut = (
  { files, setAside }: { readonly files: LogFiles; readonly setAside: SetAside },
  from: number,
  keep: (place: Place) => void = () => undefined,
): Place => {
  let first: LoggedEntry | undefined
  for (const group of files.entries(from)) {
    first ??= group[0]
    setAside(group.map((entry) => rowOfEntry(entry) ?? entry))
  }
  const place = { seq: from, id: first ? idOf(first) : null }
  keep(place)
  files.cut(from)
  return place
}

/**
 * Takes away what lies behind the end of the log and is no entry: nothing tells what a loss of power left of a write
 * from what somebody put there, so it is kept elsewhere and reported, and is no finding.
 */
export const moveResidue = ({ files, setAside, log }: ResidueParts): void => {
  const residue = files.takeResidue()
  if (!residue) return
  const { at, length, bytes } = residue
  try {
    setAside([{ residue: bytes.toString('base64'), at, length }])
  } catch (err) {
    log.error({ err }, `what lay behind the end of the audit log cannot be kept in ${setAsideFile}`)
  }
  log.warn(
    { at, length },
    `bytes behind the end of the audit log are no entries: what a loss of power left of a write, or somebody else's; they were moved to ${setAsideFile}`,
  )
}

/** The finding about entries. */
export const inserted = ({ seq, id }: Place): Alarm => ({
  kind: 'inserted',
  seq,
  id,
  detail: `entries from seq ${seq} on are not of this service; they were moved to ${setAsideFile}`,
})
