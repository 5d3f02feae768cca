import type { AuditRow, CommitGroup } from '../ports/audit-rows.ts'
import type { FramePlace } from '../ports/storage.ts'
import { decodeFrame, type Frame, type LoggedEntry, readHead } from './frame.ts'
import { readAt } from './segment.ts'

/** A row of an entry; null where damage made its text unreadable. */
export const rowOfEntry = ({ seq, hash, body }: LoggedEntry): AuditRow | null => {
  try {
    const fields = JSON.parse(body) as Omit<AuditRow, 'hash' | 'body'>
    return { ...fields, seq, hash, body }
  } catch {
    return null
  }
}

/** What follows from a frame. */
export const groupOf = ({ entries, note }: Frame): CommitGroup => ({
  rows: entries.map(rowOfEntry).filter((row) => row !== null),
  stamps: note.stamps,
  agentCounts: new Map(note.agents),
  sessionCounts: new Map(note.sessions),
  clockMs: note.clockMs,
})

/** The groups that lie at a place of the log. */
export function* groupsAt({ file, at, bytes }: FramePlace): Generator<CommitGroup> {
  const content = readAt(file, at, bytes)
  for (let from = 0; from < content.length; ) {
    const head = readHead(content, from)
    if (!head) return
    yield groupOf(decodeFrame(content.subarray(from, from + head.bytes), head))
    from += head.bytes
  }
}
