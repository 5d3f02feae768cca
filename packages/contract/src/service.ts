import { z } from 'zod'
import { Timestamp } from './ids.ts'
import { Workspaces } from './nodes.ts'
import { ServicePause } from './pause.ts'
import { SandboxBackend } from './sandbox.ts'
import { UpstreamStatus } from './upstream.ts'

export const HealthStatus = z.enum(['healthy', 'degraded', 'unhealthy'])
export type HealthStatus = z.infer<typeof HealthStatus>

/** Gate processes of the node that answers, and the numbers of those that do not serve, or do not answer. */
export const GateProcesses = z.object({ count: z.int(), down: z.array(z.int()) })
export type GateProcesses = z.infer<typeof GateProcesses>

export const SystemStatus = z.object({
  version: z.string(),
  uptime_seconds: z.int(),
  active_agents: z.int(),
  active_sessions: z.int(),
  pending_approvals: z.int(),
  capabilities_invoked_24h: z.int(),
  policy_violations_24h: z.int(),
  /** The status of `/api/health`, and its reasons. */
  health: HealthStatus,
  health_reasons: z.array(z.string()),
  /** Absent where there is one alone. */
  gate_processes: GateProcesses.optional(),
  /** Whether people have paused every agent at once. */
  pause: ServicePause,
})
export type SystemStatus = z.infer<typeof SystemStatus>

/** `disabled`: this version or this configuration does not have it; the reason says which. */
export const ComponentStatus = z.enum([...HealthStatus.options, 'disabled'])
export type ComponentStatus = z.infer<typeof ComponentStatus>

const component = { status: ComponentStatus, reason: z.string().optional() }
export const Health = z.object({
  status: HealthStatus,
  /** Why it is not healthy: each component that is not, with its reason. */
  reasons: z.array(z.string()),
  components: z.object({
    gateway: z.object({
      ...component,
      uptime: z.int(),
      /** Absent where there is one alone. */
      gate_processes: GateProcesses.optional(),
    }),
    vault: z.object({ ...component, locked: z.boolean() }),
    /** Local models: how many may be loaded, and how the catalog is. */
    models: z.object({ ...component, installed: z.int(), catalog: z.string() }),
    audit: z.object({ ...component, entries: z.int() }),
    proxy: z.object({ ...component, services: z.int() }),
    /** MCP servers behind the gate. */
    upstreams: z.object({ ...component, servers: z.record(z.string(), UpstreamStatus) }),
    dashboard: z.object(component),
    policy: z.object({ ...component, version: z.string() }),
    storage: z.object({ ...component, engine: z.string() }),
    /** Servers on this store that are there. */
    nodes: z.object({
      ...component,
      nodes: z.int(),
      draining: z.boolean(),
      workspaces: Workspaces,
    }),
    sandbox: z.object({ ...component, backend: SandboxBackend }),
    /** Lines of the program's own log that could not be written since it started. */
    log: z.object({ ...component, dropped_lines: z.int() }),
  }),
  resources: z.object({
    cpu_percent: z.number(),
    memory_percent: z.number(),
    disk_percent: z.number(),
  }),
})
export type Health = z.infer<typeof Health>

/** `<data-dir>/run.json`: written when every surface listens, removed on a clean exit. */
export const RunFile = z.object({
  pid: z.int(),
  version: z.string(),
  started_at: Timestamp,
  gateway_url: z.string(),
  mcp_url: z.string(),
  user_api_url: z.string(),
  dashboard_url: z.string(),
  /** Address under which others reach the service, where the settings name one. */
  public_url: z.string().optional(),
  /** UDP, on 127.0.0.1. */
  wake_port: z.int(),
})
export type RunFile = z.infer<typeof RunFile>

/** Event, as people and agents are told of it. */
export const GatehouseEvent = z.object({
  id: z.string(),
  type: z.string(),
  timestamp: Timestamp,
  agent: z.string(),
  data: z.record(z.string(), z.unknown()),
})
export type GatehouseEvent = z.infer<typeof GatehouseEvent>

/** RFC 9457, with what a program needs beside the sentence. */
export const Problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.string(),
  request_id: z.string(),
  recovery: z.array(z.object({ action: z.string(), description: z.string() })),
  errors: z.array(z.object({ pointer: z.string(), detail: z.string() })).optional(),
})
export type Problem = z.infer<typeof Problem>
