import {
  type ApprovalId,
  GatehouseError,
  type Grant,
  type GrantId,
  type GrantStatus,
  type Remember,
} from '@gatehouse/contract'
import { parseStored } from '../../domain/parse-stored.ts'
import type { StoredApproval } from '../../ports/approvals.ts'
import type { AuditDraft, AuditTransaction } from '../../ports/audit.ts'
import type { CapabilityRegistry } from '../../ports/capability.ts'
import type { GrantMoment, StoredGrant } from '../../ports/grants.ts'
import { actDraft, callFacts } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import { actorText, type Op } from '../call/op.ts'

export type GrantDeps = Pick<Basics, 'storage' | 'auditLog' | 'clock' | 'ids'> & {
  readonly registry: CapabilityRegistry
}

const momentOf = ({ clock }: Pick<Basics, 'clock'>): GrantMoment => ({
  nowMs: clock.now(),
  wallMs: clock.wall(),
})

/** Stores what an approval is remembered for, with the approval itself. */
export async function createGrant(
  op: Op,
  deps: Pick<GrantDeps, 'clock' | 'ids' | 'registry'>,
  tx: AuditTransaction,
  approval: StoredApproval,
  { ttl_seconds, match, uses }: Remember,
): Promise<string> {
  const refuse = (detail: string) => new GatehouseError('RememberRefused', { detail })
  const capability = deps.registry.find(approval.capability)
  // @SECURITY Critical calls are decided on each time; grants.test.ts.
  if (approval.critical || capability?.critical)
    throw refuse(`${approval.capability} is critical, so each call of it is decided on by a person`)
  const { definition_hash } = parseStored<{ definition_hash: string }>(
    approval.bound_json,
    'approvals.bound_json',
  )
  if (capability?.definition_hash !== definition_hash)
    throw refuse(`${approval.capability} was changed meanwhile`)
  const { nowMs, wallMs } = momentOf(deps)
  const same = match === 'same_arguments'
  const grant: StoredGrant = {
    id: deps.ids.next('grant'),
    agent: approval.agent,
    capability: approval.capability,
    definition_hash,
    match,
    call_key: same ? approval.call_key : null,
    arguments_json: same ? approval.arguments_json : null,
    approval_id: approval.id,
    created_ms: wallMs,
    created_by: actorText(op.actor),
    expires_ms: nowMs + ttl_seconds * 1000,
    expires_wall_ms: wallMs + ttl_seconds * 1000,
    uses_max: uses ?? null,
    used: 0,
    last_used_ms: null,
    revoked_ms: null,
    revoked_by: null,
  }
  await tx.grants.insert(grant)
  const { id: grant_id, agent } = grant
  tx.append(
    actDraft(op, 'grant.created', {
      agent,
      arguments: { grant_id, ...grantFacts(grant), match, ttl_seconds, uses: uses ?? null },
      approval_id: approval.id,
    }),
  )
  return grant_id
}

/** The calls that a grant is for: of any arguments, none is named. */
const grantFacts = ({ capability, arguments_json }: StoredGrant) =>
  arguments_json === null ? { capability } : callFacts('grants', capability, arguments_json)

export const revokedDraft = (op: Op, grant: StoredGrant): AuditDraft =>
  actDraft(op, 'grant.revoked', {
    agent: grant.agent,
    arguments: { grant_id: grant.id, ...grantFacts(grant) },
    approval_id: grant.approval_id,
  })

const iso = (ms: number): string => new Date(ms).toISOString()
const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms))

const statusOf = (
  { registry }: Pick<GrantDeps, 'registry'>,
  grant: StoredGrant,
  { nowMs, wallMs }: GrantMoment,
): GrantStatus => {
  if (grant.revoked_ms !== null) return 'revoked'
  if (grant.expires_ms <= nowMs || grant.expires_wall_ms <= wallMs) return 'expired'
  if (grant.uses_max !== null && grant.used >= grant.uses_max) return 'used_up'
  const capability = registry.find(grant.capability)
  return capability?.definition_hash === grant.definition_hash && !capability.critical
    ? 'active'
    : 'void'
}

const grantRecord = (deps: Pick<GrantDeps, 'registry' | 'clock'>, grant: StoredGrant): Grant => ({
  id: grant.id as GrantId,
  agent: grant.agent as Grant['agent'],
  capability: grant.capability,
  match: grant.match,
  arguments:
    grant.arguments_json === null
      ? null
      : parseStored(grant.arguments_json, 'grants.arguments_json'),
  approval_id: grant.approval_id as ApprovalId,
  status: statusOf(deps, grant, momentOf(deps)),
  created_at: iso(grant.created_ms),
  created_by: grant.created_by,
  expires_at: iso(grant.expires_wall_ms),
  uses: grant.uses_max,
  used: grant.used,
  last_used_at: isoOrNull(grant.last_used_ms),
  revoked_at: isoOrNull(grant.revoked_ms),
  revoked_by: grant.revoked_by,
})

export async function listGrants(
  deps: GrantDeps,
  input: {
    readonly agent?: string
    readonly all: boolean
    readonly limit: number
    readonly offset: number
  },
): Promise<{ readonly grants: readonly Grant[]; readonly total: number }> {
  const { all, ...filter } = input
  const { grants, total } = await deps.storage.grants.list({
    ...filter,
    ...(all ? {} : { usable: momentOf(deps) }),
  })
  return { grants: grants.map((grant) => grantRecord(deps, grant)), total }
}

/** Ends a grant for good; the next call asks again. Doing it twice is fine. */
export async function revokeGrant(
  op: Op,
  deps: GrantDeps,
  { grant_id }: { readonly grant_id: string },
): Promise<Grant> {
  const grant = await deps.auditLog.transaction(async (tx) => {
    const current = await tx.grants.find(grant_id)
    if (!current) throw new GatehouseError('GrantNotFound', { grant_id })
    if (!(await tx.grants.revoke(grant_id, deps.clock.wall(), actorText(op.actor)))) return current
    tx.append(revokedDraft(op, current))
    return (await tx.grants.find(grant_id)) ?? current
  })
  return grantRecord(deps, grant)
}
