import { z } from 'zod'
import { LogFinding } from './audit.ts'
import { Timestamp } from './ids.ts'

/** `missing`: it has not been seen for a while, and did not say that it would stop. */
export const NodeStatus = z.enum(['active', 'draining', 'stopped', 'missing'])
export type NodeStatus = z.infer<typeof NodeStatus>

/** `shared`: all nodes see one folder of workspaces. `separate`: calls that reach into an agent's folders run on the node that has them. */
export const Workspaces = z.enum(['one', 'shared', 'separate'])
export type Workspaces = z.infer<typeof Workspaces>

/** A server of this installation. */
export const ServerNode = z.object({
  name: z.string(),
  /** The machine and the data directory. */
  place: z.string(),
  /** Where agents reach it; null while it does not listen. */
  address: z.string().nullable(),
  version: z.string(),
  status: NodeStatus,
  /** Whether this is the node that answers. */
  answering: z.boolean(),
  started_at: Timestamp,
  seen_at: Timestamp,
  policy_version: z.string().nullable(),
  /** Sessions of agents that are open there. */
  sessions: z.int(),
  /** Programs of agents that run there. */
  processes: z.int(),
  /** Finding of its verification of the audit log, as it last said; null where it found nothing. */
  log_finding: LogFinding.extend({
    /** Next step for a person. */
    remedy: z.string(),
  }).nullable(),
  /** Id of its folder of workspaces: nodes that have the same one see the same folder. */
  site: z.string().nullable(),
  /** Why the node that answers can't forward requests of agents to it; null where it can, or has no reason to. */
  unreachable: z.string().nullable(),
})
export type ServerNode = z.infer<typeof ServerNode>

export const NodeList = z.object({
  nodes: z.array(ServerNode),
  /** Whether the store can have several nodes. */
  shared: z.boolean(),
  workspaces: Workspaces,
})
export type NodeList = z.infer<typeof NodeList>

/** Invitation with which another node fetches the keys once: where, from whom, and with what. */
export const NodeInvite = z.object({
  url: z.string(),
  /** SHA-256 of the certificate that is served there. */
  fingerprint: z.string(),
  secret: z.string(),
  expires_at: Timestamp,
})
export type NodeInvite = z.infer<typeof NodeInvite>

export const InviteNode = z.strictObject({
  /** Where the other node reaches this dashboard. */
  url: z
    .url({ protocol: /^https$/ })
    .max(2_048)
    .optional(),
})
export type InviteNode = z.infer<typeof InviteNode>

export const AdmitNode = z.strictObject({ secret: z.string().min(1).max(256) })
export type AdmitNode = z.infer<typeof AdmitNode>

/** Keys that nodes have in common beside the database. */
export const NodeKeys = z.object({
  /** The key file of the vault; null where a passphrase locks it. */
  vault_key: z.string().nullable(),
  /** Key with which nodes authenticate the policy that they share; null where there is none. */
  policy_key: z.string().nullable(),
  /** The local certificate authority; null where there is none. */
  authority: z.object({ cert: z.string(), key: z.string() }).nullable(),
  database_url: z.string().nullable(),
  /** The same database past a pooler; null where the nodes need no other address. */
  database_direct_url: z.string().nullable(),
})
export type NodeKeys = z.infer<typeof NodeKeys>

export const ForgottenNode = z.object({ name: z.string() })
export type ForgottenNode = z.infer<typeof ForgottenNode>
