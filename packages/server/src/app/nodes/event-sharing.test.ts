import type { GatehouseEvent } from '@gatehouse/contract'
import { afterTurns } from '@gatehouse/testkit/after-turns'
import { expect, test } from 'vitest'
import { createClock } from '../../platform/clock.ts'
import { createEventBus } from '../../platform/event-bus.ts'
import { createIds } from '../../platform/ids.ts'
import type { EventPlace, SharedEvent, SharedEventStore } from '../../ports/shared-events.ts'
import type { Storage } from '../../ports/storage.ts'
import { EventSharing } from './event-sharing.ts'

type Row = SharedEvent & { readonly stored_by: number }

const placeOf = ({ stored_by, at_ms, event }: Row): EventPlace => ({
  ...{ stored_by, at_ms },
  id: event.id,
})

const compare = (a: EventPlace, b: EventPlace): number =>
  a.stored_by - b.stored_by || a.at_ms - b.at_ms || Number(a.id > b.id) - Number(a.id < b.id)

/** A store that several nodes have in common. */
class CommonStore {
  readonly rows: Row[] = []
  nowMs = 1_000_000
  /** Number of the next transaction. */
  next = 1
  /** Number of one that stays open. */
  open = Number.POSITIVE_INFINITY
  /** What each `add` raises first, one after the other. */
  readonly failures: Error[] = []
  readonly pages: number[] = []
  readonly #heard = new Set<() => void>()

  readonly sharedEvents: SharedEventStore = {
    add: async (events) => {
      const failure = this.failures.shift()
      if (failure) throw failure
      const stored_by = this.next++
      for (const one of events)
        if (!this.rows.some(({ event }) => event.id === one.event.id))
          this.rows.push({ ...one, stored_by })
      for (const tell of this.#heard) tell()
    },
    horizon: async () => Math.min(this.next, this.open),
    listAfter: async (place, exceptOf, limit) => {
      const found = this.rows
        .filter((row) => row.node !== exceptOf && compare(placeOf(row), place) > 0)
        .toSorted((a, b) => compare(placeOf(a), placeOf(b)))
        .slice(0, limit)
      this.pages.push(found.length)
      return found
    },
    prune: async (beforeMs) => {
      this.rows.splice(0, this.rows.length, ...this.rows.filter(({ at_ms }) => at_ms >= beforeMs))
    },
  }

  asStorage(): Storage {
    return {
      isNetworked: true,
      sharedEvents: this.sharedEvents,
      wallMs: async () => this.nowMs,
      onForeignChange: (_kind: unknown, listener: () => void) => {
        this.#heard.add(listener)
        return { [Symbol.dispose]: () => void this.#heard.delete(listener) }
      },
    } as unknown as Storage
  }
}

const openNode = async (store: CommonStore, node: string) => {
  const ending = new AbortController()
  const clock = createClock(0)
  const warned: unknown[] = []
  const log = { warn: (facts: unknown) => warned.push(facts), error: () => {} } as never
  const bus = createEventBus({ ids: createIds(), clock, log, gates: null })
  const heard: GatehouseEvent[] = []
  bus.subscribe((event) => heard.push(event))
  const storage = store.asStorage()
  const sharing = new EventSharing({
    ...{ storage, clock, log, node, nodeEvents: bus },
    signal: ending.signal,
  })
  await sharing.start()
  return {
    bus,
    heard,
    warned,
    async [Symbol.asyncDispose]() {
      ending.abort()
      await sharing.stopped()
    },
  }
}

const publish = ({ bus }: { readonly bus: ReturnType<typeof createEventBus> }, at: number) =>
  bus.publish({ type: 'wake', agent: 'ada', data: { at } })

const numbersOf = (heard: readonly GatehouseEvent[]) => heard.map(({ data }) => data['at'])

test('an event of one node reaches the listeners of another, once', async () => {
  const store = new CommonStore()
  await using a = await openNode(store, 'a')
  await using b = await openNode(store, 'b')
  for (let at = 0; at < 3; at += 1) publish(a, at)
  // Each node looks for such changes by itself.
  a.bus.publish({ type: 'capabilities.changed', agent: 'ada', data: {} } as never)
  await expect.poll(() => numbersOf(b.heard)).toEqual([0, 1, 2])
  publish(b, 3)
  await expect.poll(() => numbersOf(a.heard)).toEqual([0, 1, 2, undefined, 3])
  // Looks overlap, and its own are not told again.
  publish(a, 4)
  await expect.poll(() => numbersOf(b.heard)).toEqual([0, 1, 2, 3, 4])
  expect(store.rows.map(({ node }) => node).join('')).toBe('aaaba')
})

test('an event is told however long it is on its way into the store, and once', async () => {
  const store = new CommonStore()
  await using a = await openNode(store, 'a')
  await using b = await openNode(store, 'b')
  await using c = await openNode(store, 'c')
  publish(c, 0)
  await expect.poll(() => numbersOf(b.heard)).toEqual([0])
  const [late] = store.rows.splice(0)
  if (!late) throw new Error('nothing is stored')
  // Its transaction began first and ends last, long after its time was taken.
  const stored_by = store.next++
  store.open = stored_by
  store.nowMs += 60_000
  for (let at = 1; at < 4; at += 1) {
    publish(a, at)
    await expect.poll(() => numbersOf(b.heard).at(-1)).toBe(at)
  }
  store.rows.push({ ...late, stored_by, event: { ...late.event, id: 'evt-late', data: { at: 9 } } })
  store.open = Number.POSITIVE_INFINITY
  publish(a, 4)
  await expect.poll(() => numbersOf(b.heard)).toEqual([0, 1, 2, 3, 9, 4])
  publish(a, 5)
  await expect.poll(() => numbersOf(b.heard)).toEqual([0, 1, 2, 3, 9, 4, 5])
})

test('a node that comes later hears what happened within its time, and no more', async () => {
  const store = new CommonStore()
  await using a = await openNode(store, 'a')
  publish(a, 0)
  await expect.poll(() => store.rows.length).toBe(1)
  store.nowMs += 700_000
  publish(a, 1)
  await expect.poll(() => store.rows.length).toBe(2)
  await using b = await openNode(store, 'b')
  await expect.poll(() => numbersOf(b.heard)).toEqual([1])
})

test('events of a store that failed are told once it works again, in order', async () => {
  const store = new CommonStore()
  await using a = await openNode(store, 'a')
  await using b = await openNode(store, 'b')
  store.failures.push(new Error('gone'))
  publish(a, 0)
  await expect.poll(() => a.warned).toHaveLength(1)
  publish(a, 1)
  await expect.poll(() => numbersOf(b.heard)).toEqual([0, 1])
})

test('an event that comes in whichever turn the last ones were stored is stored as well', async () => {
  for (let turns = 0; turns < 12; turns += 1) {
    const store = new CommonStore()
    const next: Promise<void>[] = []
    {
      await using a = await openNode(store, 'a')
      const add = store.sharedEvents.add
      store.sharedEvents.add = (events) => {
        const adding = add(events)
        if (next.length === 0) next.push(afterTurns(adding, turns, () => publish(a, 1)))
        return adding
      }
      publish(a, 0)
      await expect.poll(() => next).toHaveLength(1)
      await next[0]
    }
    expect([turns, ...store.rows.map(({ event }) => event.data['at'])]).toEqual([turns, 0, 1])
  }
})

test('more events of one moment than a page has hold up nothing', async () => {
  const store = new CommonStore()
  const many = 11_000
  for (let at = 0; at < many; at += 1)
    store.rows.push({
      node: 'a',
      at_ms: store.nowMs,
      stored_by: store.next,
      event: {
        id: `evt-${String(at).padStart(6, '0')}`,
        type: 'wake',
        agent: 'ada',
        timestamp: new Date(store.nowMs).toISOString(),
        data: { at },
      } as GatehouseEvent,
    })
  store.next += 1
  await using b = await openNode(store, 'b')
  await expect.poll(() => b.heard.length).toBe(many)
  expect(store.pages.slice(0, 3)).toEqual([5_000, 5_000, 1_000])
  store.nowMs += 1_000
  await using a = await openNode(store, 'a')
  publish(a, many)
  await expect.poll(() => b.heard.length).toBe(many + 1)
})
