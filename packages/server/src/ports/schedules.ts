import type { ScheduleStatus } from '@gatehouse/contract'

/** A call put off, as it is stored. Times are ms since 1970 of the wall clock. */
export type StoredSchedule = {
  readonly id: string
  readonly agent: string
  readonly capability: string
  readonly arguments_json: string
  /** Five cron fields, or null for a call that is made once. */
  readonly cron: string | null
  readonly time_zone: string
  readonly description: string
  readonly status: ScheduleStatus
  /** The time that its waiting job is due; null once it fires no more. */
  readonly next_ms: number | null
  readonly created_ms: number
  readonly ended_ms: number | null
}

export interface ScheduleStore {
  /** Must be durable when the promise resolves (of its transaction, inside one). */
  insert(schedule: StoredSchedule): Promise<void>

  /** Must return null for an unknown id. Ids must be compared byte by byte. */
  find(id: string): Promise<StoredSchedule | null>

  /** Must store status, `next_ms` and `ended_ms` of `next` only if status and `next_ms` still are those of `current`. */
  replace(current: StoredSchedule, next: StoredSchedule): Promise<boolean>

  /** Must list the newest first, with the number of all that match. */
  list(filter: {
    readonly agent?: string
    readonly status?: ScheduleStatus
    readonly limit: number
    readonly offset: number
  }): Promise<{ readonly schedules: readonly StoredSchedule[]; readonly total: number }>

  /** Must return active ones whose time came at or before the moment and of which no job waits or runs, the longest due first. */
  listStalled(nowMs: number, limit: number): Promise<readonly StoredSchedule[]>

  /** Must delete what ended before the moment. */
  prune(endedBeforeMs: number): Promise<void>
}

/** When times come round. */
export interface Calendar {
  /**
   * Must return the first moment after `afterMs` that fits the five cron fields in the zone, or null where
   * none will come. Must raise `InvalidSchedule` for fields or a zone that do not exist.
   */
  next(cron: string, timeZone: string, afterMs: number): number | null
}
