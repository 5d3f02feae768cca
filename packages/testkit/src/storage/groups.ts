import { describe, expect, test } from 'vitest'
import type { Open } from './opened.ts'
import { agentOf, groupOf, newYear, rowOf, sessionOf } from './samples.ts'

export const groupMusts = (open: Open): void => {
  describe('a group', () => {
    test('is recorded: counts and the clock, also after a restart', async () => {
      await using opened = await open()
      const { storage } = opened
      await storage.agents.insert(agentOf('a'))
      await storage.agents.insert(agentOf('b'))
      await storage.sessions.insert(sessionOf('s1', 'a'))
      const group = groupOf([rowOf(0), rowOf(1), rowOf(2)], {
        agentCounts: new Map([
          ['a', 2],
          ['b', 1],
          ['nobody', 1],
        ]),
        sessionCounts: new Map([['s1', 2]]),
        clockMs: newYear + 1,
      })
      await storage.record(group)
      await storage.record(groupOf([], { agentCounts: new Map([['a', 5]]), clockMs: newYear + 2 }))
      const again = await opened.reopen()
      expect((await again.agents.find('a'))?.total_invocations).toBe(7)
      expect((await again.agents.find('b'))?.total_invocations).toBe(1)
      expect((await again.sessions.find('s1'))?.invocations).toBe(2)
      expect(await again.clock.read()).toBe(newYear + 2)
      expect(await again.recorded('main')).toBe(3)
    })

    test('is seen at once by every read, and by every transaction', async () => {
      await using opened = await open()
      const { storage } = opened
      await storage.agents.insert(agentOf('a'))
      const count = (seq: number) =>
        storage.record(groupOf([rowOf(seq)], { agentCounts: new Map([['a', 1]]) }))
      await count(0)
      expect((await storage.agents.find('a'))?.total_invocations).toBe(1)
      await count(1)
      await storage.transaction(async (tx) => {
        expect((await tx.agents.find('a'))?.total_invocations).toBe(2)
      })
      await count(2)
      expect((await storage.agents.list()).map((agent) => agent.total_invocations)).toEqual([3])
    })

    test('is counted once, however often it is recorded, also after a restart', async () => {
      await using opened = await open()
      const { storage } = opened
      await storage.agents.insert(agentOf('a'))
      const group = (...seqs: number[]) =>
        groupOf(
          seqs.map((seq) => rowOf(seq)),
          { agentCounts: new Map([['a', 1]]) },
        )
      await storage.record(group(0, 1))
      await storage.record(group(0, 1))
      await storage.flush()
      expect(await storage.recorded('main')).toBe(2)
      await storage.record(group(0, 1))
      const again = await opened.reopen()
      await again.record(group(0, 1))
      await again.record(group(2))
      await again.record({ ...group(0), chain: 'other' })
      expect((await again.agents.find('a'))?.total_invocations).toBe(3)
      await again.flush()
      expect(await again.recorded('main')).toBe(3)
      expect(await again.recorded('other')).toBe(1)
      expect(await again.recorded('none')).toBe(0)
    })

    test('leaves copies of its entries where nodes share the store, until they are dropped', async () => {
      await using opened = await open()
      const { storage } = opened
      const body = `{"text":"ünï \u{1F600} \\u0000"}`
      const rows = [rowOf(0, { body }), rowOf(1), rowOf(2)]
      await storage.record(groupOf(rows.slice(0, 2)))
      await storage.record(groupOf(rows.slice(2)))
      await storage.record(groupOf([rowOf(7, { chain: 'other' })]))
      const again = await opened.reopen()
      const { copies } = again
      if (!again.isNetworked) {
        expect([await copies.ends(), await copies.read('main', 0, 10)]).toEqual([[], []])
        return
      }
      const copied = rows.map(({ seq, hash, body: text }) => ({ seq, hash, body: text }))
      expect(await copies.read('main', 0, 10)).toEqual(copied)
      expect(await copies.read('main', 1, 1)).toEqual([copied[1]])
      expect(await copies.read('MAIN', 0, 10)).toEqual([])
      expect(await copies.ends()).toEqual([
        { chain: 'main', next: 3 },
        { chain: 'other', next: 8 },
      ])
      await copies.drop('main')
      expect(await copies.ends()).toEqual([{ chain: 'other', next: 8 }])
      await again.record(groupOf(rows, { agentCounts: new Map([['nobody', 1]]) }))
      expect(await copies.read('main', 0, 10)).toEqual(copied)
      const removal = { chain: 'main', record: '{}', signature: 's', public_key: 'k' }
      expect(await copies.removals()).toEqual([])
      await copies.removeBefore(1, { ...removal, record: '' })
      await copies.removeBefore(2, removal)
      expect(await copies.read('main', 0, 10)).toEqual(copied.slice(2))
      expect(await copies.removals()).toEqual([removal])
      await copies.drop('main')
      expect(await copies.removals()).toEqual([])
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
        ...groups.map((group) => storage.record(group)),
      ])
      expect((await storage.agents.find('a'))?.total_invocations).toBe(30)
      expect(await storage.meta.get('k')).toBe('2')
    })
  })
}
