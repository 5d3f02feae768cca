import { copiedFields, type LogRow } from './row.ts'

/**
 * Names the first column that says something else than the body, or null. Parsing is the quickest way to
 * know: walks over the text that skip what has no column were slower.
 */
export const columnFault = (row: LogRow): string | null => {
  try {
    const body = JSON.parse(row.body) as Partial<Record<keyof LogRow, unknown>>
    return agrees(body, row)
      ? null
      : (copiedFields.find((name) => body[name] !== row[name]) ?? null)
  } catch {
    return 'body'
  }
}

/** Written out: this runs for every entry of every verification, and access by name costs half of it. */
const agrees = (body: Partial<Record<keyof LogRow, unknown>>, row: LogRow): boolean =>
  body.seq === row.seq &&
  body.id === row.id &&
  body.timestamp === row.timestamp &&
  body.agent === row.agent &&
  body.capability === row.capability &&
  body.result === row.result &&
  body.kind === row.kind &&
  body.policy_decision === row.policy_decision &&
  body.session_id === row.session_id &&
  body.duration_ms === row.duration_ms &&
  body.intent_id === row.intent_id &&
  body.approval_id === row.approval_id &&
  body.chain === row.chain
