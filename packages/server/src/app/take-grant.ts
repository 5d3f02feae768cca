import type { LimitStamp } from '../ports/limits.ts'
import { type Call, callDraft } from './call.ts'
import { callKeyOf } from './call-key.ts'
import type { Basics } from './deps.ts'

export type TakenGrant = { readonly grant_id: string; readonly intent_id: string }

/**
 * Lets a call that would ask run by a standing grant: one use is counted and the intent is on record, in
 * one step. Null where there is no grant for it, and it asks. What an identical call has already asked
 * for comes first, so that its result is handed over and nothing runs twice.
 */
export async function takeGrant(
  deps: Pick<Basics, 'storage' | 'journal' | 'clock' | 'digest'>,
  { op, agent, capability, args, rule }: Call,
  stamps: readonly LimitStamp[],
): Promise<TakenGrant | null> {
  // @SECURITY A critical call is decided on each time, whatever was remembered; grants.test.ts.
  if (capability.critical) return null
  const call_key = callKeyOf(deps, agent.name, capability.name, args)
  const { name, definition_hash } = capability
  const question = { agent: agent.name, capability: name, definition_hash, call_key }
  const moment = { nowMs: deps.clock.now(), wallMs: deps.clock.wall() }
  if ((await deps.storage.grants.listUsable(question, moment)).length === 0) return null
  return deps.journal.transaction(async (tx) => {
    if (await tx.approvals.findOpenCall(agent.name, call_key)) return null
    for (const grant_id of await tx.grants.listUsable(question, moment)) {
      if (!(await tx.grants.use(grant_id, moment))) continue
      const intent = callDraft(op, capability, args, {
        result: 'pending',
        policy_decision: 'approval_required',
        rule,
        detail: { grant_id },
      })
      return { grant_id, intent_id: tx.append(intent, { stamps, counts: true }) }
    }
    return null
  })
}
