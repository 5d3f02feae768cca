import { errorTable } from '@gatehouse/contract'
import { entryOf, plainDraft } from '../domain/audit/entry.ts'
import type { AuditDraft, AuditLog } from '../ports/audit.ts'
import type { AuditRow, AuditRows } from '../ports/audit-rows.ts'

const atOnce = 500

/** The outcome of a call that a crash cut off: nobody knows whether it took effect. */
const unknownOutcome = (intent: AuditRow): AuditDraft => {
  const { actor, request_id, rule } = entryOf(intent)
  // The intent holds the arguments, already shortened; they are not shortened twice.
  return plainDraft({
    kind: 'call',
    agent: intent.agent,
    capability: intent.capability,
    result: 'error',
    policy_decision: (intent.policy_decision ?? 'none') as AuditDraft['policy_decision'],
    actor,
    session_id: intent.session_id,
    request_id,
    rule,
    approval_id: intent.approval_id,
    intent_id: intent.id,
    error: { type: 'OutcomeUnknown', message: errorTable.OutcomeUnknown.say },
  })
}

type Parts = {
  readonly rows: Pick<AuditRows, 'openIntents'>
  readonly auditLog: Pick<AuditLog, 'append'>
}

/** Gives every open intent of this node its outcome entry, and says how many there were. */
export const closeIntents = async ({ rows, auditLog }: Parts): Promise<number> => {
  for (let closed = 0; ; ) {
    const open = await rows.openIntents(atOnce)
    if (open.length === 0) return closed
    await Promise.all(open.map((intent) => auditLog.append(unknownOutcome(intent))))
    closed += open.length
  }
}
