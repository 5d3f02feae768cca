import type { AuditRow } from '@gatehouse/server/ports/audit-rows'
import type { Storage } from '@gatehouse/server/ports/storage'
import { describe, expect, test } from 'vitest'
import { afterRestart, type Open } from './opened.ts'
import { agentOf, awkwardText, groupOf, indexed, largest, rowOf } from './samples.ts'

const insert = (storage: Storage, rows: readonly AuditRow[]): Promise<void> =>
  storage.indexGroup(groupOf(rows))

const seqs = (rows: readonly { readonly seq: number }[]): number[] => rows.map(({ seq }) => seq)

export const auditMusts = (open: Open): void => {
  describe('audit rows', () => {
    test('come back exactly as they were stored, also after a restart', async () => {
      await using opened = await open()
      const row = rowOf(0, {
        body: `{"text":"ünï \u{1F600} \\u0000","big":${largest}}`,
        agent: awkwardText,
        capability: awkwardText,
        session_id: awkwardText,
        approval_id: awkwardText,
        duration_ms: 0.123456789,
        intent_id: 'aud-x',
        policy_decision: 'none',
      })
      const last = rowOf(largest, { agent: '', duration_ms: null })
      await insert(opened.storage, [row, last])
      const { auditIndex } = await afterRestart(opened)
      expect(await auditIndex.find(row.id)).toEqual(indexed(row))
      expect(await auditIndex.find(row.id.toUpperCase())).toBeNull()
      expect(await auditIndex.range('main', 0, largest, 10)).toEqual([indexed(row)])
      expect(await auditIndex.range('main', largest, Number.MAX_SAFE_INTEGER + 1, 10)).toEqual([
        indexed(last),
      ])
    })

    test('are passed over when they are there, and count nothing twice', async () => {
      await using opened = await open()
      const { storage } = opened
      await storage.agents.insert(agentOf('a'))
      const counted = (rows: readonly AuditRow[]) =>
        storage.indexGroup(groupOf(rows, { agentCounts: new Map([['a', 1]]) }))
      await counted([rowOf(0), rowOf(1)])
      await counted([rowOf(0), rowOf(1)])
      expect((await storage.agents.find('a'))?.total_invocations).toBe(1)
      // As when the index was behind by a part of a group.
      await insert(storage, [rowOf(1), rowOf(2)])
      await insert(storage, [rowOf(0, { chain: 'other' })])
      expect(await storage.auditIndex.size('main')).toBe(3)
      expect(await storage.auditIndex.progress('main')).toEqual({ next: 3, counted: 3 })
      expect(await storage.auditIndex.progress('none')).toEqual({ next: 0, counted: 0 })
    })

    test('are made anew after they were cleared, without counting again', async () => {
      await using opened = await open()
      const { storage } = opened
      await storage.agents.insert(agentOf('a'))
      const group = groupOf([rowOf(0), rowOf(1)], { agentCounts: new Map([['a', 2]]) })
      await storage.indexGroup(group)
      await insert(storage, [rowOf(0, { chain: 'other' })])
      await storage.auditIndex.clear('main')
      expect(await storage.auditIndex.progress('main')).toEqual({ next: 0, counted: 2 })
      expect(await storage.auditIndex.counts(rowOf(0).timestamp)).toMatchObject({ entries: 1 })
      await storage.indexGroup(group)
      expect(seqs(await storage.auditIndex.range('main', 0, 9, 9))).toEqual([0, 1])
      expect((await storage.agents.find('a'))?.total_invocations).toBe(2)
    })

    test('are read in ranges of their chain, by number', async () => {
      await using opened = await open()
      const { auditIndex } = opened.storage
      await insert(
        opened.storage,
        Array.from({ length: 150 }, (_, seq) => rowOf(seq)),
      )
      await insert(opened.storage, [rowOf(0, { chain: 'other' })])
      expect(seqs(await auditIndex.range('main', 140, 1_000, 5))).toEqual([140, 141, 142, 143, 144])
      expect(seqs(await auditIndex.range('main', 3, 5, 100))).toEqual([3, 4])
      expect(seqs(await auditIndex.range('MAIN', 0, 5, 100))).toEqual([])
    })

    test('tell which intents nothing has closed', async () => {
      await using opened = await open()
      const { auditIndex } = opened.storage
      const pending = { result: 'pending' }
      await insert(opened.storage, [
        rowOf(0, pending),
        rowOf(1, pending),
        rowOf(2, { intent_id: rowOf(0).id }),
        rowOf(3, { ...pending, approval_id: 'appr-1' }),
        rowOf(4, { ...pending, kind: 'act' }),
        rowOf(5, pending),
        rowOf(6),
        rowOf(7, { ...pending, chain: 'other' }),
      ])
      expect(seqs(await auditIndex.openIntents('main', 10))).toEqual([1, 5])
      expect(seqs(await auditIndex.openIntents('main', 1))).toEqual([1])
      expect(seqs(await auditIndex.openIntents('other', 10))).toEqual([7])
    })

    test('are counted: calls that ran, calls denied, entries', async () => {
      await using opened = await open()
      const { auditIndex } = opened.storage
      await insert(opened.storage, [
        rowOf(0),
        rowOf(1, { result: 'pending' }),
        rowOf(2, { result: 'error' }),
        rowOf(3, { result: 'denied' }),
        rowOf(4, { kind: 'act' }),
        rowOf(5, { result: 'success' }),
      ])
      expect(await auditIndex.counts(rowOf(0).timestamp)).toEqual({
        calls: 3,
        denied: 1,
        entries: 6,
      })
      expect(await auditIndex.counts(rowOf(3).timestamp)).toEqual({
        calls: 1,
        denied: 1,
        entries: 6,
      })
    })

    test('give the statistics of an agent, however long its history', async () => {
      await using opened = await open()
      const { auditIndex } = opened.storage
      const perDay = 3_000
      const rows = Array.from({ length: 2 * perDay }, (_, seq) =>
        rowOf(seq, {
          timestamp: `2026-01-0${seq < perDay ? 1 : 2}T00:00:${String(seq % 60).padStart(2, '0')}.000Z`,
          capability: seq % 3 === 0 ? 'git.commit' : 'filesystem.read',
          result: seq % 10 === 0 ? 'error' : 'success',
          duration_ms: seq % 3 === 0 ? null : seq < perDay ? 1_000 : 7,
        }),
      )
      await insert(opened.storage, rows)
      await insert(opened.storage, [
        rowOf(7_000, { agent: 'other' }),
        rowOf(7_001, { result: 'denied' }),
        rowOf(7_002, { kind: 'act', capability: 'agent.paused' }),
      ])
      expect(await auditIndex.statsOf('mailbot')).toEqual({
        by_capability: [
          { capability: 'filesystem.read', calls: 4_000, failures: 400, p50_ms: 7, p95_ms: 7 },
          { capability: 'git.commit', calls: 2_000, failures: 200, p50_ms: 0, p95_ms: 0 },
        ],
        by_day: [
          { day: '2026-01-01', calls: 3_000, failures: 300 },
          { day: '2026-01-02', calls: 3_000, failures: 300 },
        ],
      })
      expect(await auditIndex.statsOf('nobody')).toEqual({ by_capability: [], by_day: [] })
    })

    test('give percentiles by nearest rank', async () => {
      await using opened = await open()
      const { auditIndex } = opened.storage
      await insert(
        opened.storage,
        Array.from({ length: 20 }, (_, seq) => rowOf(seq, { duration_ms: seq + 1 })),
      )
      const [stats] = (await auditIndex.statsOf('mailbot')).by_capability
      expect(stats).toMatchObject({ p50_ms: 10, p95_ms: 19 })
    })
  })
}
