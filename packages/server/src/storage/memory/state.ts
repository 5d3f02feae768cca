import type { StoredAgent, StoredSession } from '../../ports/agents.ts'
import type { StoredApproval } from '../../ports/approvals.ts'
import type { StoredUserToken } from '../../ports/people.ts'
import { AuditLog } from './audit-log.ts'

/** Everything there is. */
export type State = {
  readonly agents: Map<string, StoredAgent>
  readonly sessions: Map<string, StoredSession>
  readonly approvals: Map<string, StoredApproval>
  readonly userTokens: Map<string, StoredUserToken>
  readonly meta: Map<string, string>
  readonly audit: AuditLog
}

export const emptyState = (): State => ({
  agents: new Map(),
  sessions: new Map(),
  approvals: new Map(),
  userTokens: new Map(),
  meta: new Map(),
  audit: new AuditLog(),
})

/** A copy for one transaction. What is stored is never changed in place, so the maps are enough. */
export const fork = (state: State): State => ({
  agents: new Map(state.agents),
  sessions: new Map(state.sessions),
  approvals: new Map(state.approvals),
  userTokens: new Map(state.userTokens),
  meta: new Map(state.meta),
  audit: state.audit.fork(),
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
