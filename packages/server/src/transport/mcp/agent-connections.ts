/** How many connections each agent holds open: WebSockets and event streams together. */
export class AgentConnections {
  readonly #max: number
  readonly #counts = new Map<string, number>()

  constructor(max: number) {
    this.#max = max
  }

  take(agent: string): boolean {
    const count = this.#counts.get(agent) ?? 0
    if (count >= this.#max) return false
    this.#counts.set(agent, count + 1)
    return true
  }

  release(agent: string): void {
    const count = this.#counts.get(agent) ?? 0
    if (count > 1) this.#counts.set(agent, count - 1)
    else this.#counts.delete(agent)
  }
}
