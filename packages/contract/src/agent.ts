import { z } from 'zod'
import { AgentName, CapabilityName, SessionId, Timestamp } from './ids.ts'
import { PolicyLimit } from './limit.ts'
import { UnlistedEntries } from './unlisted-entries.ts'

const toolPattern = /^(?:\*|[a-z*][a-z0-9_*-]*\.[A-Za-z0-9*][A-Za-z0-9_*-]*)$/

export const AgentStatus = z.enum(['active', 'paused', 'revoked'])
export type AgentStatus = z.infer<typeof AgentStatus>

/** How an agent meets a call that needs approval: `pending` answers at once, `hold` keeps the call open. */
export const ApprovalMode = z.enum(['pending', 'hold'])
export type ApprovalMode = z.infer<typeof ApprovalMode>

/** A folder outside the workspace that an operator gave an agent. */
export const Mount = z.strictObject({
  path: z.string().min(1),
  read_only: z.boolean().default(true),
})
export type Mount = z.infer<typeof Mount>

/** The name of a capability, with `*` in its group or its action for any characters; `*` alone is all of them. */
export const ToolPattern = z
  .string()
  .max(128)
  .refine((text) => toolPattern.test(text), {
    error: ({ input }) =>
      `${JSON.stringify(input)} is no pattern of tools; one is <group>.<action>, such as filesystem.* or github.list_*`,
  })
export type ToolPattern = z.infer<typeof ToolPattern>

/** The tools that an agent is limited to. An empty list, like one with `*` in it, is no limit. */
export const ToolSet = z.array(ToolPattern).max(256)

/** Limits of one agent, beside those of policy. */
export const OwnLimits = z.array(PolicyLimit).max(100)

export const Agent = z.object({
  name: AgentName,
  purpose: z.string(),
  status: AgentStatus,
  created_at: Timestamp,
  last_connected: Timestamp.nullable(),
  total_invocations: z.int(),
  approvals: ApprovalMode,
  workspace: z.string(),
  /** Id of the folder of workspaces in which it lies, which its node has; null where any node has it. */
  site: z.string().nullable(),
  mounts: z.array(Mount),
  /** Patterns of the tools that it is limited to; empty = no limit. */
  tools: z.array(z.string()),
  limits: OwnLimits.describe(
    'Limits that an operator gave it beside those of policy: of the same match and window the lower number holds, and one that ships gives way.',
  ),
  /** Grows with each change of the agent. Its `ETag`. */
  version: z.int(),
  token_created_at: Timestamp,
  /** The first 8 characters of the token's SHA-256: enough to tell tokens apart, useless to guess one. */
  token_fingerprint: z.string(),
})
export type Agent = z.infer<typeof Agent>

export const CreateAgent = z.strictObject({
  name: AgentName,
  purpose: z.string().max(1000).default(''),
  approvals: ApprovalMode.default('pending'),
  mounts: z.array(Mount).max(64).default([]),
  tools: ToolSet.default([]),
  limits: OwnLimits.default([]),
})
export type CreateAgent = z.infer<typeof CreateAgent>

/** Fields that are left out stay as they are; a list replaces the one before. */
export const EditAgent = z.strictObject({
  purpose: z.string().max(1000).optional(),
  approvals: ApprovalMode.optional(),
  mounts: z.array(Mount).max(64).optional(),
  tools: ToolSet.optional(),
  limits: OwnLimits.optional(),
})
export type EditAgent = z.infer<typeof EditAgent>

/** Rules that are allowed and yet unlikely to be meant, such as a pattern that matches no tool. */
const warnings = z.array(z.string())

export const EditedAgent = z.object({ agent: Agent, warnings })
export type EditedAgent = z.infer<typeof EditedAgent>

/** The token is shown here and never again. */
export const AgentWithToken = z.object({ agent: Agent, token: z.string() })
export type AgentWithToken = z.infer<typeof AgentWithToken>

export const CreatedAgent = AgentWithToken.extend({ warnings })
export type CreatedAgent = z.infer<typeof CreatedAgent>

export const RotateAgent = z.strictObject({
  /** How long the old token still works; 0 (the default) ends it at once. */
  overlap_seconds: z.int().min(0).max(86_400).default(0),
})
export type RotateAgent = z.infer<typeof RotateAgent>

export const MoveAgent = z.strictObject({
  /** Name of the node that gets it. */
  to: z.string().min(1).max(128),
})
export type MoveAgent = z.infer<typeof MoveAgent>

const workspacePlace = z.object({ node: z.string(), folder: z.string() })

/** Way of a workspace from one node to another, until the agent is resumed there. */
export const AgentMove = z.object({
  from: workspacePlace,
  to: workspacePlace,
  /** Whether the node that it moves to has nothing of that name any more, so that the folder may be copied. */
  ready: z.boolean(),
  /** Name that an older folder of the agent has there since then; null where there was none. */
  set_aside: z.string().nullable(),
})
export type AgentMove = z.infer<typeof AgentMove>

/** `move` is null where the agent stays with the folder that it had, since it came back before it was resumed elsewhere. */
export const MovedAgent = z.object({ agent: Agent, move: AgentMove.nullable() })
export type MovedAgent = z.infer<typeof MovedAgent>

export const Transport = z.enum(['mcp-websocket', 'mcp-http', 'rpc', 'hook', 'internal'])
export type Transport = z.infer<typeof Transport>

/** Self-description of a client; `protocol` is the revision of MCP that it speaks, where it speaks MCP. */
export const SessionClient = z.object({
  name: z.string(),
  version: z.string(),
  protocol: z.string().optional(),
})

export const Session = z.object({
  session_id: SessionId,
  agent: AgentName,
  transport: Transport,
  client: SessionClient.nullable(),
  created_at: Timestamp,
  ended_at: Timestamp.nullable(),
  invocations: z.int(),
})
export type Session = z.infer<typeof Session>

export const AgentDetail = Agent.extend({
  /** Way of its workspace to another node; null where it is not on one. */
  move: AgentMove.nullable(),
  /** The list of tools that an MCP client of the agent gets now. */
  tool_list: z.object({
    offered: z.int(),
    /** Tools that it may call, by their name or by way of `tools.call`. */
    callable: z.int(),
    size_bytes: z.int(),
    /** About as many as a model pays for the list: a quarter of the bytes. */
    tokens_estimate: z.int(),
  }),
  sessions: z.array(
    Session.pick({
      session_id: true,
      transport: true,
      client: true,
      created_at: true,
      ended_at: true,
      invocations: true,
    }),
  ),
  stats: z.object({
    by_capability: z.array(
      z.object({
        capability: CapabilityName,
        calls: z.int(),
        failures: z.int(),
        p50_ms: z.number(),
        p95_ms: z.number(),
      }),
    ),
    by_day: z.array(z.object({ day: z.string(), calls: z.int(), failures: z.int() })),
    rate_limits: z.array(
      z.object({ match: z.string(), limit: z.int(), window: z.string(), used: z.int() }),
    ),
    /** Calls that the statistics lack are among them; absent where nothing that is there is left out. */
    not_listed: z.array(UnlistedEntries).optional(),
  }),
})
export type AgentDetail = z.infer<typeof AgentDetail>

/** An agent in the list of all, with what connected last. */
export const ListedAgent = Agent.extend({
  last_session: Session.pick({ transport: true, client: true }).nullable(),
})
export type ListedAgent = z.infer<typeof ListedAgent>

export const AgentList = z.object({ agents: z.array(ListedAgent) })
export type AgentList = z.infer<typeof AgentList>
