import { parseStored } from '../../domain/parse-stored.ts'
import type { LimitStamp } from '../../ports/limits.ts'
import type { Stores } from '../../ports/storage.ts'
import type { Basics } from '../call/basics.ts'
import { type Call, callDraft } from '../call/call.ts'
import { callKeyOf } from '../call/call-key.ts'
import type { ContextFactory } from '../call/capability-context.ts'
import { placesOf } from '../call/policy-question.ts'

export type TakenGrant = {
  readonly grant_id: string
  readonly intent_id: string
  /** Facts that the call resolves to, where the grant is for exactly those. */
  readonly resolved?: Facts
  /** Where its path arguments lead: what a grant for the same arguments was given for. */
  readonly places: NonNullable<Call['places']>
}

type Facts = Readonly<Record<string, unknown>>
type Deps = Pick<Basics, 'storage' | 'auditLog' | 'clock' | 'digest'> & {
  readonly contexts: ContextFactory
}

/** Facts that the call resolves to now, for a capability whose grants are valid for those only. */
const resolvedNow = async ({ contexts }: Deps, call: Call): Promise<Facts | null> => {
  const { capability, op, args } = call
  if (!capability.grants_bind || !capability.resolve) return null
  return capability.resolve(args as never, contexts.previewOf(call, op.signal))
}

/**
 * @SECURITY "The same again" is the same script, not the same name of one (process-approval.test.ts,
 * "remembered").
 */
const isSame = async (
  { digest }: Deps,
  tx: Stores,
  grant_id: string,
  resolved: Facts | null,
  places: Facts,
): Promise<boolean> => {
  const grant = await tx.grants.find(grant_id)
  if (grant?.match !== 'same_arguments') return true
  const approval = await tx.approvals.find(grant.approval_id)
  if (!approval) return false
  const bound = parseStored<{
    readonly resolved: unknown
    readonly places?: unknown
  }>(approval.bound_json, 'approvals.bound_json')
  if (bound.places && digest.canonical(bound.places) !== digest.canonical(places)) return false
  return !resolved || digest.canonical(bound.resolved) === digest.canonical(resolved)
}

/**
 * Lets a call that would ask run by a standing grant: one use is counted and the intent is on record, in
 * one step. Null where there is no grant for it, and it asks. What an identical call has already asked
 * for comes first, so that its result is handed over and nothing runs twice.
 */
export async function takeGrant(
  deps: Deps,
  call: Call,
  stamps: readonly LimitStamp[],
): Promise<TakenGrant | null> {
  const { op, agent, capability, args, rule } = call
  // @SECURITY A critical call is decided on each time, whatever was remembered; grants.test.ts.
  if (capability.critical || call.critical) return null
  const call_key = callKeyOf(deps, agent.name, capability.name, args)
  const { name, definition_hash } = capability
  const question = { agent: agent.name, capability: name, definition_hash, call_key }
  const moment = { nowMs: deps.clock.now(), wallMs: deps.clock.wall() }
  if ((await deps.storage.grants.listUsable(question, moment)).length === 0) return null
  const resolved = await resolvedNow(deps, call)
  const places = placesOf(deps.contexts.filesOf(call), capability, args)
  return deps.auditLog.transaction(async (tx) => {
    if (await tx.approvals.findOpenCall(agent.name, call_key)) return null
    for (const grant_id of await tx.grants.listUsable(question, moment)) {
      if (!(await isSame(deps, tx, grant_id, resolved, places))) continue
      if (!(await tx.grants.use(grant_id, moment))) continue
      const intent = callDraft(op, capability, args, {
        result: 'pending',
        policy_decision: 'approval_required',
        rule,
        detail: { grant_id },
      })
      const intent_id = tx.append(intent, { stamps, counts: true })
      return { grant_id, intent_id, places, ...(resolved ? { resolved } : {}) }
    }
    return null
  })
}
