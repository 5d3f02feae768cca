/** How long the calls of one request may stay open: together, counted from the first that waits. */
export class Hold {
  #endMs: number | null = null

  endMs(nowMs: number, holdMs: number): number {
    this.#endMs ??= nowMs + holdMs
    return this.#endMs
  }
}
