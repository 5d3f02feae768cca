import {
  type AuditEntry,
  type AuditProof,
  GatehouseError,
  type HealthStatus,
  type Integrity,
  type RetentionStatus,
} from '@gatehouse/contract'
import type { AuditReader } from '../../ports/audit.ts'
import { actorText, type Op } from '../call/op.ts'

/** Operations on the log beside reading it. */
export interface AuditAccess {
  health(): { readonly status: HealthStatus; readonly reason?: string; readonly entries: number }

  /** Must write an entry that names who accepted the state of the log and why, and go on from there. */
  acknowledge(
    reason: string,
    by: { readonly actor: string; readonly request_id: string },
  ): Promise<Integrity>

  /** How long entries stay, and what is next to go. */
  retention(): RetentionStatus

  /** Must remove what is due and may go; entries name what was removed, and who asked for it. */
  applyRetention(by: {
    readonly actor: string
    readonly request_id: string
  }): Promise<RetentionStatus>

  /** Must make the index anew from the log, and write an entry that names who had it done. */
  reindex(by: { readonly actor: string; readonly request_id: string }): Promise<Integrity>
}

export async function showAuditEntry(
  deps: { readonly audit: AuditReader },
  { id }: { readonly id: string },
): Promise<AuditEntry> {
  const entry = await deps.audit.find(id)
  if (!entry) throw new GatehouseError('NotFound', { path: id })
  return entry
}

export async function proveAuditEntry(
  deps: { readonly audit: AuditReader },
  { id }: { readonly id: string },
): Promise<AuditProof> {
  const proof = await deps.audit.prove(id)
  if (!proof) throw new GatehouseError('NotFound', { path: id })
  return proof
}

export const reindexAudit = (op: Op, deps: { readonly audit: AuditAccess }): Promise<Integrity> =>
  deps.audit.reindex({ actor: actorText(op.actor), request_id: op.request_id })

export const applyRetention = (
  op: Op,
  deps: { readonly audit: AuditAccess },
): Promise<RetentionStatus> =>
  deps.audit.applyRetention({ actor: actorText(op.actor), request_id: op.request_id })

export const acknowledgeAudit = (
  op: Op,
  deps: { readonly audit: AuditAccess },
  { reason }: { readonly reason: string },
): Promise<Integrity> =>
  deps.audit.acknowledge(reason, { actor: actorText(op.actor), request_id: op.request_id })
