/** A nudge for an agent: somebody on this machine says that there is something to do. Wall clock ms. */
export type StoredWake = {
  readonly id: string
  readonly agent: string
  /** Reason and data of the newest datagram of those that were merged. */
  readonly reason: string | null
  readonly data_json: string | null
  /** How many datagrams it stands for. */
  readonly count: number
  readonly woken_ms: number
  /** When it was recorded and told; null while it still takes in others. */
  readonly told_ms: number | null
  /** When the agent got to see it. */
  readonly seen_ms: number | null
}

export interface WakeStore {
  /** Must store a new one, or replace the one of this id. Durable when the promise resolves. */
  put(wake: StoredWake): Promise<void>

  /** Must return all that was not told, or told and not seen, oldest first. */
  listOpen(limit: number): Promise<readonly StoredWake[]>

  /** Must return an agent's since the moment, oldest first, the newest `limit` of them. */
  listOf(agent: string, sinceMs: number, limit: number): Promise<readonly StoredWake[]>

  /** Must set the time for those not seen yet. */
  seen(ids: readonly string[], ms: number): Promise<void>

  /** Must delete what is older than the moment. */
  prune(beforeMs: number): Promise<void>
}

/** The commands that an operator set for wakes. They run with the rights of the service itself. */
export interface WakeCommands extends AsyncDisposable {
  /**
   * Must start the agent's command, and say what it did. Where it runs already, must start it once more after
   * that has ended, for the newest wake that met it and if `stillWanted`, which never rejects. Must never throw.
   */
  start(
    agent: string,
    wakeId: string,
    stillWanted: () => Promise<boolean>,
  ): 'started' | 'running' | 'none'
}
