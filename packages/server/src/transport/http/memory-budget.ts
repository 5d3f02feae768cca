import { getHeapStatistics } from 'node:v8'

const mib = 1024 * 1024

/** What the service needs beside requests: its code, its tables, and room to collect garbage. */
const ownBytes = 48 * mib
/** Requests up to this size may use what larger ones leave free. */
const smallBytes = 64 * 1024
const largeShare = 0.75

/** What may be held at once for a heap of this size: in all, and for one agent. */
export const heldBytesFor = (
  heapBytes: number = getHeapStatistics().heap_size_limit,
): { readonly heldBytesMax: number; readonly heldBytesPerAgentMax: number } => {
  const heldBytesMax = Math.max(16 * mib, Math.floor((heapBytes - ownBytes) / 2))
  return { heldBytesMax, heldBytesPerAgentMax: Math.floor(heldBytesMax / 4) }
}

/**
 * An upper bound of the heap that a body takes while it is read, scanned, parsed and called: its bytes,
 * its text in two bytes a character, its strings again, and its values, whose number is limited.
 */
export const costOfBody = (bytes: number): number => bytes * 6 + Math.min(bytes * 18, 20 * mib)

/** What is left of it once it is parsed: the values, and what the audit log makes of them. */
const costOfParsed = (bytes: number): number => bytes * 4

/** A text, and the bytes that are on their way to a peer. */
const costOfAnswer = (bytes: number): number => bytes * 2

/** What one request holds, from before its body is read until its answer has left. */
export class Held {
  readonly #budget: MemoryBudget
  readonly #agent: string
  #bytes: number
  #cost: number
  #released = false

  constructor(budget: MemoryBudget, agent: string, bytes: number, cost: number) {
    this.#budget = budget
    this.#agent = agent
    this.#bytes = bytes
    this.#cost = cost
  }

  /** Takes more for a body whose length was not declared; false where there is no room. */
  grow(bytes: number): boolean {
    const cost = costOfBody(this.#bytes + bytes)
    if (!this.#budget.fits(this.#agent, this.#bytes + bytes, cost - this.#cost)) return false
    this.#bytes += bytes
    this.#change(cost)
    return true
  }

  parsed(): void {
    this.#change(costOfParsed(this.#bytes))
  }

  /** An answer is never refused: what it takes is refused to the requests that come next. */
  answered(bytes: number): void {
    this.#change(costOfAnswer(bytes))
  }

  release(): void {
    this.#change(0)
    this.#released = true
  }

  #change(cost: number): void {
    if (this.#released) return
    this.#budget.charge(this.#agent, cost - this.#cost)
    this.#cost = cost
  }
}

/**
 * What the bodies, frames and answers under way may hold of the heap, in all and for each agent. It is
 * asked before a body is read, so that no number of large requests can end the process.
 *
 * @SECURITY test/memory.test.ts ends the service without it.
 */
export class MemoryBudget {
  readonly #max: number
  readonly #perAgentMax: number
  readonly #agents = new Map<string, number>()
  #used = 0

  constructor(limits: { readonly heldBytesMax: number; readonly heldBytesPerAgentMax: number }) {
    this.#max = limits.heldBytesMax
    this.#perAgentMax = limits.heldBytesPerAgentMax
  }

  get used(): number {
    return this.#used
  }

  /** Null where there is no room now. */
  take(agent: string, bytes: number): Held | null {
    return this.fits(agent, bytes) ? this.hold(agent, bytes) : null
  }

  /** For a body that `fits`. */
  hold(agent: string, bytes: number): Held {
    const cost = costOfBody(bytes)
    this.charge(agent, cost)
    return new Held(this, agent, bytes, cost)
  }

  /** Whether a body of this size may be taken. The first of an agent may, if all others leave room. */
  fits(agent: string, bytes: number, cost: number = costOfBody(bytes)): boolean {
    if (this.#used === 0) return true
    const max = bytes <= smallBytes ? this.#max : this.#max * largeShare
    if (this.#used + cost > max) return false
    const own = this.#agents.get(agent) ?? 0
    return own === 0 || own + cost <= this.#perAgentMax
  }

  charge(agent: string, cost: number): void {
    if (cost === 0) return
    this.#used += cost
    const own = (this.#agents.get(agent) ?? 0) + cost
    if (own === 0) this.#agents.delete(agent)
    else this.#agents.set(agent, own)
  }
}
