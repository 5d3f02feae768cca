import { z } from 'zod'
import { Timestamp } from './ids.ts'

/** `missing`: it has not been seen for a while, and did not say that it would stop. */
export const NodeStatus = z.enum(['active', 'draining', 'stopped', 'missing'])
export type NodeStatus = z.infer<typeof NodeStatus>

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
})
export type ServerNode = z.infer<typeof ServerNode>

export const NodeList = z.object({
  nodes: z.array(ServerNode),
  /** Whether the store can have several nodes. */
  shared: z.boolean(),
})
export type NodeList = z.infer<typeof NodeList>

export const ForgottenNode = z.object({ name: z.string() })
export type ForgottenNode = z.infer<typeof ForgottenNode>
