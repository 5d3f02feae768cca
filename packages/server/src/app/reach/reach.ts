import type { AgentSecrets, Watches } from '../../ports/capability.ts'
import type { Reach as FileReach, Files } from '../../ports/files.ts'
import type { Gates } from '../../ports/gates.ts'
import type { GitFactory } from '../../ports/git.ts'
import type { AgentNetwork } from '../../ports/network.ts'
import type { Outbound } from '../../ports/outbound.ts'
import type { PolicySource } from '../../ports/policy.ts'
import type { Sandbox } from '../../ports/sandbox.ts'
import type { Secrets } from '../../ports/secrets.ts'
import type { Vault } from '../../ports/vault.ts'
import type { EndsWithAgent } from '../agents/change-agent.ts'
import type { Basics } from '../call/basics.ts'
import type { Call } from '../call/call.ts'
import type { ContextFactory } from '../call/capability-context.ts'
import type { Part } from '../call/part.ts'
import { PollLoop } from '../call/poll-loop.ts'
import { networkOf } from './agent-network.ts'
import { secretsOf } from './agent-secrets.ts'
import { Availability } from './availability.ts'
import { buildLastingReach, buildReach } from './call-reach.ts'
import { assertRunnable, type RunnableDeps } from './runnable.ts'
import { bindVault, type VaultUseCases } from './vault-access.ts'
import { WatchTable } from './watches.ts'

export type ReachDeps = Basics &
  Pick<RunnableDeps, 'modelReady' | 'upstreamReady'> & {
    readonly policy: PolicySource
    readonly secrets: Secrets
    readonly vault: Vault
    readonly outbound: Outbound
    readonly sandbox: Sandbox
    readonly git: GitFactory
    readonly contexts: ContextFactory
    /** Whether an engine and a model are installed on this machine. */
    readonly runsModels: () => Promise<boolean>
    /** Tools of upstream servers that wait for a person. */
    readonly outOfService: () => readonly string[]
    readonly gates: Gates | null
    readonly signal: AbortSignal
  }

export type Reach = Part<VaultUseCases> & {
  readonly availability: Availability
  assertRunnable(call: Call): Promise<void>
  readonly endWithAgent: EndsWithAgent
  /** Policy for the places that a call reaches; null where it says the same of all. */
  buildReach(call: Call): FileReach | null
  /** For what outlives the call: policy may come to depend on paths later. */
  buildLastingReach(call: Call): FileReach
  secretsOf(call: Call): AgentSecrets
  networkOf(call: Call, signal: AbortSignal): AgentNetwork
  watchesOf(call: Call): Watches
}

const vaultEveryMs = 60_000

/** How far a call reaches: into files, the network, and the vault. */
export function bindReach(deps: ReachDeps): Reach {
  const watches = new WatchTable(deps)
  const filesOf = (call: Pick<Call, 'agent'>): Files => deps.contexts.filesOf(call)
  const reaching = { ...deps, filesOf }
  const network = { ...deps, secretsOf: (call: Call) => secretsOf(deps, call) }
  const looking = new PollLoop(deps, {
    name: 'looking after the vault',
    everyMs: vaultEveryMs,
    look: () => deps.vault.look(),
  })
  return {
    useCases: bindVault(deps),
    availability: new Availability(deps),
    assertRunnable: (call) => assertRunnable(deps, call),
    endWithAgent: async (_op, _tx, agent) => () => watches.endAll(agent),
    buildReach: (call) => buildReach(reaching, call),
    buildLastingReach: (call) => buildLastingReach(reaching, call),
    secretsOf: (call) => secretsOf(deps, call),
    networkOf: (call, signal) => networkOf(network, call, signal),
    watchesOf: (call) => watches.of(call),
    start: async () => looking.start('later'),
    async stopped() {
      watches[Symbol.dispose]()
      await looking.stopped()
    },
  }
}
