import { GatehouseError } from '@gatehouse/contract'
import type { Clock } from '../../ports/clock.ts'

const mib = 1024 * 1024

/** Requests up to this size may use what larger ones leave free. */
const smallBytes = 64 * 1024
const largeShare = 0.75
/** A call that found no room by then is refused, also where a reader who does not read keeps it. */
const lineMs = 30_000

/**
 * An upper bound of the heap that a body takes while it is read, scanned, parsed and called: its bytes,
 * its text in two bytes a character, its strings again, and its values, whose number is limited.
 */
export const costOfBody = (bytes: number): number => bytes * 6 + Math.min(bytes * 18, 20 * mib)

/** Cost of a body once it is parsed: the values, and what the audit log makes of them. */
const costOfParsed = (bytes: number): number => bytes * 4

/** A text, and the bytes that are on their way to a peer; likewise the values that it is made of. */
const costOfAnswer = (bytes: number): number => bytes * 2

export type HeldLimits = {
  /** Bytes that bodies, frames, results and answers may hold at once, by an upper bound. */
  readonly heldBytesMax: number
  readonly heldBytesPerAgentMax: number
}

/** Share of one agent in the budget, and its calls in line. */
type Share = {
  readonly agent: string
  helds: number
  used: number
  /** The part of `used` that only calls in line have: waiting does not give it back. */
  stuck: number
  readonly line: Waiter[]
}

type Waiter = {
  readonly held: Held
  readonly cost: number
  readonly go: (room: CallRoom) => void
  readonly refuse: (cause: unknown) => void
}

/** Until when a call waits in line. */
export type Patience = {
  readonly signal: AbortSignal
  /** Absent where it waits for as long as it takes. */
  readonly clock?: Pick<Clock, 'after'>
}

/** Heap that one call may take: its largest result before it runs, what it made afterwards. */
export class CallRoom implements Disposable {
  readonly #held: Held
  #cost: number
  #ended = false

  constructor(held: Held, cost: number) {
    this.#held = held
    this.#cost = cost
  }

  /** The result is there, and takes about this many bytes; 0 where it will never be. */
  made(bytes: number): void {
    this.#held.becomes(this.#cost, bytes)
    this.#cost = 0
  }

  /**
   * Takes more for a call that waited, and found what it waited for. It is in line like one that has not
   * begun, so that those before it do not wait for it.
   */
  async grow(bytesMax: number, patience: () => Patience): Promise<void> {
    this.#held.pauses()
    try {
      const more = await this.#held.room(bytesMax, patience)
      this.#cost += more.#cost
      more.#ended = true
    } catch (cause) {
      this.#held.resumes()
      throw cause
    }
  }

  /** The call is over; what it made goes on as the answer. */
  [Symbol.dispose](): void {
    if (this.#ended) return
    this.#ended = true
    this.#held.ended(this.#cost)
    this.#cost = 0
  }
}

/** Memory of one request, from before its body is read until its answer has left. */
export class Held {
  readonly #budget: MemoryBudget
  #share: Share
  #bytes: number
  #body: number
  /** Results and the texts that they became. */
  #made = 0
  #texts = 0
  #reserved = 0
  #runs = 0
  #waits = 0
  #released = false
  #left = false

  constructor(budget: MemoryBudget, share: Share, bytes: number, body: number) {
    this.#budget = budget
    this.#share = share
    this.#bytes = bytes
    this.#body = body
  }

  get cost(): number {
    return this.#body + this.#made + this.#texts + this.#reserved
  }

  get answers(): number {
    return this.#made + this.#texts
  }

  /** Whether none of its calls is under way, so that nothing of it comes back by itself. */
  get idle(): boolean {
    return this.#runs === 0
  }

  /** Whether all that it does is wait. */
  get stuck(): boolean {
    return this.#runs === 0 && this.#waits > 0
  }

  /** Takes more for a body whose length was not declared; false where there is no room. */
  grow(bytes: number): boolean {
    const cost = costOfBody(this.#bytes + bytes)
    if (!this.#budget.fits(this.#share.agent, this.#bytes + bytes, cost - this.#body)) return false
    this.#bytes += bytes
    this.#setBody(cost)
    return true
  }

  parsed(): void {
    this.#setBody(costOfParsed(this.#bytes))
  }

  /**
   * Takes room for a call whose result has at most `bytesMax`, at once where there is some. Raises
   * `Overloaded` where none came free, and the signal's reason where the caller went away.
   */
  room(bytesMax: number, patience: () => Patience): CallRoom | Promise<CallRoom> {
    // A request whose peer has gone may still have calls to make.
    if (this.#left) this.#share = this.#budget.enter(this.#share.agent)
    this.#left = false
    return this.#budget.room(this, this.#share, costOfAnswer(bytesMax), patience)
  }

  /** One call after the other: what this one made is a text of that many bytes now. */
  told(bytes: number): void {
    if (this.#released) return
    const delta = costOfAnswer(bytes) - this.#made
    this.#texts += costOfAnswer(bytes)
    this.#made = 0
    this.#charge(delta)
  }

  /** An answer is never refused: what it takes is refused to the requests that come next. */
  answered(bytes: number): void {
    if (this.#released) return
    const delta = costOfAnswer(bytes) - this.#body - this.#made - this.#texts
    this.#body = 0
    this.#made = 0
    this.#texts = costOfAnswer(bytes)
    this.#charge(delta)
  }

  /** Calls whose peer has gone keep their room until they end. */
  release(): void {
    if (this.#released) return
    this.#released = true
    const delta = -this.#body - this.#texts - (this.#runs === 0 ? this.#made : 0)
    this.#body = 0
    this.#texts = 0
    if (this.#runs === 0) this.#made = 0
    this.#charge(delta)
    this.#leave()
  }

  // For the budget and for rooms

  waits(change: 1 | -1): void {
    const was = this.stuck
    this.#waits += change
    this.#restick(was)
    this.#leave()
  }

  starts(cost: number): CallRoom {
    const was = this.stuck
    this.#runs += 1
    this.#restick(was)
    this.#reserved += cost
    this.#charge(cost)
    return new CallRoom(this, cost)
  }

  pauses(): void {
    const was = this.stuck
    this.#runs -= 1
    this.#restick(was)
  }

  resumes(): void {
    const was = this.stuck
    this.#runs += 1
    this.#restick(was)
  }

  becomes(cost: number, bytes: number): void {
    this.#reserved -= cost
    this.#made += bytes
    this.#charge(bytes - cost)
  }

  ended(cost: number): void {
    const was = this.stuck
    this.#runs -= 1
    this.#restick(was)
    this.#reserved -= cost
    const dropped = this.#released && this.#runs === 0 ? this.#made : 0
    this.#made -= dropped
    this.#charge(-cost - dropped)
    if (!was && this.stuck) this.#budget.admitNext()
    this.#leave()
  }

  #setBody(cost: number): void {
    if (this.#released) return
    const delta = cost - this.#body
    this.#body = cost
    this.#charge(delta)
  }

  #charge(delta: number): void {
    if (delta !== 0) this.#budget.charge(this.#share, delta, this.stuck)
  }

  #restick(was: boolean): void {
    if (was !== this.stuck) this.#budget.restick(this.#share, was ? -this.cost : this.cost)
  }

  #leave(): void {
    if (this.#left || !this.#released || this.#runs > 0 || this.#waits > 0) return
    this.#left = true
    this.#budget.leave(this.#share)
  }
}

/**
 * Budget of the heap for bodies, frames, results and answers under way, in all and for each agent.
 * It is asked before a body is read and before a capability runs, so that no number of large requests, or
 * of small ones with large results, can end the process. Agents take turns; of one agent the first in line
 * is the next.
 *
 * @SECURITY test/memory.test.ts ends the service without it.
 */
export class MemoryBudget {
  readonly #max: number
  readonly #perAgentMax: number
  readonly #agents = new Map<string, Share>()
  /** Agents with calls in line, by whose turn it is. */
  readonly #turns = new Set<Share>()
  #used = 0
  #stuck = 0
  #admitting = false

  constructor(limits: HeldLimits) {
    this.#max = limits.heldBytesMax
    this.#perAgentMax = limits.heldBytesPerAgentMax
  }

  get used(): number {
    return this.#used
  }

  get perAgentMax(): number {
    return this.#perAgentMax
  }

  /** Null where there is no room now. */
  take(agent: string, bytes: number): Held | null {
    return this.fits(agent, bytes) ? this.hold(agent, bytes) : null
  }

  /** For a body that `fits`, and for a call that came without one. */
  hold(agent: string, bytes: number): Held {
    const share = this.enter(agent)
    const cost = costOfBody(bytes)
    if (cost > 0) this.charge(share, cost, false)
    return new Held(this, share, bytes, cost)
  }

  /** Whether a body of this size may be taken. The first of an agent may, if all others leave room. */
  fits(agent: string, bytes: number, cost: number = costOfBody(bytes)): boolean {
    if (this.#used === 0) return true
    const max = bytes <= smallBytes ? this.#max : this.#max * largeShare
    if (this.#used + cost > max) return false
    const own = this.#agents.get(agent)?.used ?? 0
    return own === 0 || own + cost <= this.#perAgentMax
  }

  /** See `Held.room`. One call never reserves all that its agent has: requests have to come in, too. */
  room(
    held: Held,
    share: Share,
    wanted: number,
    patience: () => Patience,
  ): CallRoom | Promise<CallRoom> {
    const cost = Math.min(wanted, Math.floor(this.#perAgentMax * largeShare))
    if (this.#turns.size === 0 && this.#place(held, share, cost) === 'free')
      return held.starts(cost)
    return this.#line(held, share, cost, patience())
  }

  charge(share: Share, delta: number, stuck: boolean): void {
    this.#used += delta
    share.used += delta
    if (stuck) this.restick(share, delta)
    if (delta < 0) this.admitNext()
  }

  restick(share: Share, delta: number): void {
    this.#stuck += delta
    share.stuck += delta
  }

  enter(agent: string): Share {
    let share = this.#agents.get(agent)
    if (!share) {
      share = { agent, helds: 0, used: 0, stuck: 0, line: [] }
      this.#agents.set(agent, share)
    }
    share.helds += 1
    return share
  }

  leave(share: Share): void {
    share.helds -= 1
    if (share.helds === 0) this.#agents.delete(share.agent)
  }

  /** Lets go whoever there is room for now. */
  admitNext(): void {
    if (this.#turns.size === 0 || this.#admitting) return
    this.#admitting = true
    let full = false
    // An agent that goes comes again at the end of the set, so that the others have their turn first.
    for (const share of this.#turns) {
      const [next] = share.line
      if (!next) continue
      const place = this.#place(next.held, share, next.cost)
      if (place === 'never') next.refuse(busy())
      else if (place === 'free' && !(full && this.#isLarge(next.cost))) {
        const room = next.held.starts(next.cost)
        this.#unline(share, next)
        next.go(room)
      } else {
        // Large ones do not overtake each other, or the largest would wait for ever.
        full ||= place === 'full' && this.#isLarge(next.cost)
        continue
      }
      if (share.line.length > 0) {
        this.#turns.delete(share)
        this.#turns.add(share)
      }
    }
    this.#admitting = false
  }

  #isLarge(cost: number): boolean {
    return cost > this.#max / 32
  }

  /**
   * `own`: the agent has too much under way. `never`: the answers of the request itself are in the way,
   * which leave only when this call has ended, too.
   */
  #place(held: Held, share: Share, cost: number): 'free' | 'own' | 'full' | 'never' {
    if (held.answers > this.#perAgentMax / 16 && held.answers + cost > this.#perAgentMax)
      return held.idle ? 'never' : 'own'
    // Memory held by those in line comes back only when one of them goes on.
    const own = held.idle && !held.stuck ? held.cost : 0
    if (this.#used - this.#stuck - own <= this.#max / 64) return 'free'
    if (this.#used + cost > (this.#isLarge(cost) ? this.#max * largeShare : this.#max))
      return 'full'
    if (share.used - share.stuck - own <= this.#perAgentMax / 16) return 'free'
    return share.used + cost <= this.#perAgentMax ? 'free' : 'own'
  }

  #line(held: Held, share: Share, cost: number, { signal, clock }: Patience): Promise<CallRoom> {
    if (signal.aborted) return Promise.reject(signal.reason)
    return new Promise((resolve, reject) => {
      let timer: Disposable | undefined
      const over = (): void => {
        timer?.[Symbol.dispose]()
        signal.removeEventListener('abort', cancel)
      }
      const waiter: Waiter = {
        held,
        cost,
        go(room) {
          over()
          resolve(room)
        },
        refuse: (cause) => {
          over()
          this.#unline(share, waiter)
          reject(cause)
          this.admitNext()
        },
      }
      const cancel = (): void => waiter.refuse(signal.reason)
      signal.addEventListener('abort', cancel, { once: true })
      timer = clock?.after(lineMs, () => waiter.refuse(busy()))
      held.waits(1)
      share.line.push(waiter)
      this.#turns.add(share)
      this.admitNext()
    })
  }

  #unline(share: Share, waiter: Waiter): void {
    const at = share.line.indexOf(waiter)
    if (at === -1) return
    share.line.splice(at, 1)
    if (share.line.length === 0) this.#turns.delete(share)
    waiter.held.waits(-1)
  }
}

const busy = (): GatehouseError =>
  new GatehouseError('Overloaded', { detail: 'results of other calls use the memory there is' })
