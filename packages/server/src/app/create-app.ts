import { GatehouseError } from '@gatehouse/contract'
import type { AuditReader } from '../ports/audit.ts'
import type { Backups } from '../ports/backup.ts'
import type { CapabilityRegistry } from '../ports/capability.ts'
import type { FilesFactory } from '../ports/files.ts'
import type { GitFactory } from '../ports/git.ts'
import type { Host } from '../ports/host.ts'
import type { Metrics } from '../ports/metrics.ts'
import type { InstalledModels } from '../ports/models.ts'
import type { Notifier } from '../ports/notifier.ts'
import type { Outbound } from '../ports/outbound.ts'
import type { Passwords } from '../ports/passwords.ts'
import type { PolicyFiles } from '../ports/policy.ts'
import type { ProcessHost } from '../ports/processes.ts'
import type { Sandbox } from '../ports/sandbox.ts'
import type { Calendar } from '../ports/schedules.ts'
import type { Secrets } from '../ports/secrets.ts'
import type { ServiceAdapters } from '../ports/service-adapter.ts'
import type { Tracing } from '../ports/tracing.ts'
import type { Vault } from '../ports/vault.ts'
import type { WakeCommands } from '../ports/wakes.ts'
import { AgentDirectory } from './agents/agent-directory.ts'
import { agentRecord } from './agents/agent-record.ts'
import {
  pauseAgent,
  restoreAgent,
  resumeAgent,
  revokeAgent,
  rotateAgent,
} from './agents/change-agent.ts'
import { createAgent } from './agents/create-agent.ts'
import { SeenAgents } from './agents/seen-agents.ts'
import { SessionTable } from './agents/session-table.ts'
import { assertSession, endSession, openSession } from './agents/sessions.ts'
import { showAgent } from './agents/show-agent.ts'
import type { App, InvokeInput } from './app.ts'
import { approvalsOf } from './approvals/agent-approvals.ts'
import { getApprovalOutcome, waitApprovalOutcome } from './approvals/approval-outcomes.ts'
import { ApprovalSignals } from './approvals/approval-signals.ts'
import { ApprovalUpkeep } from './approvals/approval-upkeep.ts'
import type { BindDeps } from './approvals/bind-request.ts'
import { decideApproval } from './approvals/decide-approval.ts'
import { decideApprovals } from './approvals/decide-approvals.ts'
import { listGrants, revokeGrant } from './approvals/grants.ts'
import type { HoldDeps } from './approvals/hold-call.ts'
import { recordPolled } from './approvals/record-delivery.ts'
import { listApprovals, showApproval, subscribeApprovals } from './approvals/show-approvals.ts'
import { StaleChecks } from './approvals/stale-checks.ts'
import type { Basics } from './call/basics.ts'
import type { Call } from './call/call.ts'
import { createContexts } from './call/capability-context.ts'
import type { MemoryBudget } from './call/memory-budget.ts'
import { type AgentOp, isRead, type Op } from './call/op.ts'
import { PollLoop } from './call/poll-loop.ts'
import { readInRoom } from './call/read-in-room.ts'
import { scrubbing } from './call/scrubbing.ts'
import { Pushes } from './events/pushes.ts'
import { ToolChanges } from './events/tool-changes.ts'
import { selfOf } from './gate/agent-self.ts'
import { AgentSlots } from './gate/agent-slots.ts'
import { Deadlines } from './gate/deadlines.ts'
import { invokeCapability } from './gate/invoke-capability.ts'
import { memoryOf } from './gate/invoke-run.ts'
import { describeCapability, listCapabilities, listing } from './gate/list-capabilities.ts'
import { savePolicy, testPolicy } from './gate/policy-access.ts'
import { SameTurn } from './gate/same-turn.ts'
import { traceCalls } from './gate/trace-calls.ts'
import { bindInference, type EngineParts, type InferenceDeps } from './inference/inference.ts'
import { noEngine } from './inference/no-engine.ts'
import { bindModels, type ModelParts, type ModelsDeps } from './models/models.ts'
import { noModels } from './models/no-models.ts'
import { authenticateWebSession, login, logout, sweepLogins } from './people/login.ts'
import { LoginAttempts } from './people/login-attempts.ts'
import { listOperators, removeOperator, setPassword } from './people/operators.ts'
import { reportTokenFailures } from './people/report-token-failures.ts'
import { createSetupLink, needsSetup, setUp } from './people/set-up.ts'
import {
  authenticateUser,
  createUserToken,
  listUserTokens,
  revokeUserToken,
} from './people/user-tokens.ts'
import { bindProcesses, noProcesses } from './processes/people-processes.ts'
import { ProcessTable } from './processes/process-table.ts'
import { bindProxy } from './proxy/bind-proxy.ts'
import type { ProxySettings } from './proxy/deps.ts'
import { networkOf } from './reach/agent-network.ts'
import { secretsOf } from './reach/agent-secrets.ts'
import { lastingReachOf, reachOf } from './reach/call-reach.ts'
import { Reach } from './reach/reach.ts'
import { bindVault, vaultHealth } from './reach/vault-access.ts'
import { WatchTable } from './reach/watches.ts'
import { areaOf, stateOf } from './state/agent-state.ts'
import type { MonitorDeps } from './supervision/alert-monitors.ts'
import { alertsOf } from './supervision/alerts.ts'
import {
  type AuditAccess,
  acknowledgeAudit,
  proveAuditEntry,
  reindexAudit,
  showAuditEntry,
} from './supervision/audit-access.ts'
import { Doors } from './supervision/doors.ts'
import type { HealthParts } from './supervision/health.ts'
import { makeBackup } from './supervision/make-backup.ts'
import type { CallFacts } from './supervision/notification-news.ts'
import { Notifications } from './supervision/notifications.ts'
import { status, systemFacts } from './supervision/service-state.ts'
import { bindSupervision } from './supervision/supervision.ts'
import { bindTime } from './time/time.ts'

export type AppDeps = Basics & {
  readonly tracing?: Tracing | undefined
  readonly version: string
  readonly node: string
  readonly registry: CapabilityRegistry
  readonly policy: PolicyFiles
  readonly files: FilesFactory
  readonly audit: AuditReader & AuditAccess
  readonly host: Host
  readonly passwords: Passwords
  readonly secrets: Secrets
  readonly vault: Vault
  readonly calendar: Calendar
  readonly outbound: Outbound
  /** For trying it and for health. What runs in it has ports of its own. */
  readonly sandbox: Sandbox
  readonly wakeCommands: Pick<WakeCommands, 'start'>
  /** What the parts need, each named by the one that needs it. */
  readonly settings: BindDeps['settings'] &
    HoldDeps['settings'] &
    MonitorDeps['settings'] &
    ModelsDeps['settings'] &
    InferenceDeps['settings'] &
    ProxySettings
  readonly workspaceOf: (name: string) => string
  readonly assertMount: (path: string) => void
  /** False without a server: what is approved then runs at its next start. */
  readonly runsApproved: boolean
  readonly metrics: Metrics
  /** What requests, runs and answers may hold of the heap. */
  readonly memory: MemoryBudget
  /** Absent where git cannot run, as in tests of other things. */
  readonly git?: GitFactory
  /** Absent where no program can run, as in tests of other things. */
  readonly processHost?: ProcessHost
  /** Absent where nothing lies in files, as in tests. */
  readonly backups?: Backups
  /** Absent where nobody is told. */
  readonly notifier?: Notifier
  /** Absent where no kind of service can be connected. */
  readonly adapters?: ServiceAdapters
  /** Absent where no files of models are kept. */
  readonly models?: ModelParts
  /** Absent where no model can run, as in tests of other things. */
  readonly engine?: EngineParts
  /** How the parts are that not every version has. */
  readonly parts?: HealthParts
  /** Aborts when the service stops. */
  readonly signal: AbortSignal
}

const nobody: Notifier = {
  targets: [],
  send: async () => ({ kind: 'failed', status: null, detail: 'there is no such target' }),
}

const noGit: GitFactory = {
  open() {
    throw new GatehouseError('SandboxUnavailable', {
      reason: 'this service was made without git',
      remedy: 'install git and bubblewrap',
    })
  },
}

const sweepEveryMs = 60_000
const otherNodesEveryMs = 500
const reachEveryMs = 1_000

const systemOp = ({ ids, signal }: Pick<AppDeps, 'ids' | 'signal'>): Op => ({
  actor: { kind: 'system' },
  request_id: ids.next('req'),
  session_id: null,
  signal,
})

/** All use cases, bound once. The service starts what looks after itself, and waits for it at the end. */
export type BoundApp = App & {
  /** What an engine may load, and nothing else of models. */
  readonly installedModels: InstalledModels
  /** Told by whoever opens and closes doors, asked by health. */
  readonly doors: Doors
  /** Begins to run approved calls, expire old requests and end idle sessions. */
  start(): Promise<void>
  stopped(): Promise<void>
}

export function createApp(parts: AppDeps): BoundApp {
  const given: AppDeps = scrubbing(parts)
  const doors = new Doors()
  const notifications = new Notifications({
    ...given,
    notifier: given.notifier ?? nobody,
    page: () => doors.page,
  })
  // From here on whatever is recorded tells people, too.
  const deps: AppDeps = { ...given, journal: notifications.journal }
  const { events, clock } = deps
  const signals = new ApprovalSignals(deps.log)
  const directory = new AgentDirectory(deps)
  const sessions = new SessionTable(deps)
  const slots = new AgentSlots()
  const seen = new SeenAgents(deps)
  const doorkeeping = { ...deps, logins: new LoginAttempts(clock) }
  const reach = new Reach({ ...deps, runsModels: () => inference.ready() })
  const base = { ...deps, signals, directory, sessions, slots, reach }
  const watches = new WatchTable({ ...deps, contexts: () => contexts })
  const state = {
    ...base,
    startedMs: clock.now(),
    auditReader: deps.audit,
    auditHealth: () => deps.audit.health(),
    doors,
    parts: {
      vault: () => vaultHealth(deps),
      proxy: () => proxy.health(),
      ...(deps.models ? { models: () => modelsHealth() } : {}),
      ...deps.parts,
    },
  }
  const modelsHealth = async () => {
    const [found, engine] = [await models.health(), await inference.health()]
    return found.status === 'healthy' ? { ...found, ...engine } : found
  }
  const proxy = bindProxy({ ...base, adapters: deps.adapters ?? new Map() })
  const models = bindModels({ ...deps, models: deps.models ?? noModels })
  const inference = bindInference({
    ...deps,
    engine: deps.engine ?? noEngine,
    installed: models.installed,
  })
  const processes = new ProcessTable({
    ...base,
    host: deps.processHost ?? noProcesses,
    contexts: () => contexts,
  })
  const supervision = bindSupervision({ ...state, processes })
  const reaching = { ...deps, filesOf: (call: Pick<Call, 'agent'>) => contexts.filesOf(call) }
  const contexts = createContexts({
    ...deps,
    git: deps.git ?? noGit,
    reachOf: (call) => reachOf(reaching, call),
    lastingReachOf: (call) => lastingReachOf(reaching, call),
    selfOf: (call) => selfOf({ ...base, briefingOf: time.briefingOf }, call),
    approvalsOf: (call) => approvalsOf(base, call),
    systemOf: () => systemFacts(state),
    watchesOf: (call) => watches.of(call),
    schedulesOf: (call) => time.schedulesOf(call),
    messagesOf: (call) => time.messagesOf(call),
    stateOf: (call, kind) => stateOf(base, call, areaOf(call, kind)),
    alertsOf: (call) => alertsOf(base, call),
    servicesOf: (call) => proxy.servicesOf(call),
    writesOf: (call) => proxy.writesOf(call),
    secretsOf: (call) => secretsOf(base, call),
    networkOf: (call, aborted) =>
      networkOf(
        { ...deps, contexts: () => contexts, secretsOf: (one) => secretsOf(base, one) },
        call,
        aborted,
      ),
    processesOf: (call, signal, noted) => processes.of(call, signal, noted),
    inferenceOf: (call, signal, noted) => inference.of(call, signal, noted),
  })
  const gate = {
    ...base,
    notified: (facts: CallFacts) => notifications.called(facts),
    deadlines: new Deadlines(clock),
    contexts,
    bursts: proxy.bursts,
  }
  const turn = new SameTurn()
  const untraced = async (op: AgentOp, input: InvokeInput) => {
    await turn.over()
    return await invokeCapability(op, gate, input)
  }
  const invoke = deps.tracing ? traceCalls(deps.tracing, untraced) : untraced
  const time = bindTime({ ...base, invoke })
  const pushes = new Pushes({ ...deps, reached: (event) => time.delivered([event]) })
  const upkeep = new ApprovalUpkeep(gate)
  const people = { ...gate, execute: deps.runsApproved ? upkeep.execute : () => {} }
  const shown = { ...deps, staleChecks: new StaleChecks(gate) }
  const tools = new ToolChanges(base)
  const polling = [
    new PollLoop(deps, {
      name: 'looking for agents that another node changed',
      everyMs: otherNodesEveryMs,
      look: () => directory.reload(),
    }),
    new PollLoop(deps, {
      name: 'looking for other tools',
      everyMs: reachEveryMs,
      look: () => tools.look(),
    }),
    new PollLoop(deps, {
      name: 'looking after sessions and the vault',
      everyMs: sweepEveryMs,
      async look() {
        await sessions.endIdle(systemOp(deps))
        await deps.vault.look()
        await sweepLogins(doorkeeping)
      },
    }),
  ].slice(deps.storage.isShared ? 0 : 1)

  return {
    version: deps.version,
    memory: deps.memory,

    async authenticateAgent(token) {
      const agent = await directory.authenticate(token)
      if (agent) seen.note(agent.name)
      return agent
    },
    stillValid: (name, credential) => directory.holder(name, credential) !== null,
    authenticateUser: (token) => authenticateUser(deps, token),

    reportTokenFailures: (input) => reportTokenFailures(deps, input),

    needsSetup: () => needsSetup(deps),
    createSetupLink: (op) => createSetupLink(op, doorkeeping),
    setUp: (op, input) => setUp(op, doorkeeping, input),
    login: (op, input) => login(op, doorkeeping, input),
    logout: (op, input) => logout(op, doorkeeping, input),
    authenticateWebSession: (id) => authenticateWebSession(doorkeeping, id),
    listOperators: () => listOperators(deps),
    setPassword: (op, input) => setPassword(op, doorkeeping, input),
    removeOperator: (op, input) => removeOperator(op, doorkeeping, input),

    openSession: (op, input) => openSession(op, base, input),
    endSession: (op, input) => endSession(op, base, input),
    assertSession: async (op, input) => assertSession(op, base, input),

    listCapabilities: (op, input) => listCapabilities(op, base, input),
    describeCapability: (op, input) => describeCapability(op, base, input),
    invoke,
    capabilityNames: () => deps.registry.list().map(({ name }) => name),
    listing,

    getApprovalOutcome: (op, input) =>
      readInRoom(op, deps, memoryOf, async (takeRoom) => {
        await takeRoom()
        return getApprovalOutcome(op, base, input)
      }),
    waitApprovalOutcome: (op, input) =>
      readInRoom(op, deps, memoryOf, (takeRoom) => waitApprovalOutcome(op, base, input, takeRoom)),
    pollEvents: (op, { after, timeout_ms }) =>
      readInRoom(
        op,
        deps,
        (polled) => memoryOf({ polled }),
        async (takeRoom) => {
          const found = await events.poll(op.actor.name, after, timeout_ms, op.signal)
          // Nobody reads the answer of a caller that has gone away: that is no delivery.
          if (!isRead(op)) return found
          await takeRoom()
          await recordPolled(deps, found)
          time.delivered(found)
          return found
        },
      ),
    subscribeEvents(agent, tell) {
      tools.listen(agent)
      const subscription = events.subscribe((event) => {
        if (event.agent === agent) pushes.push(event, tell)
      })
      return {
        [Symbol.dispose]() {
          tools.leave(agent)
          subscription[Symbol.dispose]()
        },
      }
    },

    createAgent: (op, input) => createAgent(op, deps, input),
    listAgents: async () => (await deps.storage.agents.list()).map(agentRecord),
    showAgent: (_op, input) => showAgent({ ...base, audit: deps.audit }, input),
    pauseAgent: (op, input) => pauseAgent(op, base, input),
    resumeAgent: (op, input) => resumeAgent(op, base, input),
    rotateAgent: (op, input) => rotateAgent(op, base, input),
    async revokeAgent(op, input) {
      const agent = await revokeAgent(op, { ...base, cancelWritesOf: proxy.cancelWritesOf }, input)
      watches.endAll(agent.name)
      void processes.endAll(agent.name, 'its agent was revoked')
      return agent
    },
    restoreAgent: (op, input) => restoreAgent(op, base, input),

    listApprovals: (_op, input) => listApprovals(shown, input),
    showApproval: (_op, input) => showApproval(shown, input),
    decideApproval: (op, input) => decideApproval(op, people, input),
    decideApprovals: (op, input) => decideApprovals(op, people, input),
    listGrants: (_op, input) => listGrants(deps, input),
    revokeGrant: (op, input) => revokeGrant(op, deps, input),
    subscribeApprovals: (listener) => subscribeApprovals(signals, listener),

    queryAudit: (_op, input) => deps.audit.query(input),
    showAuditEntry: (_op, input) => showAuditEntry(deps, input),
    verifyAudit: () => deps.audit.verify(),
    proveAuditEntry: (_op, input) => proveAuditEntry(deps, input),
    acknowledgeAudit: (op, input) => acknowledgeAudit(op, deps, input),
    reindexAudit: (op) => reindexAudit(op, deps),
    exportAudit: () => deps.audit.export(),
    listNotifications: () => notifications.list(),
    listFailedNotifications: (_op, { name }) => notifications.failed(name),
    testNotification: (op, { name }) => notifications.test(op, name),
    retryNotifications: async (op, { name }) => ({
      name,
      retried: await notifications.retry(op, name),
    }),
    makeBackup: (op, input) => makeBackup(op, deps, input),

    showPolicy: async () => ({
      version: deps.policy.current().version,
      files: deps.policy.files(),
      problems: deps.policy.problems(),
      ...deps.policy.inForce(),
    }),
    testPolicy: (_op, input) => testPolicy(gate, input),
    validatePolicy: async (_op, input) => deps.policy.validate(input),
    savePolicy: (op, input) => savePolicy(op, deps, input),

    createUserToken: (op, input) => createUserToken(op, deps, input),
    listUserTokens: () => listUserTokens(deps),
    revokeUserToken: (op, input) => revokeUserToken(op, deps, input),
    status: () => status(state),
    ...bindVault(deps),
    ...supervision.useCases,
    ...models.useCases,
    ...inference.useCases,
    installedModels: models.installed,
    ...time.useCases,
    ...proxy.useCases,
    ...bindProcesses({ ...base, processes }),
    doors: state.doors,

    async start() {
      // Before anything is run: what the store calls running now is of an earlier life.
      await processes.start()
      await upkeep.start()
      await supervision.start()
      await time.start()
      if (deps.runsApproved) await proxy.start()
      await models.start()
      await notifications.start()
      for (const loop of polling) loop.start('later')
    },
    async stopped() {
      tools[Symbol.dispose]()
      watches[Symbol.dispose]()
      await Promise.all([
        upkeep.stopped(),
        pushes.stopped(),
        processes.stopped(),
        supervision.stopped(),
        time.stopped(),
        proxy.stopped(),
        models.stopped(),
        inference.stopped(),
        notifications.stopped(),
        ...polling.map((loop) => loop.stopped()),
      ])
    },
  }
}
