import { errorTable } from '@gatehouse/contract'
import { entryOf } from '../domain/audit/entry.ts'
import type { AuditDraft, Journal } from '../ports/audit.ts'
import type { AuditRow, AuditRows } from '../ports/audit-rows.ts'
import type { LoggedEntry } from './frame.ts'
import { rowOfEntry } from './read-groups.ts'

const atOnce = 500

/** The outcome of a call that a crash cut off: nobody knows whether it took effect. */
const unknownOutcome = (intent: AuditRow): AuditDraft => {
  const { actor, request_id, rule } = entryOf(intent)
  return {
    kind: 'call',
    agent: intent.agent,
    capability: intent.capability,
    // The intent holds the arguments, already shortened; they are not shortened twice.
    arguments: {},
    result: 'error',
    policy_decision: (intent.policy_decision ?? 'none') as AuditDraft['policy_decision'],
    actor,
    session_id: intent.session_id,
    request_id,
    rule,
    duration_ms: null,
    approval_id: intent.approval_id,
    intent_id: intent.id,
    error: { type: 'OutcomeUnknown', message: errorTable.OutcomeUnknown.say },
    detail: null,
  }
}

type Parts = {
  readonly rows: Pick<AuditRows, 'openIntents'>
  readonly entries: (from: number) => Iterable<readonly LoggedEntry[]>
  readonly chain: string
  readonly journal: Pick<Journal, 'append'>
  /** Must make the index anew where it differs from the log. */
  readonly compareIndex: () => Promise<void>
}

/** Which of these intents the log has an outcome of, whatever the index says. */
const closedInLog = (
  entries: Parts['entries'],
  intents: readonly AuditRow[],
): ReadonlySet<string> => {
  const wanted = new Set(intents.map(({ id }) => id))
  const closed = new Set<string>()
  for (const group of entries(Math.min(...intents.map(({ seq }) => seq))))
    for (const entry of group) {
      const intent = rowOfEntry(entry)?.intent_id ?? null
      if (intent !== null && wanted.has(intent)) closed.add(intent)
    }
  return closed
}

/** Gives every open intent of a chain its outcome entry, and says how many there were. */
export const closeIntents = async (parts: Parts): Promise<number> => {
  const { rows, entries, chain, journal, compareIndex } = parts
  let closed = 0
  let isCompared = false
  for (;;) {
    const found = await rows.openIntents(chain, atOnce)
    if (found.length === 0) return closed
    // @SECURITY an index that lost an outcome would have the log say of a call that succeeded that nobody knows;
    // journal.test.ts.
    const done = closedInLog(entries, found)
    if (done.size > 0 && !isCompared) {
      isCompared = true
      await compareIndex()
      continue
    }
    const open = found.filter(({ id }) => !done.has(id))
    if (open.length === 0) return closed
    await Promise.all(open.map((intent) => journal.append(unknownOutcome(intent))))
    closed += open.length
  }
}
