import type { StoredAgent, StoredSession } from '../../ports/agents.ts'
import type { StoredAlert } from '../../ports/alerts.ts'
import type { StoredApproval } from '../../ports/approvals.ts'
import type { StoredGrant } from '../../ports/grants.ts'
import type { StoredJob } from '../../ports/jobs.ts'
import type { StoredMessage, StoredSubscription } from '../../ports/messages.ts'
import type { StoredModel } from '../../ports/models.ts'
import type { StoredOperator, StoredUserToken, StoredWebSession } from '../../ports/people.ts'
import type { StoredProcess } from '../../ports/process-store.ts'
import type { FoundEntry } from '../../ports/replica.ts'
import type { StoredSchedule } from '../../ports/schedules.ts'
import type { StoredSecret } from '../../ports/secret-store.ts'
import type { StoredService } from '../../ports/services.ts'
import type { StatePast, StoredState } from '../../ports/state.ts'
import type { StoredWake } from '../../ports/wakes.ts'
import type { StoredRollback, StoredWrite, StoredWriteFile } from '../../ports/writes.ts'
import type { SearchColumn } from '../words.ts'

export type ReplicaRow = {
  readonly entry: FoundEntry
  readonly words: { readonly [column in SearchColumn]: readonly string[] }
  readonly run: number
}

export type LeasedService = StoredService & {
  readonly lease_owner: string | null
  readonly lease_ms: number | null
}

/** One key of an area, with what it was before, newest first. */
export type Value = { readonly state: StoredState; readonly past: readonly StatePast[] }

/** Everything there is. */
export type State = {
  readonly agents: Map<string, StoredAgent>
  /** By agent, the number of its last change. */
  readonly agentChanges: Map<string, number>
  readonly sessions: Map<string, StoredSession>
  readonly approvals: Map<string, StoredApproval>
  readonly grants: Map<string, StoredGrant>
  readonly userTokens: Map<string, StoredUserToken>
  readonly operators: Map<string, StoredOperator>
  readonly webSessions: Map<string, StoredWebSession>
  readonly meta: Map<string, string>
  readonly clock: { ms: number }
  readonly values: Map<string, Value>
  readonly alerts: Map<string, StoredAlert>
  readonly jobs: Map<string, StoredJob>
  readonly processes: Map<string, StoredProcess>
  readonly schedules: Map<string, StoredSchedule>
  readonly messages: Map<string, StoredMessage>
  /** By agent: the ids of the messages that wait for it. */
  readonly mailboxes: Map<string, ReadonlySet<string>>
  readonly subscriptions: Map<string, StoredSubscription>
  readonly wakes: Map<string, StoredWake>
  readonly models: Map<string, StoredModel>
  readonly services: Map<string, LeasedService>
  readonly writes: Map<string, StoredWrite>
  readonly writeFiles: Map<string, readonly StoredWriteFile[]>
  readonly captures: Map<string, string>
  readonly rollbacks: Map<string, StoredRollback>
  /** By service, then by collection and id. */
  readonly replica: Map<string, ReadonlyMap<string, ReplicaRow>>
  readonly secrets: Map<string, StoredSecret>
  /** By chain, the first entry whose invocations are not counted. */
  readonly counted: Map<string, number>
}

export const emptyState = (): State => ({
  agents: new Map(),
  agentChanges: new Map(),
  sessions: new Map(),
  approvals: new Map(),
  grants: new Map(),
  userTokens: new Map(),
  operators: new Map(),
  webSessions: new Map(),
  meta: new Map(),
  clock: { ms: 0 },
  values: new Map(),
  alerts: new Map(),
  jobs: new Map(),
  processes: new Map(),
  schedules: new Map(),
  messages: new Map(),
  mailboxes: new Map(),
  subscriptions: new Map(),
  wakes: new Map(),
  models: new Map(),
  services: new Map(),
  writes: new Map(),
  writeFiles: new Map(),
  captures: new Map(),
  rollbacks: new Map(),
  replica: new Map(),
  secrets: new Map(),
  counted: new Map(),
})

/** A copy for one transaction. What is stored is never changed in place, so the maps are enough. */
export const fork = (state: State): State => ({
  agents: new Map(state.agents),
  agentChanges: new Map(state.agentChanges),
  sessions: new Map(state.sessions),
  approvals: new Map(state.approvals),
  grants: new Map(state.grants),
  userTokens: new Map(state.userTokens),
  operators: new Map(state.operators),
  webSessions: new Map(state.webSessions),
  meta: new Map(state.meta),
  clock: { ...state.clock },
  counted: new Map(state.counted),
  values: new Map(state.values),
  alerts: new Map(state.alerts),
  jobs: new Map(state.jobs),
  processes: new Map(state.processes),
  schedules: new Map(state.schedules),
  messages: new Map(state.messages),
  mailboxes: new Map(state.mailboxes),
  subscriptions: new Map(state.subscriptions),
  wakes: new Map(state.wakes),
  models: new Map(state.models),
  services: new Map(state.services),
  writes: new Map(state.writes),
  writeFiles: new Map(state.writeFiles),
  captures: new Map(state.captures),
  rollbacks: new Map(state.rollbacks),
  replica: new Map(state.replica),
  secrets: new Map(state.secrets),
})

/** How a store reaches the state: reads as it stands, writes in turn with all other writers. */
export type Access = {
  readonly state: () => State
  write<T>(work: (state: State) => T): Promise<T>
}

/** Text by its bytes in UTF-8, as the databases sort it: UTF-16 order differs above U+D7FF. */
export const compareText = (a: string, b: string): number => {
  if (a === b) return 0
  const [left, right] = [Array.from(a), Array.from(b)]
  const differs = left.findIndex((char, i) => char !== right[i])
  if (differs === -1) return -1
  return (left[differs]?.codePointAt(0) ?? -1) - (right[differs]?.codePointAt(0) ?? -1)
}
