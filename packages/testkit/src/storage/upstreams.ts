import type { StoredUpstream } from '@gatehouse/server/ports/upstream'
import { describe, expect, test } from 'vitest'
import type { Open } from './opened.ts'
import { awkwardText, largest, newYear } from './samples.ts'

const upstreamOf = (name: string, over: Partial<StoredUpstream> = {}): StoredUpstream => ({
  name,
  config_json: '{}',
  accepted_json: '[]',
  seen_json: null,
  change_number: 1,
  added_ms: newYear,
  seen_ms: null,
  ...over,
})

export const upstreamMusts = (open: Open): void => {
  describe('upstream servers', () => {
    test('come back exactly as they were stored, by name', async () => {
      await using opened = await open()
      const first = upstreamOf('github', {
        config_json: awkwardText,
        accepted_json: JSON.stringify([awkwardText]),
        seen_json: awkwardText,
        change_number: largest,
        seen_ms: newYear,
      })
      const second = upstreamOf('files')
      for (const upstream of [first, second]) await opened.storage.upstreams.put(upstream)
      const { upstreams } = await opened.reopen()
      expect(await upstreams.list()).toEqual([second, first])
      expect(await upstreams.find('github')).toEqual(first)
      expect(await upstreams.find('GitHub')).toBeNull()
    })

    test('are replaced and removed by name', async () => {
      await using opened = await open()
      const { upstreams } = opened.storage
      await upstreams.put(upstreamOf('github'))
      await upstreams.put(upstreamOf('files'))
      const changed = upstreamOf('github', { change_number: 2, seen_json: '{}' })
      await upstreams.put(changed)
      expect(await upstreams.find('github')).toEqual(changed)
      expect(await upstreams.remove('files')).toBe(true)
      expect(await upstreams.remove('files')).toBe(false)
      expect(await upstreams.list()).toEqual([changed])
    })

    test('are undone with their transaction', async () => {
      await using opened = await open()
      const { storage } = opened
      const failing = storage.transaction(async (tx) => {
        await tx.upstreams.put(upstreamOf('github'))
        throw new Error('undo')
      })
      await expect(failing).rejects.toThrow('undo')
      expect(await storage.upstreams.list()).toEqual([])
    })
  })
}
