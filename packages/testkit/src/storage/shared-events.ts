import type { EventPlace, SharedEvent } from '@gatehouse/server/ports/shared-events'
import { describe, expect, test } from 'vitest'
import type { Open } from './opened.ts'
import { awkwardText, largest, newYear } from './samples.ts'

const first: EventPlace = { stored_by: 0, at_ms: 0, id: '' }

const eventOf = (id: string, at_ms: number, node = 'node-a'): SharedEvent => ({
  event: {
    id,
    type: 'wake',
    agent: 'mailbot',
    timestamp: new Date(newYear).toISOString(),
    data: { text: awkwardText, count: largest },
  },
  node,
  at_ms,
})

export const sharedEventMusts = (open: Open): void => {
  describe('shared events', () => {
    test('come to other nodes as they were stored, each once and the oldest first', async () => {
      await using opened = await open()
      const events = [eventOf('evt-2', newYear + 2), eventOf('evt-1', newYear + 1)]
      await opened.storage.sharedEvents.add([])
      await opened.storage.sharedEvents.add(events)
      await opened.storage.sharedEvents.add([
        eventOf('evt-1', newYear + 9),
        eventOf('evt-3', 3, 'b'),
      ])
      const { sharedEvents } = await opened.reopen()
      const all = await sharedEvents.listAfter(first, 'nobody', 9)
      const idsAfter = async (place: EventPlace, exceptOf: string, limit = 9) =>
        (await sharedEvents.listAfter(place, exceptOf, limit)).map(({ event }) => event.id)
      const placeOf = (id: string): EventPlace => {
        const found = all.find(({ event }) => event.id === id)
        return { stored_by: found?.stored_by ?? 0, at_ms: found?.at_ms ?? 0, id }
      }
      expect(
        (await sharedEvents.listAfter(first, 'b', 9)).map(({ stored_by: _, ...shared }) => shared),
      ).toEqual(events.toReversed())
      expect((await idsAfter(first, 'nobody')).toSorted()).toEqual(['evt-1', 'evt-2', 'evt-3'])
      expect(await idsAfter(first, 'b', 1)).toEqual(['evt-1'])
      expect(await idsAfter(placeOf('evt-1'), 'b')).toEqual(['evt-2'])
      expect(await idsAfter(placeOf('evt-2'), 'b')).toEqual([])
      expect(await idsAfter(first, 'node-a')).toEqual(['evt-3'])
      await sharedEvents.prune(newYear + 2)
      expect(await idsAfter(first, 'nobody')).toEqual(['evt-2'])
    })

    test('above the horizon are all that a later look may find beside those of this one', async () => {
      await using opened = await open()
      const { sharedEvents } = opened.storage
      await sharedEvents.add([eventOf('evt-1', newYear)])
      const horizon = await sharedEvents.horizon()
      await sharedEvents.add([eventOf('evt-2', newYear)])
      const found = await sharedEvents.listAfter({ stored_by: horizon, at_ms: 0, id: '' }, 'b', 9)
      expect(found.map(({ event }) => event.id)).toContain('evt-2')
      expect(await sharedEvents.horizon()).toBeGreaterThanOrEqual(horizon)
    })
  })
}
