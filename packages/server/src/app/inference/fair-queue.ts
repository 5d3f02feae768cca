import { GatehouseError } from '@gatehouse/contract'

type Limits = { readonly each: number; readonly all: number }
type Turn = { readonly begin: () => void }

/** One at a time, and in turns between those who ask: whoever sends many waits for himself alone. */
export class FairQueue {
  readonly #limits: Limits
  /** In the order of their turns. */
  readonly #lanes = new Map<string, Turn[]>()
  #busy = false
  #waiting = 0

  constructor(limits: Limits) {
    this.#limits = limits
  }

  get active(): number {
    return this.#busy ? 1 : 0
  }

  get waiting(): number {
    return this.#waiting
  }

  /** Raises `EngineBusy` where too many wait, and whatever the signal aborts with. */
  async inTurn<T>(who: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    if (this.#busy) await this.#turn(who, signal)
    this.#busy = true
    try {
      return await work()
    } finally {
      this.#busy = false
      this.#next()
    }
  }

  #turn(who: string, signal: AbortSignal): Promise<void> {
    const lane = this.#lanes.get(who) ?? []
    const { each, all } = this.#limits
    if (lane.length >= each)
      throw new GatehouseError('EngineBusy', {
        waiting: lane.length,
        detail: `at most ${each} of each caller may`,
      })
    if (this.#waiting >= all)
      throw new GatehouseError('EngineBusy', { waiting: all, detail: `at most ${all} in all may` })
    this.#lanes.set(who, lane)
    this.#waiting += 1
    return new Promise((resolve, reject) => {
      const leave = () => {
        signal.removeEventListener('abort', onAbort)
        this.#waiting -= 1
      }
      const turn: Turn = {
        begin: () => {
          leave()
          // Taken here already: nobody may come in between.
          this.#busy = true
          resolve()
        },
      }
      const onAbort = () => {
        leave()
        lane.splice(lane.indexOf(turn), 1)
        if (lane.length === 0) this.#lanes.delete(who)
        reject(signal.reason as Error)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      lane.push(turn)
    })
  }

  #next(): void {
    const [first] = this.#lanes
    if (!first) return
    const [who, lane] = first
    const turn = lane.shift()
    this.#lanes.delete(who)
    // Behind the others, with what is left.
    if (lane.length > 0) this.#lanes.set(who, lane)
    turn?.begin()
  }
}
