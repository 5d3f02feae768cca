import type { GatehouseEvent } from '@gatehouse/contract'
import type { Clock } from '../ports/clock.ts'
import type { EventBus } from '../ports/events.ts'
import type { Ids } from '../ports/ids.ts'
import type { Log } from '../ports/log.ts'

const keptPerAgent = 500
const agentsKept = 10_000

/** Events in this process: pushed to listeners at once, the newest 500 of each agent kept for polls. */
export const createEventBus = (deps: { ids: Ids; clock: Clock; log: Log }): EventBus => {
  const listeners = new Set<(event: GatehouseEvent) => void>()
  const kept = new Map<string, GatehouseEvent[]>()

  const keep = (event: GatehouseEvent) => {
    const events = kept.get(event.agent) ?? []
    // Re-inserting keeps the map ordered by last use, so the first key is the one to drop.
    kept.delete(event.agent)
    kept.set(event.agent, events)
    events.push(event)
    if (events.length > keptPerAgent) events.shift()
    if (kept.size > agentsKept) kept.delete(kept.keys().next().value ?? '')
  }

  const after = (agent: string, id: string | undefined): readonly GatehouseEvent[] => {
    const events = kept.get(agent) ?? []
    if (id === undefined) return [...events]
    const at = events.findIndex((event) => event.id === id)
    // An id that is no longer kept: what is kept is newer, so all of it is news.
    return at < 0 ? events.filter((event) => event.id > id) : events.slice(at + 1)
  }

  const bus: EventBus = {
    publish(facts) {
      const event: GatehouseEvent = {
        ...facts,
        id: deps.ids.next('evt'),
        timestamp: new Date(deps.clock.wall()).toISOString(),
      }
      keep(event)
      for (const listener of listeners) {
        try {
          listener(event)
        } catch (cause) {
          deps.log.error({ err: cause, event: event.type }, 'an event listener failed')
        }
      }
    },
    subscribe(listener) {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
    async poll(agent, id, waitMs, signal) {
      const ready = after(agent, id)
      if (ready.length > 0 || waitMs <= 0) return ready
      const done = new AbortController()
      const stop = () => done.abort()
      signal.addEventListener('abort', stop, { once: true })
      using _subscription = bus.subscribe((event) => {
        if (event.agent === agent) stop()
      })
      await deps.clock.sleep(waitMs, done.signal)
      signal.removeEventListener('abort', stop)
      return after(agent, id)
    },
  }
  return bus
}
