import type { StoredModel } from '@gatehouse/server/ports/models'
import { describe, expect, test } from 'vitest'
import type { Open } from './opened.ts'
import { awkwardText, largest, newYear } from './samples.ts'

const modelOf = (id: string, over: Partial<StoredModel> = {}): StoredModel => ({
  node: 'node-a',
  id,
  source: 'catalog',
  sha256: 'ab'.repeat(32),
  size_bytes: 132_256,
  entry_json: '{}',
  header_json: '{}',
  installed_ms: newYear,
  verified_ms: newYear,
  problem: null,
  ...over,
})

export const modelMusts = (open: Open): void => {
  describe('models', () => {
    test('come back exactly as they were stored, those of one node by id', async () => {
      await using opened = await open()
      const first = modelOf('tiny', {
        size_bytes: largest,
        entry_json: JSON.stringify({ label: awkwardText }),
        header_json: awkwardText,
        problem: awkwardText,
      })
      const second = modelOf('Tiny', { source: 'built-in' })
      const elsewhere = modelOf('tiny', { node: 'node-b' })
      for (const model of [first, second, elsewhere]) await opened.storage.models.put(model)
      const { models } = await opened.reopen()
      expect(await models.list('node-a')).toEqual([second, first])
      expect(await models.list('node-b')).toEqual([elsewhere])
      expect(await models.list('node')).toEqual([])
      expect(await models.find('node-a', 'tiny')).toEqual(first)
      expect(await models.find('node-a', 'TINY')).toBeNull()
    })

    test('are stored in place of what was there, and removed once', async () => {
      await using opened = await open()
      const { models } = opened.storage
      await models.put(modelOf('tiny'))
      const changed = modelOf('tiny', { problem: 'its bytes changed', verified_ms: newYear + 1 })
      await models.put(changed)
      await models.put(modelOf('tiny', { node: 'node-b' }))
      expect(await models.list('node-a')).toEqual([changed])
      expect(await models.remove('node-a', 'tiny')).toBe(true)
      expect(await models.remove('node-a', 'tiny')).toBe(false)
      expect(await models.find('node-a', 'tiny')).toBeNull()
      expect(await models.find('node-b', 'tiny')).not.toBeNull()
    })

    test('are neither stored nor removed by a transaction that fails', async () => {
      await using opened = await open()
      const { storage } = opened
      await storage.models.put(modelOf('kept'))
      const failing = storage.transaction(async (tx) => {
        await tx.models.put(modelOf('new'))
        await tx.models.remove('node-a', 'kept')
        throw new Error('no')
      })
      await expect(failing).rejects.toThrow('no')
      expect((await storage.models.list('node-a')).map(({ id }) => id)).toEqual(['kept'])
    })
  })
}
