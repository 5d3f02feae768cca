import type { GatehouseEvent } from '@gatehouse/contract'
import type { Clock } from '../ports/clock.ts'
import type { NodeEventBus } from '../ports/events.ts'
import type { Gates } from '../ports/gates.ts'
import type { Ids } from '../ports/ids.ts'
import type { Log } from '../ports/log.ts'
import { KeptEvents } from './kept-events.ts'

/** Events of this node: pushed to listeners at once, the newest of each agent kept for polls. */
export const createEventBus = (deps: {
  ids: Ids
  clock: Clock
  log: Log
  /** Other processes where events are listened to; null where there are none. */
  gates: Gates | null
}): NodeEventBus => {
  const listeners = new Set<(event: GatehouseEvent) => void>()
  const kept = new KeptEvents()
  const deliver = (event: GatehouseEvent): void => {
    kept.add(event)
    for (const listener of listeners) {
      try {
        listener(event)
      } catch (cause) {
        deps.log.error({ err: cause, event: event.type }, 'an event listener failed')
      }
    }
  }
  const told = new Set<(event: GatehouseEvent) => void>()
  const tellNodes = (event: GatehouseEvent) => {
    for (const tell of told) tell(event)
  }
  deps.gates?.onNews('event', ({ event }) => {
    deliver(event)
    tellNodes(event)
  })

  const bus: NodeEventBus = {
    publish(facts) {
      const event: GatehouseEvent = {
        ...facts,
        id: deps.ids.next('evt'),
        timestamp: new Date(deps.clock.wall()).toISOString(),
      }
      deliver(event)
      deps.gates?.tell({ kind: 'event', event })
      tellNodes(event)
    },
    take(event) {
      deliver(event)
      deps.gates?.tell({ kind: 'event', event })
    },
    onOwn(tell) {
      told.add(tell)
      return { [Symbol.dispose]: () => void told.delete(tell) }
    },
    subscribe(listener) {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
    async poll(agent, id, waitMs, signal) {
      const ready = kept.after(agent, id)
      if (ready.length > 0 || waitMs <= 0) return ready
      const done = new AbortController()
      const stop = () => done.abort()
      signal.addEventListener('abort', stop, { once: true })
      using _subscription = bus.subscribe((event) => {
        if (event.agent === agent) stop()
      })
      await deps.clock.sleep(waitMs, done.signal)
      signal.removeEventListener('abort', stop)
      return kept.after(agent, id)
    },
  }
  return bus
}
