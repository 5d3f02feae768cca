import type { AuditRow, CommitGroup } from '../ports/audit-rows.ts'
import type { Frame, LoggedEntry } from './frame.ts'

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
export const groupOf = (chain: string, { entries, note }: Frame): CommitGroup => ({
  chain,
  rows: entries,
  stamps: note.stamps,
  agentCounts: new Map(note.agents),
  sessionCounts: new Map(note.sessions),
  clockMs: note.clockMs,
})
