import { z } from 'zod'
import { AgentName, Timestamp, WriteId } from './ids.ts'

/**
 * `syncing`: entries are being read; `degraded`: it fails at the moment, reads go on from the replica;
 * `disconnected`: an operator ended it.
 */
export const ServiceStatus = z.enum(['connected', 'syncing', 'degraded', 'disconnected'])
export type ServiceStatus = z.infer<typeof ServiceStatus>

/** Lower case, so that it can stand in a path and a policy: `mail`, `team-calendar`. */
export const ServiceName = z
  .string()
  .regex(
    /^[a-z][a-z0-9-]{0,62}$/,
    'a name starts with a lowercase letter and has at most 63 of a-z, 0-9 and -',
  )
export type ServiceName = z.infer<typeof ServiceName>

export const ProxyService = z.object({
  name: ServiceName,
  status: ServiceStatus,
  /** When a sync last ended well; null before the first. */
  last_sync: Timestamp.nullable(),
  replica_entries: z.int(),
  buffered_writes: z.int(),
  rollback_points: z.int(),
  kind: z.string(),
  /** Why it is degraded, in a sentence; null where all is well. */
  reason: z.string().nullable(),
  failing_since: Timestamp.nullable(),
  next_sync: Timestamp.nullable(),
  /** Of the sync that is under way. */
  progress: z.object({ done: z.int(), total: z.int().nullable() }).nullable(),
  /** Writes that failed and wait for a person. */
  dead_letters: z.int(),
  /** Agents that may use the service; `*` for every agent. */
  agents: z.array(z.string()),
  /** As entered; credentials are not among them. */
  settings: z.record(z.string(), z.unknown()),
  connected_at: Timestamp,
})
export type ProxyService = z.infer<typeof ProxyService>

export const ProxyStatus = z.object({ services: z.array(ProxyService) })
export type ProxyStatus = z.infer<typeof ProxyStatus>

/** `failed` ones wait for a person, unless they were discarded. */
export const WriteStatus = z.enum(['buffered', 'executing', 'executed', 'cancelled', 'failed'])
export type WriteStatus = z.infer<typeof WriteStatus>

/** Filter for lists of writes: a status, the pending ones, or those that wait for a person. */
export const WriteFilterStatus = z.enum([...WriteStatus.options, 'pending', 'dead'])
export type WriteFilterStatus = z.infer<typeof WriteFilterStatus>

export const WriteError = z.object({
  type: z.string(),
  message: z.string(),
  recovery: z.array(z.object({ action: z.string(), description: z.string() })),
})
export type WriteError = z.infer<typeof WriteError>

/** `refused`: the state was not what the write left. A person may look and try again until it expires. */
export const RollbackStatus = z.enum(['ready', 'rolling_back', 'rolled_back', 'refused', 'expired'])
export type RollbackStatus = z.infer<typeof RollbackStatus>

/** A change that an agent asked for, held back until its time. */
export const BufferedWrite = z.object({
  id: WriteId,
  service: ServiceName,
  operation: z.string(),
  agent: AgentName,
  arguments: z.record(z.string(), z.unknown()),
  buffered_at: Timestamp,
  /** When it runs, or runs next after an attempt that provably did nothing. */
  execute_at: Timestamp,
  status: WriteStatus,
  /** Names and sizes of what goes along, such as attachments. */
  files: z.array(z.object({ name: z.string(), content_type: z.string(), size_bytes: z.int() })),
  attempts: z.int(),
  finished_at: Timestamp.nullable(),
  /** Answer of the service. */
  result: z.record(z.string(), z.unknown()).nullable(),
  /** Why it failed, or why the last attempt did nothing. */
  error: WriteError.nullable(),
  /** Whether it failed and waits for a person to send it again or let it go. */
  dead_letter: z.boolean(),
  /** Actor who cancelled or discarded the write. */
  ended_by: z.string().nullable(),
  /** The point to go back to, while there is one. */
  rollback_id: z.string().nullable(),
  rollback_status: RollbackStatus.nullable(),
  /** Until when it can be undone once it ran; null where it cannot. */
  undo_until: Timestamp.nullable(),
  undo_note: z.string(),
})
export type BufferedWrite = z.infer<typeof BufferedWrite>

export const BufferedWriteList = z.object({ writes: z.array(BufferedWrite), total: z.int() })
export type BufferedWriteList = z.infer<typeof BufferedWriteList>

/** Rollback point: what stood before a write, while it is kept. */
export const RollbackPoint = z.object({
  id: z.string(),
  write_id: WriteId,
  service: ServiceName,
  operation: z.string(),
  agent: AgentName,
  status: RollbackStatus,
  created_at: Timestamp,
  expires_at: Timestamp,
  /** Why it was refused, or could not be finished yet. */
  error: WriteError.nullable(),
  differences: z.array(z.string()),
  rolled_back_at: Timestamp.nullable(),
  rolled_back_by: z.string().nullable(),
})
export type RollbackPoint = z.infer<typeof RollbackPoint>

/** `full`: everything is read anew, not only what changed. */
export const SyncService = z.strictObject({ full: z.boolean().default(false) })
export type SyncService = z.infer<typeof SyncService>

export const RollbackList = z.object({ rollbacks: z.array(RollbackPoint), total: z.int() })
export type RollbackList = z.infer<typeof RollbackList>

/** Preview of a rollback. Nothing was changed. */
export const RollbackPreview = z.object({
  rollback: RollbackPoint,
  possible: z.boolean(),
  steps: z.array(z.string()),
  reason: z.string().nullable(),
  differences: z.array(z.string()),
})
export type RollbackPreview = z.infer<typeof RollbackPreview>

export const ConnectService = z.strictObject({
  /** Name of the service; its kind by default. */
  name: ServiceName.optional(),
  kind: z.string().min(1).max(64),
  settings: z.record(z.string(), z.unknown()).default({}),
  /** Credentials by the names that the kind asks for. Kept in the vault, never answered. */
  secrets: z.record(z.string(), z.string().min(1).max(65_536)).default({}),
  /** Agents that may use the service; `*` for every agent. */
  agents: z.array(z.string().min(1).max(63)).min(1).max(1000),
})
export type ConnectService = z.infer<typeof ConnectService>

export const ServiceCheck = z.object({
  name: z.string(),
  ok: z.boolean(),
  detail: z.string(),
  fix: z.string().nullable(),
})
export type ServiceCheck = z.infer<typeof ServiceCheck>

export const ServiceTest = z.object({ ok: z.boolean(), checks: z.array(ServiceCheck) })
export type ServiceTest = z.infer<typeof ServiceTest>

export const ConnectedService = z.object({
  service: ProxyService,
  checks: z.array(ServiceCheck),
})
export type ConnectedService = z.infer<typeof ConnectedService>

/** With `forget` nothing of it stays; otherwise its settings do, without credentials. */
export const DisconnectService = z.strictObject({ forget: z.boolean().default(false) })
export type DisconnectService = z.infer<typeof DisconnectService>

/** Kind of service that can be connected, with the settings that it asks for. */
export const ServiceKind = z.object({
  kind: z.string(),
  title: z.string(),
  /** JSON Schema. */
  settings: z.record(z.string(), z.unknown()),
  secrets: z.array(z.object({ name: z.string(), description: z.string(), required: z.boolean() })),
  sync_every_seconds: z.number(),
  operations: z.array(
    z.object({
      name: z.string(),
      delay_seconds: z.number(),
      undoable: z.boolean(),
      undo_note: z.string(),
    }),
  ),
})
export type ServiceKind = z.infer<typeof ServiceKind>

export const ServiceKindList = z.object({ kinds: z.array(ServiceKind) })
export type ServiceKindList = z.infer<typeof ServiceKindList>
