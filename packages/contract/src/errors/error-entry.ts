/** Next step for an agent or a person: `action` is a capability, a command or a short verb phrase. */
export type Recovery = { readonly action: string; readonly description: string }

export type ErrorEntry = {
  /** Status over REST. */
  readonly http: number
  /** JSON-RPC code; `null` = a failure of the capability (a result), not of the protocol. */
  readonly rpc: number | null
  /** Whether the same request may succeed later without a change. */
  readonly retry: boolean
  /** Sentence shown to agents and people. `{name}` is replaced by the fact of that name. */
  readonly say: string
  readonly recovery: readonly Recovery[]
  /** The same for a person, where an agent's next step is one of its own capabilities. */
  readonly people: readonly Recovery[]
}

export const entry = (
  http: number,
  rpc: number | null,
  retry: boolean,
  say: string,
  recovery: readonly Recovery[] = [],
  people: readonly Recovery[] = recovery,
): ErrorEntry => ({ http, rpc, retry, say, recovery, people })
