import type { StoredNode } from '@gatehouse/server/ports/nodes'
import { describe, expect, test } from 'vitest'
import type { Open } from './opened.ts'
import { awkwardText, largest, newYear } from './samples.ts'

const nodeOf = (name: string, over: Partial<StoredNode> = {}): StoredNode => ({
  name,
  place: 'host:/data',
  version: '1.0.0',
  address: null,
  state: 'active',
  started_ms: newYear,
  seen_ms: newYear,
  facts_json: '{}',
  ...over,
})

export const nodeMusts = (open: Open): void => {
  describe('nodes', () => {
    test('come back exactly as they were stored, by name', async () => {
      await using opened = await open()
      const first = nodeOf('node-b', {
        place: awkwardText,
        address: awkwardText,
        state: 'draining',
        seen_ms: largest,
        facts_json: awkwardText,
      })
      const second = nodeOf('node-a')
      for (const node of [first, second]) await opened.storage.nodes.put(node)
      const { nodes } = await opened.reopen()
      expect(await nodes.list()).toEqual([second, first])
      expect(await nodes.find('node-b')).toEqual(first)
      expect(await nodes.find('Node-b')).toBeNull()
    })

    test('keep the state that a person gave them when they say that they are there', async () => {
      await using opened = await open()
      const { nodes } = opened.storage
      await nodes.put(nodeOf('node-a'))
      const seen = { seen_ms: newYear + 1, facts_json: '{"sessions":1}' }
      expect(await nodes.beat('node-a', seen)).toBe('active')
      expect(await nodes.setState('node-a', 'draining')).toBe(true)
      expect(await nodes.beat('node-a', { ...seen, seen_ms: newYear + 2 })).toBe('draining')
      expect(await nodes.find('node-a')).toEqual(
        nodeOf('node-a', { ...seen, state: 'draining', seen_ms: newYear + 2 }),
      )
    })

    test('change, and go, only as they were seen where that is said', async () => {
      await using opened = await open()
      const { nodes } = opened.storage
      await nodes.put(nodeOf('node-a', { state: 'stopped' }))
      expect(await nodes.setState('node-a', 'draining', 'active')).toBe(false)
      expect((await nodes.find('node-a'))?.state).toBe('stopped')
      expect(await nodes.setState('node-a', 'active', 'stopped')).toBe(true)
      expect(await nodes.remove('node-a', newYear - 1)).toBe(false)
      expect(await nodes.find('node-a')).toEqual(nodeOf('node-a'))
      expect(await nodes.remove('node-a', newYear)).toBe(true)
      expect(await nodes.find('node-a')).toBeNull()
    })

    test('that are not there have no state, and are not made by a beat', async () => {
      await using opened = await open()
      const { nodes } = opened.storage
      await nodes.put(nodeOf('node-a'))
      expect(await nodes.remove('node-a')).toBe(true)
      expect(await nodes.remove('node-a')).toBe(false)
      expect(await nodes.beat('node-a', { seen_ms: 1, facts_json: '{}' })).toBeNull()
      expect(await nodes.setState('node-a', 'draining')).toBe(false)
      expect(await nodes.list()).toEqual([])
    })
  })
}
