import { SlidingWindows } from '../../domain/sliding-window.ts'
import type { AuditCopies, CommitGroup } from '../../ports/audit-rows.ts'
import type { Storage } from '../../ports/storage.ts'
import { FifoMutex } from '../mutex.ts'
import { windowLimits } from '../window-limits.ts'
import { memoryAgents, memorySessions } from './agents.ts'
import { memoryAlerts } from './alerts.ts'
import { memoryApprovals } from './approvals.ts'
import { memoryGrants } from './grants.ts'
import { memoryJobs } from './jobs.ts'
import { memoryMessages, memorySubscriptions } from './messages.ts'
import { memoryModels } from './models.ts'
import { memoryOperators, memoryWebSessions } from './operators.ts'
import { memoryProcesses } from './processes.ts'
import { memoryReplica } from './replica.ts'
import { memoryRollbacks } from './rollbacks.ts'
import { memorySchedules } from './schedules.ts'
import { memorySecrets } from './secrets.ts'
import { memoryServices } from './services.ts'
import { type Access, emptyState, fork, type State } from './state.ts'
import { memoryClock, memoryMeta, memoryUserTokens } from './user-tokens.ts'
import { memoryValues } from './values.ts'
import { memoryWakes } from './wakes.ts'
import { memoryWrites } from './writes.ts'

const stores = (access: Access) => ({
  agents: memoryAgents(access),
  sessions: memorySessions(access),
  approvals: memoryApprovals(access),
  grants: memoryGrants(access),
  userTokens: memoryUserTokens(access),
  operators: memoryOperators(access),
  webSessions: memoryWebSessions(access),
  meta: memoryMeta(access),
  clock: memoryClock(access),
  state: memoryValues(access),
  alerts: memoryAlerts(access),
  jobs: memoryJobs(access),
  processes: memoryProcesses(access),
  schedules: memorySchedules(access),
  messages: memoryMessages(access),
  subscriptions: memorySubscriptions(access),
  wakes: memoryWakes(access),
  models: memoryModels(access),
  services: memoryServices(access),
  writes: memoryWrites(access),
  rollbacks: memoryRollbacks(access),
  replica: memoryReplica(access),
  secrets: memorySecrets(access),
})

const commit = (state: State, group: CommitGroup): void => {
  const [first, last] = [group.rows[0], group.rows.at(-1)]
  if (first && last) {
    if (first.seq < (state.counted.get(group.chain) ?? 0)) return
    state.counted.set(group.chain, last.seq + 1)
  }
  for (const [name, calls] of group.agentCounts) {
    const agent = state.agents.get(name)
    if (agent)
      state.agents.set(name, { ...agent, total_invocations: agent.total_invocations + calls })
  }
  for (const [id, calls] of group.sessionCounts) {
    const session = state.sessions.get(id)
    if (session) state.sessions.set(id, { ...session, invocations: session.invocations + calls })
  }
  state.clock.ms = group.clockMs
}

/** Nothing is shared with other nodes. */
const noCopies: AuditCopies = {
  read: async () => [],
  ends: async () => [],
  drop: async () => {},
  takeForeign: async () => false,
}

/** Everything in this process and gone with it: for tests and for looking around. */
export const openMemory = async (): Promise<Storage> => {
  let state = emptyState()
  const mutex = new FifoMutex()
  const access: Access = {
    state: () => state,
    write: (work) => mutex.run(() => work(state)),
  }
  return {
    ...stores(access),
    engine: 'memory',
    isShared: false,
    id: 'memory',
    limits: windowLimits(new SlidingWindows()),

    transaction: (work) =>
      mutex.run(async () => {
        const own = fork(state)
        const inside: Access = { state: () => own, write: async (change) => change(own) }
        const result = await work(stores(inside))
        state = own
        return result
      }),

    record: (group) => {
      if (mutex.isHeld) return mutex.run(() => commit(state, group))
      commit(state, group)
      return null
    },
    recorded: async (chain) => state.counted.get(chain) ?? 0,
    flush: async () => {},
    copies: noCopies,

    async [Symbol.asyncDispose]() {},
  }
}
