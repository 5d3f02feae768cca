/**
 * A value under a key of an area. Areas: `agent:NAME` (an agent's own), `shared`, `session:ID` (scratch).
 * `value_json` is null once it is deleted: the row stays for a while, so that versions only grow.
 */
export type StoredState = {
  readonly area: string
  readonly key: string
  readonly value_json: string | null
  /** Bytes of the value as JSON; 0 when deleted. */
  readonly size_bytes: number
  readonly version: number
  readonly updated_ms: number
  readonly updated_by: string
  /** On the service clock; from then on it counts as deleted. */
  readonly expires_ms: number | null
}

/** An earlier value. Large ones are not kept, only that they were there. */
export type StatePast = {
  readonly version: number
  readonly value_json: string | null
  readonly deleted: boolean
  readonly updated_ms: number
  readonly updated_by: string
}

export type StateRange = {
  readonly prefix: string
  /** Only keys after this one, in the order of the list. */
  readonly after: string | null
  readonly nowMs: number
  readonly limit: number
}

/** Versioned values by area and key. Keys are compared byte by byte in UTF-8. */
export interface StateStore {
  /** Must return the row, also a deleted or expired one. */
  find(area: string, key: string): Promise<StoredState | null>

  /** Must return what is there at `nowMs`, by key. */
  list(area: string, range: StateRange): Promise<readonly StoredState[]>

  /** Must count what is stored, expired rows that were not removed yet too. Its cost must not grow with the area. */
  usage(area: string): Promise<{ readonly keys: number; readonly size_bytes: number }>

  /**
   * Must store `next` in the place of `current` (null: nothing there) only if that is still what stands
   * there, by version, in one step with the rest of its transaction, and say whether it did; must keep
   * the usage and, with `past`, the newest `statePastMax` values. Keys hold no NUL and no half pairs.
   */
  replace(
    current: StoredState | null,
    next: StoredState,
    options: { readonly past: boolean },
  ): Promise<boolean>

  /** Must return the newest first. */
  history(area: string, key: string, limit: number): Promise<readonly StatePast[]>

  /** Must return rows with a value that expired at or before the moment. */
  listExpired(nowMs: number, limit: number): Promise<readonly StoredState[]>

  /** Must forget everything of the areas whose name begins so, as if nothing had been there. */
  removeAreas(prefix: string): Promise<void>

  /** Must forget at most `limit` keys, with their history, that were deleted before the moment. */
  removeDeleted(beforeMs: number, limit: number): Promise<number>
}

/** How many earlier values of a key are kept, and up to what size. */
export const statePastMax = 20
export const statePastBytesMax = 65_536
