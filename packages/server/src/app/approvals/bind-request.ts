import type { StoredApproval } from '../../ports/approvals.ts'
import type { PolicySource } from '../../ports/policy.ts'
import type { Basics } from '../call/basics.ts'
import type { Call } from '../call/call.ts'
import { callKeyOf } from '../call/call-key.ts'
import type { ContextFactory } from '../call/capability-context.ts'
import { placesOf } from '../call/policy-question.ts'

export type BindDeps = Basics & {
  readonly policy: PolicySource
  readonly node: string
  readonly contexts: ContextFactory
  readonly settings: { readonly 'approvals.ttl': number }
}

export const digestPrefix = 'gatehouse-approval-v1\0'

/** A request, and facts about it for the log. */
export type BoundRequest = {
  readonly request: StoredApproval
  readonly noted: Readonly<Record<string, unknown>> | null
}

/** Everything that an approval binds, in one canonical text: what is shown is what runs. */
export async function bindRequest(deps: BindDeps, call: Call): Promise<BoundRequest> {
  const { op, agent, capability, args } = call
  const places = placesOf(deps.contexts.filesOf(call), capability, args)
  let noted: BoundRequest['noted'] = null
  const context = deps.contexts.previewOf({ ...call, places }, op.signal, (facts) => {
    noted = { ...noted, ...facts }
  })
  const resolved = capability.resolve ? await capability.resolve(args as never, context) : {}
  const preview = capability.preview ? await capability.preview(args as never, context) : null
  const bound_json = deps.digest.canonical({
    agent: agent.name,
    capability: capability.name,
    definition_hash: capability.definition_hash,
    arguments: args,
    policy_version: deps.policy.current().version,
    resolved,
    places,
    // Alone on its store it is the same one wherever its data lies.
    ...(deps.storage.isNetworked ? { node: deps.node } : {}),
    nonce: deps.ids.secret().toString('hex'),
  })
  const arguments_json = deps.digest.canonical(args)
  const sent_json = deps.digest.canonical(call.sent ?? {})
  const wallMs = deps.clock.wall()
  const request: StoredApproval = {
    id: deps.ids.next('appr'),
    agent: agent.name,
    capability: capability.name,
    arguments_json,
    sent_json: sent_json === arguments_json ? null : sent_json,
    bound_json,
    digest: `sha256:${deps.digest.sha256(digestPrefix + bound_json)}`,
    call_key: callKeyOf(deps, agent.name, capability.name, args),
    requested_ms: wallMs,
    expires_ms: deps.clock.now() + deps.settings['approvals.ttl'],
    expires_wall_ms: wallMs + deps.settings['approvals.ttl'],
    status: 'pending',
    session_id: op.session_id,
    request_id: op.request_id,
    reason: call.reason,
    agent_reason: null,
    rule: call.rule,
    critical: capability.critical || call.critical === true,
    preview,
    decided_ms: null,
    decided_by: null,
    decision_reason: null,
    execution: 'waiting',
    exec_id: null,
    result: null,
    result_text: null,
    delivered: 'no',
    edit: null,
  }
  return { request, noted }
}
