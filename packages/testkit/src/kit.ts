import { setMaxListeners } from 'node:events'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ApprovalMode, AuditEntry, CapabilityError, Remember } from '@gatehouse/contract'
import type { InvokeOutcome } from '@gatehouse/server/app/call/invoke'
import { MemoryBudget } from '@gatehouse/server/app/call/memory-budget'
import type { AgentOp, Op } from '@gatehouse/server/app/call/op'
import { type BoundApp, createApp } from '@gatehouse/server/app/create-app'
import type { EngineParts } from '@gatehouse/server/app/inference/inference'
import type { ModelParts } from '@gatehouse/server/app/models/models'
import { createRegistry } from '@gatehouse/server/capabilities/registry'
import { standardCapabilities } from '@gatehouse/server/capabilities/standard'
import { loadSettings } from '@gatehouse/server/config/load'
import type { Settings } from '@gatehouse/server/config/settings'
import { outcomeOf } from '@gatehouse/server/domain/approvals/outcome'
import { createFilesFactory } from '@gatehouse/server/files/create-files-factory'
import { openAuditLog } from '@gatehouse/server/log/audit-log'
import { HandClock, silent } from '@gatehouse/server/log/testing'
import { createOutbound } from '@gatehouse/server/outbound/create-outbound'
import { createCalendar } from '@gatehouse/server/platform/calendar'
import { createDigest } from '@gatehouse/server/platform/digest'
import { createEventBus } from '@gatehouse/server/platform/event-bus'
import { createHost } from '@gatehouse/server/platform/host'
import { createIds } from '@gatehouse/server/platform/ids'
import { openPolicySource } from '@gatehouse/server/policy/source'
import type { AuditRows } from '@gatehouse/server/ports/audit-rows'
import type { Capability, ChangingRegistry } from '@gatehouse/server/ports/capability'
import type { GitFactory } from '@gatehouse/server/ports/git'
import type { Log } from '@gatehouse/server/ports/log'
import type { Notifier } from '@gatehouse/server/ports/notifier'
import type { Outbound } from '@gatehouse/server/ports/outbound'
import type { Passwords } from '@gatehouse/server/ports/passwords'
import type { Sandbox } from '@gatehouse/server/ports/sandbox'
import type { Secrets } from '@gatehouse/server/ports/secrets'
import type { ServiceAdapters } from '@gatehouse/server/ports/service-adapter'
import type { Storage } from '@gatehouse/server/ports/storage'
import type { Tracing } from '@gatehouse/server/ports/tracing'
import type { WakeCommands } from '@gatehouse/server/ports/wakes'
import { createProcessHost } from '@gatehouse/server/processes/create-process-host'
import { createMetrics } from '@gatehouse/server/telemetry/metrics'
import { heldBytesFor } from '@gatehouse/server/transport/http/held-bytes'
import { openVault } from '@gatehouse/server/vault/open-vault'
import { Scrubber } from '@gatehouse/server/vault/scrub/scrubber'
import { noSandbox } from './no-sandbox.ts'
import { openQuickStore } from './quick-store.ts'

/** Readable ones: the real hash is slow on purpose. */
const quickPasswords: Passwords = {
  hash: async (password) => `hash of ${password}`,
  verify: async (hash, password) => hash === `hash of ${password}`,
}

export type KitOptions = {
  /** Capabilities beside the built-in ones. */
  readonly capabilities?: readonly Capability[]
  /** Less memory for requests than this process has. */
  readonly memory?: MemoryBudget
  /** The text of `organisation.yaml`. */
  readonly policy?: string
  /** Puts something between the whole service and its store. */
  readonly storage?: (opened: Storage) => Storage
  /** Other settings than usual. */
  readonly settings?: Partial<Settings>
  readonly runsApproved?: boolean
  /** Leaves it to the test to call `app.start()`. */
  readonly startsLater?: boolean
  readonly wakeCommands?: Pick<WakeCommands, 'start'>
  readonly notifier?: Notifier
  readonly models?: ModelParts
  /** What runs models, in the sandbox of this kit. */
  readonly engine?: (sandbox: Sandbox, folder: string) => EngineParts
  /** The kinds of services that can be connected. */
  readonly adapters?: ServiceAdapters
  readonly log?: Log
  readonly tracing?: Tracing
  readonly sandbox?: Sandbox | ((folder: string) => Sandbox)
  /** Git, in the sandbox of this kit. */
  readonly git?: (parts: {
    readonly sandbox: Sandbox
    readonly outbound: Outbound
    readonly secrets: Secrets
    readonly folder: string
  }) => GitFactory
  /** Without one no name leads anywhere. */
  readonly outbound?: Outbound
  /** Puts something between the application and each of its ports. */
  readonly ports?: <T extends object>(name: string, port: T) => T
}

/** A whole service without listeners: real policy, log, files and store, a clock moved by hand. */
export class Kit implements AsyncDisposable {
  readonly app: BoundApp
  readonly clock: HandClock
  readonly storage: Storage
  /** Entries of the log, as they are stored. */
  readonly rows: AuditRows
  readonly folder: string
  readonly secrets: Secrets
  readonly registry: ChangingRegistry
  /** Reads the policy files again, as after a change on the disk. */
  readonly reloadPolicy: () => Promise<void>
  readonly #close: () => Promise<void>
  readonly #credentials = new Map<string, number>()

  constructor(parts: {
    app: BoundApp
    clock: HandClock
    storage: Storage
    rows: AuditRows
    folder: string
    secrets: Secrets
    registry: ChangingRegistry
    reloadPolicy: () => Promise<void>
    close: () => Promise<void>
  }) {
    this.app = parts.app
    this.clock = parts.clock
    this.storage = parts.storage
    this.rows = parts.rows
    this.folder = parts.folder
    this.secrets = parts.secrets
    this.registry = parts.registry
    this.reloadPolicy = parts.reloadPolicy
    this.#close = parts.close
  }

  /** An operator called `label`. */
  operator(label = 'ana'): Op {
    return {
      actor: { kind: 'user', label, role: 'operator', token_id: 'ut-1' },
      request_id: 'req-operator',
      session_id: null,
      signal: new AbortController().signal,
    }
  }

  /** Makes an agent, and returns its token. */
  async agent(name: string, approvals: ApprovalMode = 'pending'): Promise<string> {
    const { token } = await this.app.createAgent(this.operator(), {
      name,
      purpose: '',
      approvals,
      mounts: [],
    })
    await this.authenticate(token)
    return token
  }

  /** Remembers the credential of a token for later calls of its agent. */
  async authenticate(token: string): Promise<void> {
    const agent = await this.app.authenticateAgent(token)
    if (!agent) throw new Error('the token is not valid')
    this.#credentials.set(agent.name, agent.credential)
  }

  op(agent: string, change: Partial<AgentOp> = {}): AgentOp {
    return {
      actor: { kind: 'agent', name: agent, credential: this.#credentials.get(agent) ?? 0 },
      request_id: 'req-agent',
      session_id: null,
      signal: new AbortController().signal,
      ...change,
    }
  }

  workspace(agent: string): string {
    return join(this.folder, 'workspaces', agent)
  }

  invoke(
    agent: string,
    capability: string,
    args: object = {},
    change: Partial<AgentOp> = {},
  ): Promise<InvokeOutcome> {
    return this.app.invoke(this.op(agent, change), { capability, arguments: args })
  }

  /** A call that must wait for a person: its approval's id. */
  async pending(agent: string, capability: string, args: object): Promise<string> {
    const outcome = await this.invoke(agent, capability, args)
    if (outcome.kind !== 'pending')
      throw new Error(`expected a pending call, got ${JSON.stringify(outcome)}`)
    return outcome.pending.approval_id
  }

  decide(
    approval_id: string,
    decision: 'approve' | 'reject',
    facts: {
      as?: string
      digest?: string
      reason?: string
      remember?: Remember
      arguments?: Record<string, unknown>
    } = {},
  ) {
    const { as = 'ana', ...rest } = facts
    return this.app.decideApproval(this.operator(as), { approval_id, decision, ...rest })
  }

  /** Waits, in real time, until nothing more will happen to the approval; the agent is told nothing. */
  async resolved(agent: string, approval_id: string) {
    for (let tries = 0; tries < 1_000; tries += 1) {
      const approval = await this.storage.approvals.find(approval_id)
      if (approval?.agent !== agent) throw new Error(`${agent} has no ${approval_id}`)
      const outcome = outcomeOf(approval)
      if (outcome.result) return outcome
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    throw new Error(`${approval_id} was not resolved`)
  }

  /** The newest entries first. */
  async audit(
    filter: { agent?: string; capability?: string } = {},
  ): Promise<readonly AuditEntry[]> {
    const page = await this.app.queryAudit(this.operator(), { ...filter, limit: 1000, offset: 0 })
    if (page.integrity !== 'verified')
      throw new Error(`the log is ${page.integrity}: ${page.detail}`)
    return page.entries
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close()
  }
}

export const failureIn = (outcome: InvokeOutcome): CapabilityError | null =>
  outcome.kind === 'failed' ? outcome.error : null

export const createKit = async (options: KitOptions = {}): Promise<Kit> => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-kit-')))
  const [clock, ids, digest] = [new HandClock(), createIds(), createDigest()]
  const log = options.log ?? silent
  const opened = await openQuickStore()
  const storage = options.storage?.(opened) ?? opened
  const auditLog = await openAuditLog({
    storage,
    directory: join(folder, 'audit'),
    chain: 'kit',
    ids,
    clock,
    log,
  })
  const registry = createRegistry([...standardCapabilities, ...(options.capabilities ?? [])])
  const policy = await openPolicySource({
    directory: join(folder, 'policies'),
    registry,
    log,
  })
  if (options.policy !== undefined) {
    const { problems } = await policy.save({ text: options.policy })
    const error = problems.find(({ severity }) => severity === 'error')
    if (error) throw new Error(`${error.file}:${error.line}: ${error.message}`)
  }
  const vault = await openVault({
    storage,
    auditLog,
    clock,
    ids,
    log,
    scrubber: new Scrubber(),
    keyFile: join(folder, 'vault.key'),
    kdf: { memory_kib: 64, passes: 1, lanes: 1 },
  })
  const files = createFilesFactory({ ids, clock })
  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal)
  const made = options.sandbox ?? noSandbox()
  const sandbox = typeof made === 'function' ? made(folder) : made
  // However full the disk of this machine is.
  const settings = {
    ...loadSettings({ 'data-dir': folder }, {}),
    'alerts.disk_percent': 101,
    ...options.settings,
  }
  const outbound =
    options.outbound ??
    createOutbound(settings, { ownPorts: () => new Set(), resolve: async () => [] })
  const processHost = await createProcessHost({
    sandbox,
    outbound,
    clock,
    folder: join(folder, 'processes'),
  })
  const port = options.ports ?? (<T extends object>(_name: string, given: T): T => given)
  const app = createApp({
    tracing: options.tracing,
    storage: port('storage', storage),
    auditLog: port('auditLog', auditLog),
    audit: port('audit', auditLog),
    clock,
    ids,
    digest: port('digest', digest),
    log,
    events: port('events', createEventBus({ ids, clock, log })),
    version: '0.0.0',
    node: 'kit',
    registry,
    policy: port('policy', policy),
    files: port('files', files),
    host: port('host', createHost(folder)),
    passwords: port('passwords', quickPasswords),
    secrets: port('secrets', vault.secrets),
    vault: port('vault', vault.vault),
    calendar: port('calendar', createCalendar()),
    outbound: port('outbound', outbound),
    sandbox: port('sandbox', sandbox),
    processHost: port('processHost', processHost),
    wakeCommands: options.wakeCommands ?? { start: () => 'none' },
    ...(options.git
      ? {
          git: options.git({
            sandbox,
            outbound,
            secrets: vault.secrets,
            folder: join(folder, 'git'),
          }),
        }
      : {}),
    ...(options.notifier ? { notifier: options.notifier } : {}),
    ...(options.models ? { models: options.models } : {}),
    ...(options.engine ? { engine: options.engine(sandbox, folder) } : {}),
    ...(options.adapters ? { adapters: options.adapters } : {}),
    settings,
    metrics: createMetrics({
      version: '0.0.0',
      isCapability: (name) => registry.find(name) !== null,
      droppedLogLines: () => 0,
    }),
    memory: options.memory ?? new MemoryBudget(heldBytesFor()),
    workspaceOf: (name) => join(folder, 'workspaces', name),
    assertMount: () => {},
    droppedLogLines: () => 0,
    runsApproved: options.runsApproved ?? true,
    signal: stopping.signal,
  })
  if (!options.startsLater) await app.start()
  return new Kit({
    app,
    clock,
    storage,
    rows: auditLog.rows,
    folder,
    secrets: vault.secrets,
    registry,
    reloadPolicy: () => policy.reload(),
    close: async () => {
      stopping.abort()
      await app.stopped()
      files[Symbol.dispose]()
      await policy[Symbol.asyncDispose]()
      await auditLog[Symbol.asyncDispose]()
      await opened[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  })
}
