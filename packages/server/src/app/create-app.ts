import type { InstalledModels } from '../ports/models.ts'
import { whyMissing } from './agents/agent-moves.ts'
import { bindAgents } from './agents/agents.ts'
import { answerGates } from './answer-gates.ts'
import type { App } from './app.ts'
import type { AppDeps } from './app-deps.ts'
import { bindApprovals } from './approvals/approvals.ts'
import { AgentSlots } from './call/agent-slots.ts'
import { askOthers } from './call/ask-gates.ts'
import { type ContextOffers, createContexts } from './call/capability-context.ts'
import { Deadlines } from './call/deadlines.ts'
import type { Part } from './call/part.ts'
import { Placement } from './call/placement.ts'
import { scrubbing } from './call/scrubbing.ts'
import { bindEvents } from './events/events.ts'
import { buildSelf } from './gate/agent-self.ts'
import { bindGate } from './gate/gate.ts'
import { bindInference } from './inference/inference.ts'
import { bindModels } from './models/models.ts'
import { bindNodes, type Nodes } from './nodes/nodes.ts'
import { SharedPolicy } from './nodes/shared-policy.ts'
import { bindPeople } from './people/people.ts'
import { bindProcesses } from './processes/processes.ts'
import { foreseeWrite } from './proxy/foresee-write.ts'
import { bindProxy } from './proxy/proxy.ts'
import { bindReach } from './reach/reach.ts'
import { bindState } from './state/state.ts'
import { GateWatch } from './supervision/gate-watch.ts'
import { Listeners } from './supervision/listeners.ts'
import { Notifications } from './supervision/notifications.ts'
import { bindSupervision } from './supervision/supervision.ts'
import { bindTime } from './time/time.ts'
import { bindFeatures } from './upstreams/features.ts'
import { bindSubscriptions } from './upstreams/subscriptions.ts'
import type { CallUpstream } from './upstreams/tool-capability.ts'
import { bindUpstreams } from './upstreams/upstreams.ts'

/** All use cases, bound once. The service starts what looks after itself, and waits for it at the end. */
export type BoundApp = App & {
  /** Installed models, as far as an engine may load them. */
  readonly installedModels: InstalledModels
  /** Behind the gate alone: the capabilities of upstream servers run by it. */
  readonly callUpstream: CallUpstream
  /** Asked by whoever opens listeners: whether this node may serve beside the others. */
  readonly nodes: Pick<
    Nodes,
    'assertFits' | 'sharedAuthority' | 'recordAuthority' | 'recordMove' | 'ways'
  >
  /** Told by whoever opens and closes listeners, asked by health. */
  readonly listeners: Listeners
  /** Begins to run approved calls, expire old requests and end idle sessions. */
  start(): Promise<void>
  stopped(): Promise<void>
}

/** Binds each part to what it stands on. What one part needs of another is a function, called later. */
export function createApp(given: AppDeps): BoundApp {
  const listeners = new Listeners()
  const cleaned = scrubbing(given)
  const notifications = new Notifications({
    ...cleaned,
    page: () => listeners.page,
  })
  // From here on whatever is recorded tells people, too.
  const base = {
    ...cleaned,
    auditLog: notifications.auditLog,
    slots: new AgentSlots(),
    deadlines: new Deadlines(given.clock),
    draining: () => listeners.draining,
    gateWatch: new GateWatch({
      ...given,
      missingNodes: () => nodes.missing(),
      foundByNodes: () => nodes.found(),
    }),
  }
  const contexts = createContexts({
    ...base,
    placement: new Placement({
      ...base,
      whereIs: (site) => nodes.whereIs(site),
      whyMissing: (agent) => whyMissing(base, agent),
      isOtherServing: (node, site) => nodes.isOtherServing(node, site),
    }),
    offers: () => offers,
  })
  const agents = bindAgents({
    ...base,
    endsWithAgent: () =>
      [time, proxy, approvals, reach, processes, upstreams].map(({ endWithAgent }) => endWithAgent),
  })
  const { directory, sessions } = agents
  const upstreams = bindUpstreams({
    ...base,
    ...given.upstreams,
    stops: AbortSignal.any([base.signal, listeners.stops]),
    notified: (question) => notifications.asked(question),
    listChanged: (change) => events.listChanged(change),
  })
  const reach = bindReach({
    ...base,
    contexts,
    runsModels: () => inference.ready(),
    modelReady: (id) => inference.modelReady(id),
    upstreamReady: (call) => upstreams.assertCallable(call),
    outOfService: () => given.upstreams.table.lacking(),
  })
  const shared = { ...base, contexts, directory, sessions, availability: reach.availability }
  const state = bindState(base)
  const people = bindPeople({ ...base, directory })
  const processes = bindProcesses({ ...shared, host: given.processHost })
  const sharedPolicy = new SharedPolicy(base)
  const callRunsHere = async (agent: string): Promise<boolean> => {
    await directory.reload()
    return base.slots.isBusy(agent)
  }
  const nodes = bindNodes({
    ...shared,
    async callRuns(agent) {
      const elsewhere = await askOthers(given.gates, 'call runs', agent)
      return (await callRunsHere(agent)) || elsewhere.includes(true)
    },
    sharedPolicy,
    listeners,
    processesRunning: processes.running,
    logFinding: () => base.gateWatch.finding(given.audit.integrity()),
    acceptedIn: (log) => given.audit.acceptedIn(log),
    endsWithNode: (node) => approvals.endWithNode(node),
  })
  const proxy = bindProxy({ ...shared, adapters: given.adapters })
  const models = bindModels({
    ...base,
    node: given.modelsNode,
    models: given.models,
    engineHealth: () => inference.engineHealth(),
  })
  const inference = bindInference({
    ...base,
    node: given.modelsNode,
    engine: given.engine,
    installed: models.installed,
  })
  const approvals = bindApprovals({
    ...shared,
    foreseeWrite: (capability) => foreseeWrite(given, capability),
  })
  const gate = bindGate({
    ...shared,
    sharedPolicy,
    people: approvals.people,
    bursts: proxy.bursts,
    notified: (facts) => notifications.called(facts),
  })
  const { tellsChanges, changingLists } = upstreams
  const reading = { ...base, ...gate.useCases, tellsChanges, changingLists }
  const features = bindFeatures(reading)
  const subscriptions = bindSubscriptions({
    ...reading,
    ...approvals.useCases,
    sessions,
    inService: ({ server, capability }) => given.upstreams.table.isInService(server, capability),
    watchUpstream: upstreams.watch,
  })
  const time = bindTime({
    ...shared,
    invoke: gate.useCases.invoke,
    awaySites: () => nodes.awaySites(),
  })
  const events = bindEvents({ ...shared, delivered: time.delivered })
  const supervision = bindSupervision({
    ...shared,
    listeners,
    notifications,
    processesRunning: processes.running,
    partsHealth: async () => ({
      proxy: proxy.health(),
      models: await models.health(),
      nodes: nodes.health(),
      upstreams: upstreams.health(),
    }),
  })
  const knowing = { ...shared, briefingOf: time.briefingOf }
  // Once: every call asks for something of it.
  const offers: ContextOffers = {
    ...reach,
    ...state,
    ...approvals,
    ...time,
    ...proxy,
    ...processes,
    ...inference,
    ...supervision,
    buildSelf: (call) => buildSelf(knowing, call),
  }
  const isFirst = given.gates === null || given.gates.index === 0
  answerGates({ ...base, ...reach.useCases, sessions, processes, callRunsHere })
  // In the order of their start. Before anything runs: what the store calls running is of an earlier life.
  const parts: readonly Part<object>[] = [
    nodes,
    processes,
    approvals,
    state,
    supervision,
    time,
    proxy,
    models,
    inference,
    agents,
    people,
    reach,
    upstreams,
    events,
  ]
  return {
    version: given.version,
    memory: given.memory,
    callsUnderWay: () => base.slots.underWay(),
    listeners,
    installedModels: models.installed,
    callUpstream: upstreams.call,
    nodes,
    ...agents.useCases,
    ...approvals.useCases,
    ...events.useCases,
    ...features.useCases,
    ...subscriptions.useCases,
    ...gate.useCases,
    ...inference.useCases,
    ...models.useCases,
    ...nodes.useCases,
    ...people.useCases,
    ...processes.useCases,
    ...proxy.useCases,
    ...reach.useCases,
    ...state.useCases,
    ...supervision.useCases,
    ...time.useCases,
    ...upstreams.useCases,
    async start() {
      // Before any folder is opened: where agents may write, no link leads to a folder of another.
      await directory.reload()
      // Policy may have changed since it was read here: the first process tells of changes from now on.
      if (!isFirst) await given.policy.reload()
      for (const part of isFirst ? parts : [processes, agents, reach, upstreams, events])
        await part.start()
    },
    async stopped() {
      await Promise.all(parts.map((part) => part.stopped()))
    },
  }
}
