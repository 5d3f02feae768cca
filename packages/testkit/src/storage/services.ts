import type { StoredService } from '@gatehouse/server/ports/services'
import { describe, expect, test } from 'vitest'
import type { Open } from './opened.ts'
import { awkwardText, largest, newYear } from './samples.ts'

export const serviceOf = (name: string, over: Partial<StoredService> = {}): StoredService => ({
  name,
  kind: 'fake',
  settings_json: '{}',
  secrets: ['password'],
  agents: ['*'],
  connected_ms: newYear,
  generation: 1,
  status: 'syncing',
  cursor: null,
  syncs: 0,
  full: true,
  last_sync_ms: null,
  next_sync_ms: newYear,
  failing_since_ms: null,
  failures: 0,
  reason: null,
  progress_json: null,
  ...over,
})

export const serviceMusts = (open: Open): void => {
  describe('services', () => {
    test('come back exactly as they were stored, and are replaced by name', async () => {
      await using opened = await open()
      const mail = serviceOf('mail', {
        settings_json: awkwardText,
        cursor: awkwardText,
        reason: awkwardText,
        agents: [awkwardText],
        next_sync_ms: largest,
        full: false,
      })
      await opened.storage.services.put(serviceOf('mail'))
      await opened.storage.services.put(serviceOf('calendar'))
      await opened.storage.services.put(mail)
      const { services } = await opened.reopen()
      expect(await services.find('mail')).toEqual(mail)
      expect(await services.find('MAIL')).toBeNull()
      expect((await services.list()).map(({ name }) => name)).toEqual(['calendar', 'mail'])
      await services.remove('mail')
      expect(await services.find('mail')).toBeNull()
    })

    test('are leased to one of many nodes, until the lease ends or is given back', async () => {
      await using opened = await open()
      const { services } = opened.storage
      await services.put(serviceOf('mail'))
      const nodes = ['a', 'b', 'c', 'd']
      const take = (node: string, nowMs: number) =>
        services.lease('mail', node, { nowMs, untilMs: nowMs + 100 })
      const won = await Promise.all(nodes.map((node) => take(node, newYear)))
      expect(won.filter(Boolean)).toHaveLength(1)
      const holder = nodes[won.indexOf(true)] as string
      const other = nodes.find((node) => node !== holder) as string
      expect(await take(holder, newYear + 50)).toBe(true)
      expect(await take(other, newYear + 149)).toBe(false)
      expect(await take(other, newYear + 150)).toBe(true)
      await services.release('mail', holder)
      expect(await take(holder, newYear + 151)).toBe(false)
      await services.release('mail', other)
      expect(await take(holder, newYear + 151)).toBe(true)
      expect(await take('a', newYear)).toBe(holder === 'a')
      expect(await services.lease('none', 'a', { nowMs: 0, untilMs: 1 })).toBe(false)
    })

    test('move on only for who holds them, and only as long as they are the same', async () => {
      await using opened = await open()
      const { services } = opened.storage
      await services.put(serviceOf('mail'))
      await services.lease('mail', 'a', { nowMs: newYear, untilMs: newYear + 100 })
      const now = { name: 'mail', generation: 1 }
      expect(await services.progress(now, { cursor: '1', full: false }, 'a')).toBe(true)
      expect(await services.progress(now, { cursor: '2' }, 'b')).toBe(false)
      expect(await services.progress({ ...now, generation: 2 }, { cursor: '3' }, 'a')).toBe(false)
      expect(await services.progress(now, {}, 'a')).toBe(true)
      expect(await services.progress(now, { reason: 'down', failures: 2 })).toBe(true)
      expect(await services.find('mail')).toEqual(
        serviceOf('mail', { cursor: '1', full: false, reason: 'down', failures: 2 }),
      )
      await services.put(serviceOf('mail', { generation: 2 }))
      expect(await services.progress({ ...now, generation: 2 }, { cursor: '4' }, 'a')).toBe(false)
    })
  })
}
