import type { GatehouseEvent } from '@gatehouse/contract'
import type { NodeEventBus } from '../../ports/events.ts'
import type { EventPlace, SharedEvent } from '../../ports/shared-events.ts'
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
  /** Numbers of what looks find again, by id. */
  readonly #known = new Map<string, number>()
  #waiting: GatehouseEvent[] = []
  /** All that was stored below this number is known. */
  #since = 0
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
      look: () => this.#prune(),
    })
  }

  async start(): Promise<void> {
    const { storage, nodeEvents } = this.#deps
    if (!storage.isNetworked) return
    this.#own = nodeEvents.onOwn((event) => this.#share(event))
    await this.#prune()
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

  async #prune(): Promise<void> {
    const { storage } = this.#deps
    await storage.sharedEvents.prune((await storage.wallMs()) - keptMs)
  }

  async #read(): Promise<void> {
    const { storage, node, nodeEvents } = this.#deps
    // Asked before the look: what is stored between the two may lie before what this look finds.
    const horizon = await storage.sharedEvents.horizon()
    for (const [id, number] of this.#known) if (number < this.#since) this.#known.delete(id)
    let place: EventPlace = { stored_by: this.#since, at_ms: 0, id: '' }
    for (;;) {
      const found = await storage.sharedEvents.listAfter(place, node, pageMax)
      for (const { event, stored_by } of found) {
        if (!this.#known.has(event.id)) nodeEvents.take(event)
        this.#known.set(event.id, stored_by)
      }
      const last = found.at(-1)
      if (!last || found.length < pageMax) break
      place = { ...last, id: last.event.id }
    }
    this.#since = horizon
  }
}
