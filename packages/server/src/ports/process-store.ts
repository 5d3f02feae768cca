import type { ProcessState } from '@gatehouse/contract'

/** A background process as it is stored. Times are ms since 1970 of the wall clock. */
export type StoredProcess = {
  readonly id: string
  readonly agent: string
  /** Node that runs the process. */
  readonly node: string
  readonly command: string
  readonly args_json: string
  readonly working_directory: string
  readonly network_json: string
  readonly sandbox: string
  readonly state: ProcessState
  readonly exit_code: number | null
  readonly signal: string | null
  readonly detail: string | null
  readonly stdout_bytes: number
  readonly stderr_bytes: number
  readonly cpu_ms: number | null
  readonly memory_bytes_max: number | null
  readonly started_ms: number
  readonly ended_ms: number | null
}

export interface ProcessStore {
  /** Must be durable when the promise resolves (of its transaction, inside one). Raises `Conflict` for an id in use. */
  insert(process: StoredProcess): Promise<void>

  /** Must return null for an unknown id. Ids must be compared byte by byte. */
  find(id: string): Promise<StoredProcess | null>

  /**
   * Must store all but who started what and when, only if the stored one still is `running`; must say
   * whether it did.
   */
  update(process: StoredProcess): Promise<boolean>

  /** Must list the newest first, with the number of all that match. */
  list(filter: {
    readonly agent?: string
    readonly state?: ProcessState
    readonly node?: string
    readonly limit: number
    readonly offset: number
  }): Promise<{ readonly processes: readonly StoredProcess[]; readonly total: number }>

  /** Must forget it unless it is running, and say whether it did. */
  remove(id: string): Promise<boolean>

  /** Must return at most `limit` of this node that ended before the moment, the oldest first. */
  listEnded(node: string, beforeMs: number, limit: number): Promise<readonly StoredProcess[]>
}
