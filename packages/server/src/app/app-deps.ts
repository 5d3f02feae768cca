import type { AuditReader } from '../ports/audit.ts'
import type { AuditExports } from '../ports/audit-export.ts'
import type { Backups } from '../ports/backup.ts'
import type { CapabilityRegistry } from '../ports/capability.ts'
import type { NodeEventBus } from '../ports/events.ts'
import type { FilesFactory } from '../ports/files.ts'
import type { Gates } from '../ports/gates.ts'
import type { GitFactory } from '../ports/git.ts'
import type { Host } from '../ports/host.ts'
import type { Metrics } from '../ports/metrics.ts'
import type { NodeKeyFiles } from '../ports/node-keys.ts'
import type { Notifier } from '../ports/notifier.ts'
import type { Outbound } from '../ports/outbound.ts'
import type { Passwords } from '../ports/passwords.ts'
import type { PolicyFiles } from '../ports/policy.ts'
import type { PolicyShare } from '../ports/policy-share.ts'
import type { ProcessHost } from '../ports/processes.ts'
import type { Sandbox } from '../ports/sandbox.ts'
import type { Calendar } from '../ports/schedules.ts'
import type { Secrets } from '../ports/secrets.ts'
import type { ServiceAdapters } from '../ports/service-adapter.ts'
import type { ToolSearch } from '../ports/tool-search.ts'
import type { Tracing } from '../ports/tracing.ts'
import type { Vault } from '../ports/vault.ts'
import type { WakeCommands } from '../ports/wakes.ts'
import type { Workspaces } from '../ports/workspaces.ts'
import type { BindDeps } from './approvals/bind-request.ts'
import type { HoldDeps } from './approvals/hold-call.ts'
import type { Basics } from './call/basics.ts'
import type { MemoryBudget } from './call/memory-budget.ts'
import type { ListDeps } from './gate/list-capabilities.ts'
import type { EngineParts, InferenceDeps } from './inference/inference.ts'
import type { ModelParts, ModelsDeps } from './models/models.ts'
import type { InviteDeps } from './nodes/invite.ts'
import type { ProxySettings } from './proxy/deps.ts'
import type { AuditAccess } from './supervision/audit-access.ts'
import type { SupervisionDeps } from './supervision/supervision.ts'
import type { UpstreamRoomDeps } from './upstreams/upstreams.ts'

/** Dependencies of the application. Each part names by its own type what it takes of them. */
export type AppDeps = Basics & {
  readonly tracing?: Tracing | undefined
  readonly version: string
  /** Name of this process, and of its chain in the audit log. */
  readonly node: string
  /** Name of the first process of the node, whose folders have the models. */
  readonly modelsNode: string
  /** Machine and data directory of this node. */
  readonly place: string
  /** The other gate processes of this node; null where there is one. */
  readonly gates: Gates | null
  readonly keyFiles: NodeKeyFiles
  readonly registry: CapabilityRegistry
  readonly policy: PolicyFiles
  readonly policyShare: PolicyShare
  readonly files: FilesFactory
  /** The bus of events behind what is scrubbed: its way to and from other nodes. */
  readonly nodeEvents: NodeEventBus
  readonly audit: AuditReader & AuditAccess
  readonly auditExports: AuditExports
  readonly host: Host
  readonly passwords: Passwords
  readonly secrets: Secrets
  readonly vault: Vault
  readonly calendar: Calendar
  readonly outbound: Outbound
  /** For trying it and for health. What runs in it has ports of its own. */
  readonly sandbox: Sandbox
  readonly wakeCommands: Pick<WakeCommands, 'start'>
  /** Settings of the parts, each named by the part that needs it. */
  readonly settings: BindDeps['settings'] &
    InviteDeps['settings'] &
    ListDeps['settings'] &
    HoldDeps['settings'] &
    SupervisionDeps['settings'] &
    ModelsDeps['settings'] &
    InferenceDeps['settings'] &
    ProxySettings &
    UpstreamRoomDeps['settings']
  readonly workspaces: Workspaces
  /** False without a server: what is approved then runs at its next start. */
  readonly runsApproved: boolean
  readonly metrics: Metrics
  /** Heap that requests, runs and answers may take. */
  readonly memory: MemoryBudget
  readonly git: GitFactory
  readonly toolSearch: ToolSearch
  readonly processHost: ProcessHost
  readonly backups: Backups
  readonly notifier: Notifier
  readonly adapters: ServiceAdapters
  readonly models: ModelParts
  readonly engine: EngineParts
  readonly upstreams: Pick<UpstreamRoomDeps, 'host' | 'logins' | 'table'>
  /** Lines of the service's own log that could not be written. */
  readonly droppedLogLines: () => number
  /** Aborts when the service stops. */
  readonly signal: AbortSignal
}
