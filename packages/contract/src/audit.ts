import { z } from 'zod'
import { PolicyDecision } from './capability.ts'
import { AuditId, SessionId, Timestamp } from './ids.ts'
import { RuleRef } from './policy.ts'
import { UnlistedEntries } from './unlisted-entries.ts'

/** `pending`: an intent whose outcome follows, or a call that waits for a person. */
export const AuditResult = z.enum(['success', 'error', 'denied', 'pending', 'rejected'])
export type AuditResult = z.infer<typeof AuditResult>

/** `call`: a capability call. `act`: a decision or a change by a person, an agent or the service itself. */
export const AuditKind = z.enum(['call', 'act'])

/**
 * An entry as it is shown. What is hashed is the canonical JSON of everything but `hash`; `seq` and
 * `chain` say where it stands.
 */
export const AuditEntry = z.object({
  id: AuditId,
  timestamp: Timestamp,
  kind: AuditKind,
  /** The agent that called, or that the act is about; empty where there is none. */
  agent: z.string(),
  /** The capability called, or the act (`approval.approved`, `agent.created`, …). */
  capability: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  result: AuditResult,
  policy_decision: PolicyDecision,
  /** Actor: `agent:NAME`, `user:LABEL`, `system`. */
  actor: z.string(),
  session_id: SessionId.nullable(),
  request_id: z.string(),
  rule: RuleRef.nullable(),
  duration_ms: z.number().nullable(),
  approval_id: z.string().nullable(),
  /** For an outcome: the entry that recorded the intent. */
  intent_id: z.string().nullable(),
  error: z.object({ type: z.string(), message: z.string() }).nullable(),
  detail: z.record(z.string(), z.unknown()).nullable(),
  chain: z.string(),
  seq: z.int(),
  hash: z.string().regex(/^sha256:[0-9a-f]{64}$/),
})
export type AuditEntry = z.infer<typeof AuditEntry>

export const IntegrityKind = z.enum([
  'modified',
  'missing',
  'inserted',
  'reordered',
  'truncated',
  'unanchored',
  'anchor_missing',
])
export type IntegrityKind = z.infer<typeof IntegrityKind>

/** The first entries of a log, which retention removed: the service signed what it removed, and where the rest goes on. */
export const RemovedEntries = z.object({
  /** Number of them; the first one left has this `seq`. */
  entries: z.int(),
  removed_at: Timestamp,
  reason: z.enum(['age', 'size']),
  /** Chain hash of the last one removed. */
  head: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  /** The audit entry about the last removal. */
  entry: AuditId,
})
export type RemovedEntries = z.infer<typeof RemovedEntries>

/**
 * The newest root over the heads of all logs, where there are several: of the processes of this machine, and of all nodes on one
 * PostgreSQL.
 */
export const SignedRoot = z.object({
  root: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  logs: z.int(),
  /** Chain of the process that signed it. */
  chain: z.string(),
  /** Audit entry of that process, which has the heads and the signed note. */
  entry: AuditId,
  signed_at: Timestamp,
})
export type SignedRoot = z.infer<typeof SignedRoot>

/** Log that nobody could look at: its process is down, or does not answer. */
export const UncheckedLog = z.object({
  /** Process of that log: `gate process 2`, or a node by its name. */
  log: z.string(),
  /** Time when that was last heard of. */
  since: Timestamp,
  reason: z.string(),
  /** Next step for a person. */
  remedy: z.string(),
})
export type UncheckedLog = z.infer<typeof UncheckedLog>

/** Finding of a verification, in short. */
export const LogFinding = z.object({
  kind: IntegrityKind,
  detail: z.string(),
  /** Log that it is in, where that is another one than that of the process which found it. */
  log: z.string().optional(),
  /** Entry by which a person accepted that log before it was changed again. */
  accepted_before: z.string().optional(),
})
export type LogFinding = z.infer<typeof LogFinding>

/** Log of the process that answers, and how many others there are, of other processes and nodes. */
export const CheckedLogs = z.object({ own: z.string(), others: z.int() })
export type CheckedLogs = z.infer<typeof CheckedLogs>

export const Integrity = z.object({
  /** `incomplete`: nothing is wrong with the logs that could be asked, and others could not: those in `unchecked`. */
  integrity: z.enum(['verified', 'failed', 'incomplete']),
  kind: IntegrityKind.optional(),
  first_bad_id: z.string().optional(),
  first_bad_seq: z.int().optional(),
  /** Log that the finding is in, where that is another one than that of the process which found it. */
  first_bad_log: z.string().optional(),
  /** Entry by which a person accepted that log before it was changed again. */
  accepted_before: z.string().optional(),
  detail: z.string().optional(),
  /** Node that found it, where that is not the one that answers: the finding is acknowledged there. */
  found_by: z.string().optional(),
  /** Next step for a person, where the finding cannot be acknowledged at the node that answers. */
  remedy: z.string().optional(),
  /** Last sequence number that was re-hashed, of the own log of the process that answers, and when; -1 for an empty log. */
  verified_through: z.int(),
  verified_at: Timestamp,
  /** Entries that are not in the log any more; absent where all of them are. */
  removed: RemovedEntries.optional(),
  /** Absent where there is one log alone, where no root was made yet, and after a finding. */
  root: SignedRoot.optional(),
  /** Absent where there is one log alone. */
  logs: CheckedLogs.optional(),
  /** Absent where every log could be asked. */
  unchecked: z.array(UncheckedLog).optional(),
})
export type Integrity = z.infer<typeof Integrity>

/** How long entries stay in the log, and what is next to go. */
export const RetentionStatus = z.object({
  /** Null: entries are kept whatever their age, or the size of the log. */
  max_age_days: z.number().nullable(),
  max_bytes: z.int().nullable(),
  bytes: z.int(),
  /** Entries that are in the log, and the time of the oldest. */
  entries: z.int(),
  oldest: Timestamp.nullable(),
  /** Entries that are older, or more, than the settings keep: whole segments of the log, 32 at most. */
  due_entries: z.int(),
  /** Entries of these that nothing holds back. */
  removable_entries: z.int(),
  /** Reason that holds the rest back. */
  held_by: z.string().nullable(),
  /** Targets that must have entries before they are removed; where there are none, entries are removed without a copy. */
  exported_to: z.array(z.string()),
  removed: RemovedEntries.optional(),
  /** Logs that are not in these numbers, since their processes could not be asked; absent where all could. */
  left_out: z.array(UncheckedLog).optional(),
})
export type RetentionStatus = z.infer<typeof RetentionStatus>

export const AuditTargetKind = z.enum(['files', 'syslog', 's3', 'url', 'git'])
export type AuditTargetKind = z.infer<typeof AuditTargetKind>

/** A place that the audit log is carried to, and how far it has come. */
export const AuditTarget = z.object({
  name: z.string(),
  kind: AuditTargetKind,
  place: z.string(),
  /** Entries, or checkpoints alone: then it is a witness. */
  takes: z.enum(['entries', 'checkpoints']),
  /** The first entry that it lacks, or that none of its checkpoints is over. */
  next: z.int(),
  lag_entries: z.int(),
  /** Age of the oldest of them. */
  lag_seconds: z.int(),
  /** The last delivery since the service started. */
  delivered_at: Timestamp.nullable(),
  /** Why the last delivery failed; null where it did not. */
  failure: z.string().nullable(),
})
export type AuditTarget = z.infer<typeof AuditTarget>

export const AuditTargetList = z.object({ targets: z.array(AuditTarget) })
export type AuditTargetList = z.infer<typeof AuditTargetList>

export const AuditTargetTest = z.object({
  name: z.string(),
  delivered: z.boolean(),
  detail: z.string().nullable(),
})
export type AuditTargetTest = z.infer<typeof AuditTargetTest>

export const AuditPage = z.object({
  entries: z.array(AuditEntry),
  total: z.int(),
  /** Where the log ended: given back as `as_of`, further pages are of the same entries, whatever was added since. */
  as_of: z.string(),
  /** Absent where nothing that is there is left out. */
  not_listed: z.array(UnlistedEntries).optional(),
  ...Integrity.shape,
})
export type AuditPage = z.infer<typeof AuditPage>

const Hex = z.string().regex(/^[0-9a-f]{64}$/)

/**
 * Way from the head of one log to the newest signed root over the heads of all. It vouches for the key of that log, and says how
 * long the log was.
 */
export const HeadProof = z.object({
  /** Leaf of the tree; `key` is the SHA-256 of the public key of that log. */
  head: z.object({ chain: z.string(), size: z.int(), head: Hex, key: Hex }),
  index: z.int(),
  logs: z.int(),
  root: Hex,
  proof: z.array(Hex),
  /** Signed note over the root. */
  note: z.string(),
  /** Log of the process that signed the root, and its key in PEM. */
  chain: z.string(),
  public_key: z.string(),
})
export type HeadProof = z.infer<typeof HeadProof>

/**
 * Proof of one entry without the log: the bytes that were hashed, the hashes that lead from
 * them to the root (RFC 6962), and the signed checkpoint with that root.
 */
export const AuditProof = z.object({
  format: z.literal('gatehouse-audit-proof-v1'),
  /** The entry as it was hashed: canonical JSON. */
  body: z.string(),
  seq: z.int(),
  size: z.int(),
  leaf: Hex,
  root: Hex,
  proof: z.array(Hex),
  /** A signed note (C2SP tlog-checkpoint) over the first `size` entries of the log that the entry is in. */
  checkpoint: z.string(),
  /** PEM. Believe it only as far as you believe whoever gave you this. */
  public_key: z.string(),
  /** Absent where there is one log alone, and where no root over all logs was made since this one began. */
  all_logs: HeadProof.optional(),
})
export type AuditProof = z.infer<typeof AuditProof>

export const AuditFilter = z.object({
  agent: z.string().optional(),
  /** A name, or a prefix such as `filesystem.*`. */
  capability: z.string().optional(),
  since: z.string().optional(),
  until: z.string().optional(),
  result: AuditResult.optional(),
  policy_decision: PolicyDecision.optional(),
  session: z.string().optional(),
  as_of: z.string().optional(),
  limit: z.int().min(1).max(1000),
  offset: z.int().min(0),
})
export type AuditFilter = z.infer<typeof AuditFilter>

export const AcknowledgeAudit = z.strictObject({ reason: z.string().min(1).max(2000) })
export type AcknowledgeAudit = z.infer<typeof AcknowledgeAudit>
