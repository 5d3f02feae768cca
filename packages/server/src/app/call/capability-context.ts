import type { Logs } from '@gatehouse/contract'
import type { AgentServices, AgentWrites } from '../../ports/agent-services.ts'
import type {
  AgentAlerts,
  AgentApprovals,
  AgentMessages,
  AgentSchedules,
  AgentSecrets,
  AgentSelf,
  CapabilityContext,
  PreviewContext,
  StateArea,
  SystemFacts,
  Watches,
} from '../../ports/capability.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Files, FilesFactory, Reach } from '../../ports/files.ts'
import type { AgentGit, GitFactory } from '../../ports/git.ts'
import type { Ids } from '../../ports/ids.ts'
import type { AgentInference } from '../../ports/inference.ts'
import type { AgentNetwork } from '../../ports/network.ts'
import type { AgentProcesses } from '../../ports/processes.ts'
import type { Call } from './call.ts'
import type { Placement } from './placement.ts'

export type ContextDeps = {
  readonly clock: Clock
  readonly ids: Ids
  readonly files: FilesFactory
  readonly git: GitFactory
  readonly placement: Placement
  /** Called with the first call: the rooms are bound by then. */
  readonly offers: () => ContextOffers
}

/** Offers of the rooms of the application to calls; each is made when a call asks for it. */
export type ContextOffers = {
  /** Raises what the call needs and does not find here, whatever it is about. */
  readonly assertRunnable: (call: Call) => Promise<void>
  /** Policy for the places that a call reaches; null where it says the same of all. */
  readonly buildReach: (call: Call) => Reach | null
  /** For what outlives the call: policy may come to depend on paths later. */
  readonly buildLastingReach: (call: Call) => Reach
  /** Facts of the agent, its approvals, the system and its watches; made when asked for. */
  readonly buildSelf: (call: Call) => AgentSelf
  readonly approvalsOf: (call: Call) => AgentApprovals
  readonly systemOf: (call: Call) => SystemFacts
  readonly watchesOf: (call: Call) => Watches
  readonly schedulesOf: (call: Call) => AgentSchedules
  readonly bindMessages: (call: Call) => AgentMessages
  /** Values: the agent's own, those of all, those of its session. */
  readonly stateOf: (call: Call, kind: 'own' | 'shared' | 'scratch') => StateArea
  readonly alertsOf: (call: Call) => AgentAlerts
  readonly servicesOf: (
    call: Call,
    noted: (facts: Readonly<Record<string, unknown>>) => void,
  ) => AgentServices
  readonly writesOf: (call: Call) => AgentWrites
  readonly secretsOf: (call: Call) => AgentSecrets
  readonly networkOf: (call: Call, signal: AbortSignal) => AgentNetwork
  readonly inferenceOf: (
    call: Call,
    signal: AbortSignal,
    noted: (facts: Readonly<Record<string, unknown>>) => void,
  ) => AgentInference
  readonly processesOf: (
    call: Call,
    signal: AbortSignal,
    noted: (facts: Readonly<Record<string, unknown>>) => void,
  ) => AgentProcesses
}

/** Values that the run of a call hands to its capability. */
export type RunOfCall = {
  /** Aborts with the operation, and when the time of the call is over. */
  readonly signal: AbortSignal
  /** Facts for the log. */
  readonly noted: (facts: Readonly<Record<string, unknown>>) => void
  readonly whileAsking: CapabilityContext['whileAsking']
}

/** Everything a capability may reach, made when it is first asked for: most calls need one thing. */
class Context implements CapabilityContext {
  readonly clock: Clock
  readonly ids: Ids
  readonly #deps: ContextDeps
  readonly #call: Call
  readonly #run: RunOfCall
  #files: Files | null = null

  constructor(deps: ContextDeps, call: Call, run: RunOfCall) {
    this.#deps = deps
    this.#call = call
    this.#run = run
    this.clock = deps.clock
    this.ids = deps.ids
  }

  get agent() {
    return this.#call.agent
  }
  get session_id() {
    return this.#call.op.session_id
  }
  get request_id() {
    return this.#call.op.request_id
  }
  // @SECURITY A person or a grant agreed to the call without it; upstream/meta.test.ts.
  get meta(): Readonly<Record<string, unknown>> | null {
    return this.#call.agreed === true ? null : (this.#call.op.meta ?? null)
  }
  get signal(): AbortSignal {
    return this.#run.signal
  }
  whileAsking<T>(ask: () => Promise<T>): Promise<T> {
    return this.#run.whileAsking(ask)
  }
  get files(): Files {
    return (this.#files ??= reachableFiles(this.#deps, this.#call))
  }
  get git(): AgentGit {
    return bindGit(this.#deps, this.#call, this.files, this.signal, this.#run.noted)
  }
  get processes(): AgentProcesses {
    return this.#deps.offers().processesOf(this.#call, this.signal, this.#run.noted)
  }
  get resolved(): Readonly<Record<string, unknown>> | null {
    return this.#call.resolved ?? null
  }
  get self(): AgentSelf {
    return this.#deps.offers().buildSelf(this.#call)
  }
  get approvals(): AgentApprovals {
    return this.#deps.offers().approvalsOf(this.#call)
  }
  get system(): SystemFacts {
    return this.#deps.offers().systemOf(this.#call)
  }
  get watches(): Watches {
    return this.#deps.offers().watchesOf(this.#call)
  }
  get schedules(): AgentSchedules {
    return this.#deps.offers().schedulesOf(this.#call)
  }
  get messages(): AgentMessages {
    return this.#deps.offers().bindMessages(this.#call)
  }
  get state(): StateArea {
    return this.#deps.offers().stateOf(this.#call, 'own')
  }
  get shared(): StateArea {
    return this.#deps.offers().stateOf(this.#call, 'shared')
  }
  get scratch(): StateArea {
    return this.#deps.offers().stateOf(this.#call, 'scratch')
  }
  get services(): AgentServices {
    return this.#deps.offers().servicesOf(this.#call, this.#run.noted)
  }
  get writes(): AgentWrites {
    return this.#deps.offers().writesOf(this.#call)
  }
  get alerts(): AgentAlerts {
    return this.#deps.offers().alertsOf(this.#call)
  }
  get secrets(): AgentSecrets {
    return this.#deps.offers().secretsOf(this.#call)
  }
  get network(): AgentNetwork {
    return this.#deps.offers().networkOf(this.#call, this.signal)
  }
  get inference(): AgentInference {
    return this.#deps.offers().inferenceOf(this.#call, this.signal, this.#run.noted)
  }
  note(facts: Readonly<Record<string, unknown>>): void {
    this.#run.noted(facts)
  }
  get logs(): Logs | null {
    const { logs } = this.#call.op
    if (!logs) return null
    return { level: logs.level, tell: (message) => logs.tell(this.secrets.scrub(message)) }
  }
  progress(done: number, total?: number, message?: string): void {
    const { progress } = this.#call.op
    if (progress) progress(done, total, message && this.secrets.scrub(message))
  }
}

const openFiles = (
  { files, placement }: ContextDeps,
  { agent }: Pick<Call, 'agent'>,
  reach?: () => Reach | null,
): Files => (placement.isAway(agent) ? files.away(agent) : files.open(agent, reach?.()))

/** The folders of the agent, as far as policy lets this call reach into them. */
const reachableFiles = (deps: ContextDeps, call: Call): Files =>
  openFiles(deps, call, () => deps.offers().buildReach(call))

const bindGit = (
  { git }: ContextDeps,
  { agent, capability }: Call,
  files: Files,
  signal: AbortSignal,
  noted: (facts: Readonly<Record<string, unknown>>) => void,
): AgentGit =>
  git.open({
    agent: agent.name,
    capability: capability.name,
    files,
    signal,
    noted,
  })

export type ContextFactory = {
  create(call: Call, run: RunOfCall): CapabilityContext
  /** Raises what a run would for want of something that it needs here, such as a mailbox or a sandbox. */
  assertRunnable(call: Call): Promise<void>
  /** Where the folders of agents are, if not here. */
  readonly placement: Placement
  /** All of the agent's folders, for finding out where a path leads. */
  filesOf(call: Pick<Call, 'agent'>): Files
  /** As far as policy lets the call reach into them, while it runs or for as long as what it started lasts. */
  reachableOf(call: Call): Files
  lastingOf(call: Call): Files
  /** For showing and binding a call that has not run. `noted` takes facts for the log. */
  previewOf(call: Call, signal: AbortSignal, noted?: RunOfCall['noted']): PreviewContext
}

export const createContexts = (deps: ContextDeps): ContextFactory => ({
  create: (call, run) => new Context(deps, call, run),
  assertRunnable: (call) => deps.offers().assertRunnable(call),
  placement: deps.placement,
  filesOf: (call) => openFiles(deps, call),
  reachableOf: (call) => reachableFiles(deps, call),
  lastingOf: (call) => openFiles(deps, call, () => deps.offers().buildLastingReach(call)),
  previewOf: (call, signal, noted = () => {}) => ({
    files: reachableFiles(deps, call),
    get git() {
      return bindGit(deps, call, this.files, signal, () => {})
    },
    get processes() {
      return deps.offers().processesOf(call, signal, () => {})
    },
    get services() {
      return deps.offers().servicesOf(call, noted)
    },
    get state() {
      return deps.offers().stateOf(call, 'own')
    },
    get shared() {
      return deps.offers().stateOf(call, 'shared')
    },
    get messages() {
      return deps.offers().bindMessages(call)
    },
    get schedules() {
      return deps.offers().schedulesOf(call)
    },
    get approvals() {
      return deps.offers().approvalsOf(call)
    },
    get alerts() {
      return deps.offers().alertsOf(call)
    },
    get writes() {
      return deps.offers().writesOf(call)
    },
    get secrets() {
      return deps.offers().secretsOf(call)
    },
    signal,
  }),
})
