import type { Awaitable } from '../domain/awaitable.ts'
import type { LimitKey, LimitStamp, LimitVerdict } from '../domain/sliding-window.ts'

export type { LimitKey, LimitStamp, LimitVerdict } from '../domain/sliding-window.ts'

/**
 * Exact sliding windows: never more than `limit` uses in any window of that length. Equal keys have
 * equal windows. The engine that one process owns (SQLite) counts in memory and is primed from
 * the stored stamps when it opens; PostgreSQL, which nodes share, counts and stores in the database.
 */
export interface RateLimits {
  /**
   * Must allow iff for every key fewer than `limit` stamps lie in (now − window, now], and then count
   * this use at once under all of them, in one step that no other call or node can split. The caller
   * stores the returned stamps with the call's first audit entry (on PostgreSQL they are stored
   * already, and `record` does not store them again). When several keys refuse, must name
   * the one with the longest wait. `retry_after_ms` must be exact: a use then passes, earlier not.
   * Where `nowMs` is behind a stamp of the key, the use counts at the moment of that stamp.
   */
  take(keys: readonly LimitKey[], nowMs: number): Awaitable<LimitVerdict>

  /** Must count uses of before a restart that are in the log and not stored yet; nothing where uses are stored at once. */
  restore(stamps: readonly LimitStamp[]): void

  /** Must return how many stamps of the key lie in the window now. */
  used(key: LimitKey, nowMs: number): Promise<number>
}
