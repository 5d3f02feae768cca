import type { AuditRow, CommitGroup } from '../ports/audit-rows.ts'
import type { Frame, LoggedEntry } from './frame.ts'

/** A row of an entry; null where damage made its text unreadable. */
export const rowOfEntry = ({ seq, hash, body }: LoggedEntry): AuditRow | null => {
  try {
    const fields: unknown = JSON.parse(body)
    return isRow(fields) ? { ...fields, seq, hash, body } : null
  } catch {
    return null
  }
}

type Fields = Omit<AuditRow, 'hash' | 'body'>

const texts = ['chain', 'id', 'timestamp', 'kind', 'agent', 'capability', 'result'] as const
const textsOrNull = ['policy_decision', 'session_id', 'intent_id', 'approval_id'] as const

/** Files of the log may be written by somebody else: an entry that is no row must not break what reads rows. */
const isRow = (value: unknown): value is Fields => {
  if (typeof value !== 'object' || value === null) return false
  const fields = value as Partial<Record<keyof Fields, unknown>>
  return (
    texts.every((name) => typeof fields[name] === 'string') &&
    textsOrNull.every((name) => typeof (fields[name] ?? '') === 'string') &&
    typeof (fields.duration_ms ?? 0) === 'number'
  )
}

/** Consequences of a frame for the store. */
export const groupOf = (chain: string, { entries, note }: Frame): CommitGroup => ({
  chain,
  rows: entries,
  stamps: note.stamps,
  agentCounts: new Map(note.agents),
  sessionCounts: new Map(note.sessions),
  clockMs: note.clockMs,
})
