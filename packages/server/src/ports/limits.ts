/** One use of one limit. `key` names agent, pattern and window. */
export type LimitStamp = { readonly key: string; readonly at_ms: number }

/** A limit that applies to a call. */
export type LimitKey = { readonly key: string; readonly limit: number; readonly window_ms: number }

export type LimitVerdict =
  | { readonly kind: 'allowed'; readonly stamps: readonly LimitStamp[] }
  | { readonly kind: 'limited'; readonly key: LimitKey; readonly retry_after_ms: number }

/**
 * Exact sliding windows: never more than `limit` uses in any window of that length.
 */
export interface RateLimits {
  /**
   * Must allow iff for every key fewer than `limit` stamps lie in (now − window, now], and then count
   * this use at once under all of them, in one step that no other call or node can split. The caller
   * stores the returned stamps with the call's first audit entry. When several keys refuse, must name
   * the one with the longest wait. `retry_after_ms` must be exact: a use then passes, earlier not.
   */
  take(keys: readonly LimitKey[], nowMs: number): Promise<LimitVerdict>

  /** Must return how many stamps of the key lie in the window now. */
  used(key: LimitKey, nowMs: number): Promise<number>
}
