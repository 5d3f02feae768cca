import { errorTable } from '@gatehouse/contract'
import { entryOf } from '../domain/audit/entry.ts'
import type { AuditDraft, Journal } from '../ports/audit.ts'
import type { AuditRow, AuditRows } from '../ports/audit-rows.ts'

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

/** Gives every open intent of a chain its outcome entry, and says how many there were. */
export const closeIntents = async (
  rows: Pick<AuditRows, 'openIntents'>,
  chain: string,
  journal: Pick<Journal, 'append'>,
): Promise<number> => {
  let closed = 0
  for (;;) {
    const open = await rows.openIntents(chain, atOnce)
    if (open.length === 0) return closed
    await Promise.all(open.map((intent) => journal.append(unknownOutcome(intent))))
    closed += open.length
  }
}
