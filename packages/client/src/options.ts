import type { Fetch } from './rpc.ts'

export type GatehouseOptions = {
  /** Address of the gateway. Default: `http://127.0.0.1:7700`. */
  readonly url?: string
  /** The agent's token. Without it and `tokenFile`: the variable `GATEHOUSE_AGENT_TOKEN`. */
  readonly token?: string
  /** File with the token, which nobody else may read. In Node only. */
  readonly tokenFile?: string
  /** `http` asks `/rpc` for each call; `websocket` keeps a connection to `/mcp`. Default: `http`. */
  readonly transport?: 'http' | 'websocket'
  /** Shown to people beside what the agent did. */
  readonly client?: { readonly name: string; readonly version: string }
  /** How often a call that did not run is made again by itself: 2 unless given. */
  readonly maxRetries?: number
  /** In place of the global `fetch`. */
  readonly fetch?: Fetch
}

/** A call that waits for a person. */
export type Pending = {
  readonly approvalId: string
  readonly message: string
  /** When nobody can decide any more; RFC 3339, UTC. Null where it is not told. */
  readonly expiresAt: string | null
}

export type WaitOptions = {
  readonly signal?: AbortSignal
  /** How long to wait for everything, people included. Without it: as long as it takes. */
  readonly timeoutMs?: number
  /** Told when a person changed the arguments before approving: the result is of the changed call. */
  readonly onNote?: (note: string) => void
}

export type CallOptions = WaitOptions & {
  /** Why the call is made. Shown to the person who decides; policy doesn't read it. */
  readonly reason?: string
  /** Told once, when the call waits for a person. */
  readonly onPending?: (pending: Pending) => void
  /** With false, a call that waits for a person raises `ApprovalPending` at once. */
  readonly wait?: boolean
}

/** Something that the agent is told of: a wake, a decision, a changed file, other tools. */
export type GateEvent = {
  readonly id: string
  readonly type: string
  readonly timestamp: string
  readonly data: Readonly<Record<string, unknown>>
}

export type EventOptions = {
  /** The id of the last event seen. Without it: from the oldest that is kept. */
  readonly after?: string
  readonly signal?: AbortSignal
}
