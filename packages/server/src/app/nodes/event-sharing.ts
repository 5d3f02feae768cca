import type { GatehouseEvent } from '@gatehouse/contract'
import type { NodeEventBus } from '../../ports/events.ts'
import type { SharedEvent } from '../../ports/shared-events.ts'
import type { Basics } from '../call/basics.ts'
import { PollLoop } from '../call/poll-loop.ts'

export type EventSharingDeps = Pick<Basics, 'storage' | 'clock' | 'log'> & {
  readonly node: string
  readonly nodeEvents: Pick<NodeEventBus, 'take' | 'onOwn'>
  readonly signal: AbortSignal
}

/** Events that are published within so long are stored by one statement. */
const gatherMs = 25
/** Events that wait for a store which does not answer; the oldest go first. */
const waitingMax = 5_000
const lookEveryMs = 2_000
/** Looks go back so long before the newest event that is known: a commit of another node may come late. */
const overlapMs = 5_000
const pageMax = 5_000
/** A client that comes from another node finds what it missed, back to this long. */
const keptMs = 600_000
const pruneEveryMs = 60_000

/**
 * Tells agents of events on whichever node they are connected. Lists of what an agent may use are left out: each node
 * compares them by itself.
 */
export class EventSharing {
  readonly #deps: EventSharingDeps
  readonly #reading: PollLoop
  readonly #pruning: PollLoop
  /** By id, when it was stored. */
  readonly #known = new Map<string, number>()
  #waiting: GatehouseEvent[] = []
  #sinceMs = 0
  #storing: Promise<void> | null = null
  #own: Disposable | null = null

  constructor(deps: EventSharingDeps) {
    this.#deps = deps
    this.#reading = new PollLoop(deps, {
      name: 'looking for events of other nodes',
      everyMs: lookEveryMs,
      follows: ['events'],
      look: () => this.#read(),
    })
    this.#pruning = new PollLoop(deps, {
      name: 'removing old events',
      everyMs: pruneEveryMs,
      look: async () => deps.storage.sharedEvents.prune((await deps.storage.wallMs()) - keptMs),
    })
  }

  async start(): Promise<void> {
    const { storage, nodeEvents } = this.#deps
    if (!storage.isNetworked) return
    this.#own = nodeEvents.onOwn((event) => this.#share(event))
    this.#sinceMs = (await storage.wallMs()) - keptMs
    this.#reading.start()
    this.#pruning.start('later')
  }

  async stopped(): Promise<void> {
    this.#own?.[Symbol.dispose]()
    await Promise.all([this.#reading.stopped(), this.#pruning.stopped(), this.#storing])
  }

  #share(event: GatehouseEvent): void {
    if (Object.keys(event.data).length === 0) return
    this.#waiting.push(event)
    if (this.#waiting.length > waitingMax) this.#waiting.shift()
    this.#storing ??= this.#store()
  }

  async #store(): Promise<void> {
    const { storage, clock, node, log, signal } = this.#deps
    while (this.#waiting.length > 0) {
      await clock.sleep(gatherMs, signal)
      const events = this.#waiting
      this.#waiting = []
      try {
        const at_ms = await storage.wallMs()
        await storage.sharedEvents.add(events.map((event): SharedEvent => ({ event, node, at_ms })))
      } catch (cause) {
        log.warn({ err: cause, events: events.length }, 'events could not be told to other nodes')
        if (signal.aborted) break
        this.#waiting = [...events, ...this.#waiting].slice(-waitingMax)
        await clock.sleep(lookEveryMs, signal)
      }
    }
    // In the turn of the last look: an event that comes after it begins anew.
    this.#storing = null
  }

  async #read(): Promise<void> {
    const fromMs = this.#sinceMs
    for (const [id, atMs] of this.#known) if (atMs < fromMs) this.#known.delete(id)
    let [from, limit] = [fromMs, pageMax]
    for (;;) {
      const found = await this.#readPage(from, limit)
      const last = found.at(-1)
      if (!last || found.length < limit) return
      // More of one moment than a page has: they are stored by the thousand.
      if (last.at_ms === from) limit *= 2
      else [from, limit] = [last.at_ms, pageMax]
    }
  }

  async #readPage(fromMs: number, limit: number): Promise<readonly SharedEvent[]> {
    const { storage, node, nodeEvents } = this.#deps
    const found = await storage.sharedEvents.listSince(fromMs, node, limit)
    for (const { event, at_ms } of found) {
      if (!this.#known.has(event.id)) nodeEvents.take(event)
      this.#known.set(event.id, at_ms)
      this.#sinceMs = Math.max(this.#sinceMs, at_ms - overlapMs)
    }
    return found
  }
}
