/** `done`: it ended, whatever came of it. `dead`: given up. `interrupted`: its run died, and is not repeated. */
export type JobState = 'waiting' | 'running' | 'done' | 'dead' | 'interrupted' | 'cancelled'

/** Work that outlives the process. Times are ms since 1970 of the wall clock, but for the lease. */
export type StoredJob = {
  readonly id: string
  /** Names who performs it. */
  readonly kind: string
  /** Subject of the job, such as the id of a schedule: history is asked for by it. */
  readonly subject: string
  /** Agent that owns the job; empty for the service itself. */
  readonly agent: string
  readonly payload_json: string
  readonly state: JobState
  readonly due_ms: number
  /** Runs begun so far. */
  readonly attempts: number
  readonly attempts_max: number
  /** The node that runs it, while one does. */
  readonly owner: string | null
  /** On the service clock: until when the owner holds it unless it says so again. */
  readonly lease_ms: number | null
  readonly created_ms: number
  readonly started_ms: number | null
  readonly finished_ms: number | null
  /** Outcome of the job, or why its last run failed. */
  readonly outcome_json: string | null
}

export type Claim = {
  readonly kinds: readonly string[]
  readonly owner: string
  /** Jobs due at this moment of the wall clock or before. */
  readonly dueMs: number
  readonly leaseMs: number
  readonly limit: number
  /** Folders of workspaces that other nodes have, and serve. */
  readonly awaySites: readonly string[]
}

export interface JobStore {
  /** Must be durable when the promise resolves (of its transaction, inside one). Must raise `Conflict` for an id in use. */
  insert(job: StoredJob): Promise<void>

  /** Must return null for an unknown id. */
  find(id: string): Promise<StoredJob | null>

  /**
   * Must turn waiting jobs that are due into running ones of this owner, the longest due first, with one
   * more attempt and `started_ms = dueMs`, durably and in one step: of any number of nodes that claim at
   * once, one gets a job, and none waits for another. Must return them as they now stand. Must leave jobs of agents
   * whose workspace lies in one of `awaySites` to the nodes that have it.
   */
  claim(claim: Claim): Promise<readonly StoredJob[]>

  /** Must move the lease of those that this owner still runs. */
  renew(ids: readonly string[], owner: string, leaseMs: number): Promise<void>

  /**
   * Must store `next` only if state, owner and attempts of the row are still those of `current`, in one
   * step that no other connection or node can split, and say whether it did. Must leave id, kind, subject,
   * agent and payload as they are.
   */
  replace(current: StoredJob, next: StoredJob): Promise<boolean>

  /** Must return running ones that `owner` holds, or whose lease ended at or before `nowMs`, oldest first. */
  listLost(lost: {
    readonly owner?: string
    readonly nowMs: number
    readonly limit: number
  }): Promise<readonly StoredJob[]>

  /** Must return when the next waiting job of these kinds is due that `claim` would give, or null. */
  nextDue(wanted: Pick<Claim, 'kinds' | 'awaySites'>): Promise<number | null>

  /** Must return those of a subject by their due time, the latest first, with the number of all. */
  listOf(
    subject: string,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly jobs: readonly StoredJob[]; readonly total: number }>

  /** Must cancel what waits of a subject, and return how many there were. */
  cancelOf(subject: string, ms: number): Promise<number>

  /** Must delete what ended before the moment, and of each subject given all that ended but the newest `keep`. */
  prune(
    endedBeforeMs: number,
    trim?: { readonly subject: string; readonly keep: number },
  ): Promise<void>
}
