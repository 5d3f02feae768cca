import { describeCall } from '@gatehouse/contract/describe-call'
import { plainDraft } from '../../domain/audit/entry.ts'
import { parseStored } from '../../domain/parse-stored.ts'
import type { AuditDraft } from '../../ports/audit.ts'
import { actorText, type Op } from './op.ts'

/** An entry for something that a person, an agent or the service did: `approval.approved`, `agent.paused`, … */
export const actDraft = (
  op: Op,
  act: string,
  facts: {
    readonly agent?: string
    readonly arguments?: Readonly<Record<string, unknown>>
    readonly result?: AuditDraft['result']
    readonly approval_id?: string
    readonly detail?: Readonly<Record<string, unknown>>
  },
): AuditDraft =>
  plainDraft({
    capability: act,
    actor: actorText(op.actor),
    session_id: op.session_id,
    request_id: op.request_id,
    ...facts,
  })

/** Names the call that an act is about, so that a reader of the log need not look it up. */
export const callFacts = (
  table: 'approvals' | 'grants' | 'schedules',
  capability: string,
  arguments_json: string,
) => ({
  capability,
  object: describeCall(capability, parseStored(arguments_json, `${table}.arguments_json`)),
})
