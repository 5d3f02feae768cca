/** A process that serves the store, as it last said of itself. Times are ms since 1970 of the store's wall clock. */
export type StoredNode = {
  /** Names its chain of the audit log. */
  readonly name: string
  /** Machine and data directory: of two processes that call themselves by one name, one is a copy. */
  readonly place: string
  readonly version: string
  /** Where agents reach it; null while it does not listen. */
  readonly address: string | null
  /** `draining`: it takes nothing new, because a person asked for it. `stopped`: it ended as it should. */
  readonly state: 'active' | 'draining' | 'stopped'
  readonly started_ms: number
  readonly seen_ms: number
  /** Facts about what the node runs, for people. */
  readonly facts_json: string
}

export interface NodeStore {
  /** Must return every node that was not forgotten, by name. */
  list(): Promise<readonly StoredNode[]>

  find(name: string): Promise<StoredNode | null>

  /** Must insert the node, or replace the one of its name. */
  put(node: StoredNode): Promise<void>

  /** Must store when the node was seen and what it runs, and return its state; null for one that is not there. */
  beat(
    name: string,
    seen: Pick<StoredNode, 'seen_ms' | 'facts_json'>,
  ): Promise<StoredNode['state'] | null>

  /** Must say whether there was such a node; with `from`, whether there was one in that state, and change no other. */
  setState(name: string, state: StoredNode['state'], from?: StoredNode['state']): Promise<boolean>

  /** Must say whether there was such a node; with `seenMs`, whether it was last seen then, and remove no other. */
  remove(name: string, seenMs?: number): Promise<boolean>
}
