const executingMax = 64
const waitingMax = 1_000
const longPollsMax = 64
const heldMax = 64
/** Executing and in line. */
export const callsAtOnceMax = executingMax + waitingMax

type Lane = { executing: number; longPolls: number; held: number; readonly queue: (() => void)[] }

/**
 * How much one agent may have under way: 64 calls, 1,000 more in line, and long polls and calls
 * that stay open for a person apart, so that an agent that waits for people does not stand in its own way. One agent never uses another's places.
 */
export class AgentSlots {
  readonly #lanes = new Map<string, Lane>()

  /** Calls of all agents that execute or stand in line. */
  underWay(): number {
    let count = 0
    for (const { executing, queue } of this.#lanes.values()) count += executing + queue.length
    return count
  }

  /** Takes a place, at once where there is one. Null when the line is full. */
  take(agent: string, waits: boolean): null | undefined | Promise<void> {
    const lane = this.#laneOf(agent)
    if (waits) {
      if (lane.longPolls >= longPollsMax) return null
      lane.longPolls += 1
      return undefined
    }
    if (lane.executing < executingMax) {
      lane.executing += 1
      return undefined
    }
    if (lane.queue.length >= waitingMax) return null
    const { queue } = lane
    return new Promise((resolve) => queue.push(resolve))
  }

  give(agent: string, waits: boolean): void {
    const lane = this.#lanes.get(agent)
    if (!lane) return
    if (waits) lane.longPolls -= 1
    else {
      const next = lane.queue.shift()
      // The place passes on to whoever waited longest, so the count stays.
      if (next) next()
      else lane.executing -= 1
    }
    this.#tidy(agent, lane)
  }

  /** Whether a call of the agent executes. */
  isBusy(agent: string): boolean {
    return (this.#lanes.get(agent)?.executing ?? 0) > 0
  }

  /** Takes a place for a call that waits for a person; false where there is none. */
  hold(agent: string): boolean {
    const lane = this.#laneOf(agent)
    if (lane.held >= heldMax) return false
    lane.held += 1
    return true
  }

  release(agent: string): void {
    const lane = this.#laneOf(agent)
    lane.held -= 1
    this.#tidy(agent, lane)
  }

  #laneOf(agent: string): Lane {
    let lane = this.#lanes.get(agent)
    if (!lane) {
      lane = { executing: 0, longPolls: 0, held: 0, queue: [] }
      this.#lanes.set(agent, lane)
    }
    return lane
  }

  #tidy(agent: string, { executing, longPolls, held }: Lane): void {
    if (executing === 0 && longPolls === 0 && held === 0) this.#lanes.delete(agent)
  }
}
