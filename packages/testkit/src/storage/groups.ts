import { describe, expect, test } from 'vitest'
import { afterRestart, type Open } from './opened.ts'
import { agentOf, awkwardText, groupOf, indexed, newYear, rowOf, sessionOf } from './samples.ts'

export const groupMusts = (open: Open): void => {
  describe('a group', () => {
    test('stores rows, counts and the clock, also after a restart', async () => {
      await using opened = await open()
      const { storage } = opened
      await storage.agents.insert(agentOf('a'))
      await storage.agents.insert(agentOf('b'))
      await storage.sessions.insert(sessionOf('s1', 'a'))
      const rows = [
        rowOf(0),
        rowOf(1, { capability: awkwardText }),
        rowOf(2, { duration_ms: null }),
      ]
      await storage.indexGroup(
        groupOf(rows, {
          agentCounts: new Map([
            ['a', 2],
            ['b', 1],
            ['nobody', 1],
          ]),
          sessionCounts: new Map([['s1', 2]]),
          clockMs: newYear + 1,
        }),
      )
      await storage.indexGroup(
        groupOf([], { agentCounts: new Map([['a', 5]]), clockMs: newYear + 2 }),
      )
      const again = await afterRestart(opened)
      expect(await again.auditIndex.range('main', 0, 10, 10)).toEqual(rows.map(indexed))
      expect((await again.agents.find('a'))?.total_invocations).toBe(7)
      expect((await again.agents.find('b'))?.total_invocations).toBe(1)
      expect((await again.sessions.find('s1'))?.invocations).toBe(2)
      expect(await again.clock.read()).toBe(newYear + 2)
    })

    test('of any size stores its rows in order', async () => {
      await using opened = await open()
      let seq = 0
      for (const size of [1, 2, 63, 64, 65, 200]) {
        const rows = Array.from({ length: size }, () => rowOf(seq++))
        await opened.storage.indexGroup(groupOf(rows))
      }
      const stored = await opened.storage.auditIndex.range('main', 0, seq, seq)
      expect(stored).toEqual(Array.from({ length: seq }, (_, n) => indexed(rowOf(n))))
    })

    test('waits for the transaction before it, and many at once all arrive', async () => {
      await using opened = await open()
      const { storage } = opened
      await storage.agents.insert(agentOf('a'))
      const groups = Array.from({ length: 30 }, (_, seq) =>
        groupOf([rowOf(seq)], { agentCounts: new Map([['a', 1]]) }),
      )
      await Promise.all([
        storage.transaction(async (tx) => {
          await tx.meta.set('k', '1')
          await tx.meta.set('k', '2')
        }),
        ...groups.map((group) => storage.indexGroup(group)),
      ])
      expect(await storage.auditIndex.size('main')).toBe(30)
      expect((await storage.agents.find('a'))?.total_invocations).toBe(30)
      expect(await storage.meta.get('k')).toBe('2')
    })
  })

  describe('foreign changes', () => {
    test('are none while only we write', async () => {
      await using opened = await open()
      const { storage } = opened
      expect(await storage.foreignChange()).toBe(false)
      for (let seq = 0; seq < 300; seq++) await storage.indexGroup(groupOf([rowOf(seq)]))
      await storage.agents.insert(agentOf('a'))
      await storage.transaction(async (tx) => {
        await tx.meta.set('k', 'v')
      })
      await storage.transaction(() => Promise.reject(new Error('no'))).catch(() => {})
      await storage.auditIndex.query({ limit: 100, offset: 0 })
      expect(await storage.foreignChange()).toBe(false)
    })
  })
}
