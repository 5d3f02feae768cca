import type {
  AgentName,
  AgentStatus,
  ApprovalMode,
  Mount,
  PolicyLimit,
  Transport,
} from '@gatehouse/contract'

/** An agent as it is stored. Times are ms since 1970. */
export type StoredAgent = {
  readonly name: AgentName
  readonly purpose: string
  readonly status: AgentStatus
  readonly approvals: ApprovalMode
  readonly workspace: string
  /** Id of the folder of workspaces in which it lies; null where any node has it, or none is known to. */
  readonly site: string | null
  readonly mounts: readonly Mount[]
  /** Patterns of the tools that it is limited to; empty = no limit. */
  readonly tools: readonly string[]
  /** Beside those of policy. */
  readonly limits: readonly PolicyLimit[]
  readonly created_ms: number
  readonly last_connected_ms: number | null
  readonly total_invocations: number
  /** SHA-256 of the token, hex. */
  readonly token_hash: string
  /** When that token was made. */
  readonly token_ms: number
  /** The token before the last rotation and until when it still works. */
  readonly previous_token_hash: string | null
  readonly previous_until_ms: number | null
  /** Grows with each change that is made by a person; whoever holds an older one must look again. */
  readonly generation: number
}

export type AgentChanges = { readonly agents: readonly StoredAgent[]; readonly place: number }

export interface AgentStore {
  /** Must be durable when the promise resolves. Must raise `AgentExists` for a name in use, revoked ones too. */
  insert(agent: StoredAgent): Promise<void>

  /** Must return null for an unknown name. Names must be compared byte by byte. */
  find(name: string): Promise<StoredAgent | null>

  /** Must find an agent by the hash of its token or of its previous token, whatever its status. */
  findByTokenHash(hash: string): Promise<StoredAgent | null>

  /** Must return all, by name. */
  list(): Promise<readonly StoredAgent[]>

  /**
   * Must store `next` only if the stored generation is still `current.generation`, in one step, and
   * say whether it did. Must leave the counters (`total_invocations`, `last_connected_ms`) alone.
   */
  replace(current: StoredAgent, next: StoredAgent): Promise<boolean>

  /**
   * Must return every agent that was inserted or replaced after the place, in one query whose cost does not
   * depend on how many others there are, and the place up to which that is told. Place 0 is before everything.
   * Changes made in transactions must never come to stand before a place that was returned.
   */
  changedSince(place: number): Promise<AgentChanges>

  /** Must set the time of the last connection. */
  connected(name: string, ms: number): Promise<void>
}

/** Self-description of a client, and the revision of MCP that was agreed on, where it speaks MCP. */
export type SessionClient = {
  readonly name: string
  readonly version: string
  readonly protocol?: string | undefined
}

export type StoredSession = {
  readonly id: string
  readonly agent: string
  readonly transport: Transport
  readonly client: SessionClient | null
  readonly created_ms: number
  readonly ended_ms: number | null
  readonly invocations: number
}

export interface SessionStore {
  insert(session: StoredSession): Promise<void>

  find(id: string): Promise<StoredSession | null>

  /** Must return the newest sessions of an agent first. */
  listOf(agent: string, limit: number): Promise<readonly StoredSession[]>

  /** Must return the newest session of each agent that had one; its cost must not grow with sessions that are older. */
  newest(): Promise<readonly StoredSession[]>

  /** Must set the client of a session that is open, and say whether it did. */
  setClient(id: string, client: SessionClient): Promise<boolean>

  /** Must set the end only where none is set, and say whether it did. */
  end(id: string, ms: number): Promise<boolean>

  /** Must set when the sessions were last used, where that is later than what is known. */
  used(ids: readonly string[], ms: number): Promise<void>

  /** Must return the session if it is open and was used at that moment or later, as far as is known. */
  findUsed(id: string, sinceMs: number): Promise<StoredSession | null>

  /** Must return open sessions that were last used before the moment. */
  listUnused(sinceMs: number, limit: number): Promise<readonly StoredSession[]>

  /** Must return the ids of those that ended at that moment or later. */
  endedSince(ms: number): Promise<readonly string[]>

  /** Must end every open session (of `agent`, where one is given) and return how many there were. */
  endAll(ms: number, agent?: string): Promise<number>

  countOpen(): Promise<number>
}
