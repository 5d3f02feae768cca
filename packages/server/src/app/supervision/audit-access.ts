import {
  type AuditEntry,
  type AuditFilter,
  type AuditPage,
  type AuditProof,
  GatehouseError,
  type HealthStatus,
  type Integrity,
  type RetentionStatus,
} from '@gatehouse/contract'
import type { AuditReader } from '../../ports/audit.ts'
import { leftOut } from '../call/left-out.ts'
import { actorText, type Op } from '../call/op.ts'
import type { GateWatch } from './gate-watch.ts'

/** Operations on the log beside reading it. */
export interface AuditAccess {
  /** Finding of the last verification. */
  integrity(): Integrity

  health(): { readonly status: HealthStatus; readonly reason?: string; readonly entries: number }

  /**
   * Must write an entry that names who accepted the state of the log that something was found in, and why, and go on from
   * there. `own_only`: leaves logs of other processes alone.
   */
  acknowledge(
    reason: string,
    by: { readonly actor: string; readonly request_id: string; readonly own_only?: boolean },
  ): Promise<Integrity>

  /** Must name the entry by which a person accepted the log of another process; null where nothing relies on one. */
  acceptedIn(log: string): string | null

  /** Must sign a checkpoint over all entries of this log. */
  sign(): Promise<void>

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

const notFound = (audit: Pick<AuditReader, 'notListed'>, id: string): GatehouseError => {
  const [left] = audit.notListed()
  if (!left) return new GatehouseError('NotFound', { path: id })
  return new GatehouseError('EntryNotListed', {
    id,
    detail: `in the log of ${left.log}, ${left.reason}`,
  })
}

/** Entries, and the integrity of the logs that they are from. */
export async function queryAudit(
  deps: { readonly audit: AuditReader; readonly gateWatch: Pick<GateWatch, 'withOthers'> },
  filter: AuditFilter,
): Promise<AuditPage> {
  const { entries, total, as_of, ...own } = await deps.audit.query(filter)
  return {
    ...{ entries, total, as_of },
    ...leftOut(deps.audit),
    ...(await deps.gateWatch.withOthers(own)),
  }
}

export async function showAuditEntry(
  deps: { readonly audit: AuditReader },
  { id }: { readonly id: string },
): Promise<AuditEntry> {
  const entry = await deps.audit.find(id)
  if (!entry) throw notFound(deps.audit, id)
  return entry
}

/** Of the logs of all gate processes, which sign what they have first. */
export async function proveAuditEntry(
  deps: { readonly audit: AuditReader; readonly gateWatch: Pick<GateWatch, 'sign'> },
  { id }: { readonly id: string },
): Promise<AuditProof> {
  await deps.gateWatch.sign()
  const proof = await deps.audit.prove(id)
  if (!proof) throw notFound(deps.audit, id)
  return proof
}

export async function reindexAudit(
  op: Op,
  deps: { readonly audit: AuditAccess; readonly gateWatch: Pick<GateWatch, 'withOthers'> },
): Promise<Integrity> {
  const by = { actor: actorText(op.actor), request_id: op.request_id }
  return deps.gateWatch.withOthers(await deps.audit.reindex(by))
}

/** Of the logs of all gate processes. */
export async function applyRetention(
  op: Op,
  deps: { readonly audit: AuditAccess; readonly gateWatch: Pick<GateWatch, 'retention'> },
): Promise<RetentionStatus> {
  const by = { actor: actorText(op.actor), request_id: op.request_id }
  return deps.gateWatch.retention(await deps.audit.applyRetention(by), by)
}

/** Of all gate processes: first of the others, so that what this one then records of their logs is taken, too. */
export async function acknowledgeAudit(
  op: Op,
  deps: {
    readonly audit: AuditAccess
    readonly gateWatch: Pick<GateWatch, 'askLogs' | 'withOthers'>
  },
  { reason }: { readonly reason: string },
): Promise<Integrity> {
  const by = { actor: actorText(op.actor), request_id: op.request_id }
  await deps.gateWatch.askLogs(deps.audit.integrity(), 'acknowledge log', { reason, ...by })
  return deps.gateWatch.withOthers(await deps.audit.acknowledge(reason, by))
}
