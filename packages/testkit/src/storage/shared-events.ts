import type { SharedEvent } from '@gatehouse/server/ports/shared-events'
import { describe, expect, test } from 'vitest'
import type { Open } from './opened.ts'
import { awkwardText, largest, newYear } from './samples.ts'

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
      const idsSince = async (atMs: number, exceptOf: string, limit = 9) =>
        (await sharedEvents.listSince(atMs, exceptOf, limit)).map(({ event }) => event.id)
      expect(await sharedEvents.listSince(newYear, 'b', 9)).toEqual(events.toReversed())
      expect(await idsSince(0, 'nobody')).toEqual(['evt-3', 'evt-1', 'evt-2'])
      expect(await idsSince(0, 'nobody', 1)).toEqual(['evt-3'])
      expect(await idsSince(newYear + 2, 'b')).toEqual(['evt-2'])
      expect(await idsSince(0, 'node-a')).toEqual(['evt-3'])
      await sharedEvents.prune(newYear + 2)
      expect(await idsSince(0, 'nobody')).toEqual(['evt-2'])
    })
  })
}
