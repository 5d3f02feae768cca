/** How long the calls of one request may stay open: together, counted from the first that waits. */
export class Hold {
  /** Aborted where none may stay open any longer. */
  readonly stops: AbortSignal | undefined
  #endMs: number | null = null

  constructor(stops?: AbortSignal) {
    this.stops = stops
  }

  endMs(nowMs: number, holdMs: number): number {
    this.#endMs ??= nowMs + holdMs
    return this.#endMs
  }
}
