import { describe, expect, test } from 'vitest'
import { afterRestart, type Open } from './opened.ts'
import { agentOf, awkwardText, groupOf, newYear, rowOf, sessionOf } from './samples.ts'

export const groupMusts = (open: Open): void => {
  describe('a group commit', () => {
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
      await storage.commitGroup(
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
      await storage.commitGroup(
        groupOf([], { agentCounts: new Map([['a', 5]]), clockMs: newYear + 2 }),
      )
      const again = await afterRestart(opened)
      expect(await again.auditRows.range('main', 0, 10, 10)).toEqual(rows)
      expect((await again.agents.find('a'))?.total_invocations).toBe(7)
      expect((await again.agents.find('b'))?.total_invocations).toBe(1)
      expect((await again.sessions.find('s1'))?.invocations).toBe(2)
      expect(await again.clock.read()).toBe(newYear + 2)
    })

    test('stores the sealed state with its rows, the latest in place of the one before', async () => {
      await using opened = await open()
      const { storage } = opened
      const sealed = (value: string) => ({ sealed: { key: 'sealed', value } })
      await storage.commitGroup(groupOf([rowOf(0)], sealed(awkwardText)))
      expect(await storage.meta.get('sealed')).toBe(awkwardText)
      await storage.transaction((tx) => tx.storeGroup(groupOf([rowOf(1)], sealed('two'))))
      await expect(storage.commitGroup(groupOf([rowOf(1)], sealed('never')))).rejects.toMatchObject(
        { type: 'Conflict' },
      )
      await storage.commitGroup(groupOf([rowOf(2)]))
      const again = await afterRestart(opened)
      expect(await again.meta.get('sealed')).toBe('two')
    })

    test('can be followed by rows that are taken out of the log, and by others in their place', async () => {
      await using opened = await open()
      const { storage } = opened
      const rows = Array.from({ length: 600 }, (_, seq) => rowOf(seq))
      await storage.commitGroup(groupOf(rows))
      await storage.commitGroup(groupOf([rowOf(0, { chain: 'other', id: 'aud-other' })]))
      const out: string[] = []
      const evict = (from: number, to: number) =>
        storage.evictRows('main', from, to, (gone) => out.push(...gone.map(({ id }) => id)))
      expect(await evict(600, Number.MAX_SAFE_INTEGER)).toBe(0)
      const refused = storage.evictRows('main', 5, 10, () => {
        throw new Error('the disk is full')
      })
      await expect(refused).rejects.toThrow('the disk is full')
      expect(await evict(3, 598)).toBe(595)
      expect(out).toEqual(rows.slice(3, 598).map(({ id }) => id))
      await storage.commitGroup(groupOf([rowOf(3, { id: 'aud-new' })]))
      const again = await afterRestart(opened)
      const left = await again.auditRows.range('main', 0, 600, 600)
      expect(left.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 598, 599])
      expect(await again.auditRows.head('other')).toMatchObject({ id: 'aud-other' })
      expect(await again.auditRows.find('aud-new')).toMatchObject({ seq: 3 })
    })

    test('inside a transaction is there with the rest of it, or not at all', async () => {
      await using opened = await open()
      const { storage } = opened
      await storage.agents.insert(agentOf('a'))
      const key = { key: 'a\u0000*\u0000900000', limit: 5, window_ms: 900_000 }
      const verdict = await storage.limits.take([key], newYear)
      const stamps = verdict.kind === 'allowed' ? verdict.stamps : []
      const agentCounts = new Map([['a', 1]])
      await storage.transaction(async (tx) => {
        await tx.meta.set('k', 'v')
        await tx.storeGroup(groupOf([rowOf(0)], { stamps, agentCounts, clockMs: newYear }))
      })
      const failing = storage.transaction(async (tx) => {
        await tx.storeGroup(groupOf([rowOf(1)], { agentCounts }))
        throw new Error('no')
      })
      await expect(failing).rejects.toThrow('no')
      const again = await afterRestart(opened)
      expect((await again.auditRows.head('main'))?.seq).toBe(0)
      expect((await again.agents.find('a'))?.total_invocations).toBe(1)
      expect(await again.limits.used(key, newYear + 1)).toBe(1)
    })

    test('of any size stores its rows in order', async () => {
      await using opened = await open()
      let seq = 0
      for (const size of [1, 2, 63, 64, 65, 200]) {
        const rows = Array.from({ length: size }, () => rowOf(seq++))
        await opened.storage.commitGroup(groupOf(rows))
      }
      const stored = await opened.storage.auditRows.range('main', 0, seq, seq)
      expect(stored).toEqual(Array.from({ length: seq }, (_, n) => rowOf(n)))
    })

    test('is stored whole or not at all', async () => {
      await using opened = await open()
      const { storage } = opened
      await storage.agents.insert(agentOf('a'))
      await storage.commitGroup(groupOf([rowOf(0)], { clockMs: newYear }))
      const spoilt = groupOf([rowOf(1), rowOf(2), rowOf(0)], {
        agentCounts: new Map([['a', 3]]),
        clockMs: newYear + 9,
      })
      await expect(storage.commitGroup(spoilt)).rejects.toMatchObject({ type: 'Conflict' })
      expect((await storage.auditRows.head('main'))?.seq).toBe(0)
      expect((await storage.agents.find('a'))?.total_invocations).toBe(0)
      expect(await storage.clock.read()).toBe(newYear)
      await storage.commitGroup(groupOf([rowOf(1)]))
      expect((await storage.auditRows.head('main'))?.seq).toBe(1)
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
        ...groups.map((group) => storage.commitGroup(group)),
      ])
      expect(await storage.auditRows.chains()).toEqual([{ chain: 'main', rows: 30 }])
      expect((await storage.agents.find('a'))?.total_invocations).toBe(30)
      expect(await storage.meta.get('k')).toBe('2')
    })
  })

  describe('foreign changes', () => {
    test('are none while only we write', async () => {
      await using opened = await open()
      const { storage } = opened
      expect(await storage.foreignChange()).toBe(false)
      for (let seq = 0; seq < 300; seq++) await storage.commitGroup(groupOf([rowOf(seq)]))
      await storage.agents.insert(agentOf('a'))
      await storage.transaction(async (tx) => {
        await tx.meta.set('k', 'v')
        await tx.auditRows.insert([rowOf(300)])
      })
      await storage.transaction(() => Promise.reject(new Error('no'))).catch(() => {})
      await storage.auditRows.query({ limit: 100, offset: 0 })
      expect(await storage.foreignChange()).toBe(false)
    })
  })
}
