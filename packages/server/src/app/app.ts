import type { AgentUseCases } from './agents/agents.ts'
import type { ApprovalUseCases } from './approvals/approvals.ts'
import type { MemoryBudget } from './call/memory-budget.ts'
import type { EventUseCases } from './events/events.ts'
import type { GateUseCases } from './gate/gate.ts'
import type { InferenceUseCases } from './inference/inference.ts'
import type { ModelUseCases } from './models/models.ts'
import type { NodeUseCases } from './nodes/nodes.ts'
import type { PeopleUseCases } from './people/people.ts'
import type { ProcessUseCases } from './processes/processes.ts'
import type { ProxyUseCases } from './proxy/proxy.ts'
import type { VaultUseCases } from './reach/vault-access.ts'
import type { StateUseCases } from './state/state.ts'
import type { SupervisionUseCases } from './supervision/supervision.ts'
import type { TimeUseCases } from './time/time.ts'
import type { FeatureUseCases } from './upstreams/features.ts'
import type { SubscriptionUseCases } from './upstreams/subscriptions.ts'
import type { UpstreamUseCases } from './upstreams/upstreams.ts'

/** Every use case, bound to its dependencies: all that a transport may know. */
export interface App
  extends AgentUseCases,
    ApprovalUseCases,
    EventUseCases,
    FeatureUseCases,
    GateUseCases,
    InferenceUseCases,
    ModelUseCases,
    NodeUseCases,
    PeopleUseCases,
    ProcessUseCases,
    ProxyUseCases,
    StateUseCases,
    SubscriptionUseCases,
    SupervisionUseCases,
    TimeUseCases,
    UpstreamUseCases,
    VaultUseCases {
  readonly version: string
  /** Heap that requests, runs and answers may take. */
  readonly memory: MemoryBudget
  /** Calls that execute or stand in line; none that waits for a person or an event. */
  readonly callsUnderWay: () => number
}
