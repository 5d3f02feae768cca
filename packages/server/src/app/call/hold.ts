/** How long the calls of one request may stay open: together, counted from the first that waits. */
export class Hold {
  /** Aborted where none may stay open any longer. */
  readonly stops: AbortSignal | undefined
  readonly #maxMs: number
  #endMs: number | null = null

  /** `maxMs`: how long the caller is known to wait, where that may be less than the calls may take. */
  constructor(stops?: AbortSignal, maxMs = Number.POSITIVE_INFINITY) {
    this.stops = stops
    this.#maxMs = maxMs
  }

  endMs(nowMs: number, holdMs: number): number {
    this.#endMs ??= nowMs + Math.min(holdMs, this.#maxMs)
    return this.#endMs
  }
}
