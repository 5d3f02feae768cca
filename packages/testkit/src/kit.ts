import { cpSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ApprovalMode, AuditEntry, CapabilityError, Remember } from '@gatehouse/contract'
import type { AppDeps } from '@gatehouse/server/app/app-deps'
import type { InvokeOutcome } from '@gatehouse/server/app/call/invoke'
import type { AgentOp, Op } from '@gatehouse/server/app/call/op'
import type { BoundApp } from '@gatehouse/server/app/create-app'
import type { EngineParts } from '@gatehouse/server/app/inference/inference'
import { createRegistry } from '@gatehouse/server/capabilities/registry'
import { standardCapabilities } from '@gatehouse/server/capabilities/standard'
import { compose } from '@gatehouse/server/compose'
import { loadSettings } from '@gatehouse/server/config/load'
import type { Settings } from '@gatehouse/server/config/settings'
import { outcomeOf } from '@gatehouse/server/domain/approvals/outcome'
import { HandClock, silent } from '@gatehouse/server/log/testing'
import { createOutbound } from '@gatehouse/server/outbound/create-outbound'
import type { Overrides } from '@gatehouse/server/overrides'
import type { Capability, ChangingRegistry } from '@gatehouse/server/ports/capability'
import type { Log } from '@gatehouse/server/ports/log'
import type { Passwords } from '@gatehouse/server/ports/passwords'
import type { Sandbox } from '@gatehouse/server/ports/sandbox'
import type { Storage } from '@gatehouse/server/ports/storage'
import { Scrubber } from '@gatehouse/server/vault/scrub/scrubber'
import { noSandbox } from './no-sandbox.ts'
import { makeQuickFolder, putStore } from './quick-store.ts'
import { until } from './until.ts'

/** Readable ones: the real hash is slow on purpose. */
const quickPasswords: Passwords = {
  hash: async (password) => `hash of ${password}`,
  verify: async (hash, password) => hash === `hash of ${password}`,
}

/** Parts of the application that a test may exchange for its own. */
type Exchanged = 'memory' | 'models' | 'notifier' | 'tracing' | 'wakeCommands'

export type KitOptions = Pick<Overrides, 'adapters' | 'ids' | 'outbound' | 'storage'> &
  Partial<Pick<AppDeps, Exchanged>> & {
    /** Capabilities beside the standard ones. */
    readonly capabilities?: readonly Capability[]
    /** The text of `organisation.yaml`. */
    readonly policy?: string
    /** Other settings than usual. */
    readonly settings?: Partial<Settings>
    readonly runsApproved?: boolean
    /** Leaves it to the test to call `app.start()`. */
    readonly startsLater?: boolean
    /** Engine that runs models, in the sandbox of this kit. */
    readonly engine?: (sandbox: Sandbox, folder: string) => EngineParts
    readonly log?: Log
    /** `real` is that of this machine; without one no program starts. */
    readonly sandbox?: Sandbox | 'real'
    /** Exchanges what the application stands on. */
    readonly parts?: (parts: AppDeps, folder: string) => Partial<AppDeps>
    /** The data directory to begin with, of a kit that was closed; it is copied. */
    readonly begins?: string
    /** Where the data directory is copied to when the kit is closed. */
    readonly leaves?: string
    /** Folders of agents that outlast the kit. */
    readonly workspaces?: string
    /** When the clock stands still, in ms since 1970. */
    readonly nowMs?: number
    /** Puts something between the application and each of its ports. */
    readonly ports?: <T extends object>(name: string, port: T) => T
  }

/** A whole service without listeners: real policy, log, files and store, a clock moved by hand. */
export class Kit implements AsyncDisposable {
  readonly app: BoundApp
  readonly clock: HandClock
  /** Parts that the application stands on, before the test put anything in between. */
  readonly parts: AppDeps
  readonly registry: ChangingRegistry
  readonly folder: string
  readonly #workspaces: string
  readonly #close: () => Promise<void>
  readonly #credentials = new Map<string, number>()

  constructor(made: {
    app: BoundApp
    clock: HandClock
    parts: AppDeps
    registry: ChangingRegistry
    folder: string
    workspaces: string
    close: () => Promise<void>
  }) {
    this.app = made.app
    this.clock = made.clock
    this.parts = made.parts
    this.registry = made.registry
    this.folder = made.folder
    this.#workspaces = made.workspaces
    this.#close = made.close
  }

  get storage(): Storage {
    return this.parts.storage
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
      tools: [],
      limits: [],
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
    return join(this.#workspaces, agent)
  }

  invoke(
    agent: string,
    capability: string,
    args: object = {},
    change: Partial<AgentOp> = {},
  ): Promise<InvokeOutcome> {
    return this.app.invoke(this.op(agent, change), { capability, arguments: args })
  }

  /** A call that must succeed: its result. */
  async run(agent: string, capability: string, args: object = {}) {
    const outcome = await this.invoke(agent, capability, args)
    if (outcome.kind !== 'succeeded')
      throw new Error(`expected ${capability} to succeed, got ${JSON.stringify(outcome)}`)
    return outcome.data
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
    return until(async () => {
      const approval = await this.storage.approvals.find(approval_id)
      if (approval?.agent !== agent) throw new Error(`${agent} has no ${approval_id}`)
      const outcome = outcomeOf(approval)
      return outcome.result ? outcome : null
    })
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

/** Ports between the application and the rest: all but plain values and what has state of its own. */
const wrappedPorts = [
  ...(['storage', 'auditLog', 'audit', 'digest', 'events', 'policy', 'files', 'host'] as const),
  ...(['passwords', 'secrets', 'vault', 'calendar', 'outbound', 'sandbox', 'processHost'] as const),
]

const wrapped = (parts: AppDeps, wrap: NonNullable<KitOptions['ports']>): AppDeps => ({
  ...parts,
  ...Object.fromEntries(wrappedPorts.map((name) => [name, wrap(name, parts[name])])),
})

/** The parts that a test gives, and passwords that are hashed at once. */
const exchangedIn = (options: KitOptions, parts: AppDeps, folder: string) => ({
  passwords: quickPasswords,
  ...(options.memory ? { memory: options.memory } : {}),
  ...(options.models ? { models: options.models } : {}),
  ...(options.notifier ? { notifier: options.notifier } : {}),
  ...(options.tracing ? { tracing: options.tracing } : {}),
  ...(options.wakeCommands ? { wakeCommands: options.wakeCommands } : {}),
  ...(options.engine ? { engine: options.engine(parts.sandbox, folder) } : {}),
  ...options.parts?.(parts, folder),
})

const settingsIn = (folder: string, changed: Partial<Settings> = {}): Settings => ({
  ...loadSettings({ 'data-dir': folder }, {}),
  // However full the disk of this machine is.
  'alerts.disk_percent': 101,
  ...changed,
})

const savePolicy = async (policy: AppDeps['policy'], text: string): Promise<void> => {
  const { problems } = await policy.save({ text })
  const error = problems.find(({ severity }) => severity === 'error')
  if (error) throw new Error(`${error.file}:${error.line}: ${error.message}`)
}

/** A data directory in memory. Agents and programs work on a disk: neither may use what lies below `/dev`. */
const makePlaces = (runsPrograms: boolean) => {
  const disk = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-kit-')))
  const memory = runsPrograms ? null : makeQuickFolder()
  return {
    folder: memory?.path ?? disk,
    workspaces: join(disk, 'workspaces'),
    [Symbol.dispose]() {
      memory?.[Symbol.dispose]()
      rmSync(disk, { recursive: true, force: true })
    },
  }
}

const overridesOf = (options: KitOptions, settings: Settings): Overrides => ({
  verifiesOnThread: false,
  kdf: { memory_kib: 64, passes: 1, lanes: 1 },
  // Without one of the test's own no name leads anywhere.
  outbound:
    options.outbound ??
    createOutbound(settings, { ownPorts: () => new Set(), resolve: async () => [] }),
  ...(options.adapters ? { adapters: options.adapters } : {}),
  ...(options.ids ? { ids: options.ids } : {}),
  ...(options.storage ? { storage: options.storage } : {}),
})

export const createKit = async (options: KitOptions = {}): Promise<Kit> => {
  const { log = silent, runsApproved = true, sandbox = noSandbox() } = options
  const places = makePlaces(sandbox === 'real')
  const { folder } = places
  const { workspaces = places.workspaces } = options
  const settings = settingsIn(folder, options.settings)
  const clock = new HandClock()
  clock.ms = options.nowMs ?? clock.ms
  const registry = createRegistry([...standardCapabilities, ...(options.capabilities ?? [])])
  if (options.begins) cpSync(options.begins, folder, { recursive: true })
  else await putStore(folder)
  const opened: AppDeps[] = []
  const composition = await compose(
    settings,
    log,
    { runsApproved, scrubber: new Scrubber(), output: { dropped: 0 } },
    {
      ...overridesOf(options, settings),
      clock,
      registry,
      workspaces,
      ...(sandbox === 'real' ? {} : { sandbox }),
      parts(parts) {
        opened.push(parts)
        const own = { ...parts, ...exchangedIn(options, parts, folder) }
        return options.ports ? wrapped(own, options.ports) : own
      },
    },
  )
  const [parts] = opened
  if (!parts) throw new Error('the service has no parts')
  if (options.policy !== undefined) await savePolicy(parts.policy, options.policy)
  if (!options.startsLater) await composition.app.start()
  return new Kit({
    app: composition.app,
    clock,
    parts,
    registry,
    folder,
    workspaces,
    close: async () => {
      await composition[Symbol.asyncDispose]()
      if (options.leaves) cpSync(folder, options.leaves, { recursive: true })
      places[Symbol.dispose]()
    },
  })
}
