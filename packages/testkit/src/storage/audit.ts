import { describe, expect, test } from 'vitest'
import { afterRestart, type Open } from './opened.ts'
import { awkwardText, largest, rowOf } from './samples.ts'

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
      await opened.storage.auditRows.insert([row, last])
      const { auditRows } = await afterRestart(opened)
      expect(await auditRows.find(row.id)).toEqual(row)
      expect(await auditRows.find(row.id.toUpperCase())).toBeNull()
      expect(await auditRows.head('main')).toEqual(last)
      expect(await auditRows.range('main', 0, largest, 10)).toEqual([row])
    })

    test('are refused, all of the batch, when a number or an id is in use', async () => {
      await using opened = await open()
      const { auditRows } = opened.storage
      await auditRows.insert([rowOf(0), rowOf(1)])
      for (const twin of [rowOf(1, { id: 'aud-new' }), rowOf(2, { id: rowOf(0).id })])
        await expect(auditRows.insert([twin])).rejects.toMatchObject({ type: 'Conflict' })
      await auditRows.insert([rowOf(1, { chain: 'other' })])
      expect(await auditRows.chains()).toEqual([
        { chain: 'main', rows: 2 },
        { chain: 'other', rows: 1 },
      ])
    })

    test('are read in ranges of their chain, by number', async () => {
      await using opened = await open()
      const { auditRows } = opened.storage
      expect(await auditRows.head('main')).toBeNull()
      expect(await auditRows.chains()).toEqual([])
      await auditRows.insert(Array.from({ length: 150 }, (_, seq) => rowOf(seq)))
      await auditRows.insert([rowOf(0, { chain: 'other' })])
      expect(seqs(await auditRows.range('main', 140, 1_000, 5))).toEqual([140, 141, 142, 143, 144])
      expect(seqs(await auditRows.range('main', 3, 5, 100))).toEqual([3, 4])
      expect((await auditRows.head('main'))?.seq).toBe(149)
      expect(await auditRows.head('MAIN')).toBeNull()
    })

    test('tell which intents nothing has closed', async () => {
      await using opened = await open()
      const { auditRows } = opened.storage
      const pending = { result: 'pending' }
      await auditRows.insert([
        rowOf(0, pending),
        rowOf(1, pending),
        rowOf(2, { intent_id: rowOf(0).id }),
        rowOf(3, { ...pending, approval_id: 'appr-1' }),
        rowOf(4, { ...pending, kind: 'act' }),
        rowOf(5, pending),
        rowOf(6),
        rowOf(7, { ...pending, chain: 'other' }),
      ])
      expect(seqs(await auditRows.openIntents('main', 10))).toEqual([1, 5])
      expect(seqs(await auditRows.openIntents('main', 1))).toEqual([1])
      expect(seqs(await auditRows.openIntents('other', 10))).toEqual([7])
    })

    test('are counted: calls that ran, calls denied, entries', async () => {
      await using opened = await open()
      const { auditRows } = opened.storage
      await auditRows.insert([
        rowOf(0),
        rowOf(1, { result: 'pending' }),
        rowOf(2, { result: 'error' }),
        rowOf(3, { result: 'denied' }),
        rowOf(4, { kind: 'act' }),
        rowOf(5, { result: 'success' }),
      ])
      expect(await auditRows.counts(rowOf(0).timestamp)).toEqual({
        calls: 3,
        denied: 1,
        entries: 6,
      })
      expect(await auditRows.counts(rowOf(3).timestamp)).toEqual({
        calls: 1,
        denied: 1,
        entries: 6,
      })
    })

    test('give the statistics of an agent, however long its history', async () => {
      await using opened = await open()
      const { auditRows } = opened.storage
      const perDay = 3_000
      const rows = Array.from({ length: 2 * perDay }, (_, seq) =>
        rowOf(seq, {
          timestamp: `2026-01-0${seq < perDay ? 1 : 2}T00:00:${String(seq % 60).padStart(2, '0')}.000Z`,
          capability: seq % 3 === 0 ? 'git.commit' : 'filesystem.read',
          result: seq % 10 === 0 ? 'error' : 'success',
          duration_ms: seq % 3 === 0 ? null : seq < perDay ? 1_000 : 7,
        }),
      )
      await auditRows.insert(rows)
      await auditRows.insert([
        rowOf(7_000, { agent: 'other' }),
        rowOf(7_001, { result: 'denied' }),
        rowOf(7_002, { kind: 'act', capability: 'agent.paused' }),
      ])
      expect(await auditRows.statsOf('mailbot')).toEqual({
        by_capability: [
          { capability: 'filesystem.read', calls: 4_000, failures: 400, p50_ms: 7, p95_ms: 7 },
          { capability: 'git.commit', calls: 2_000, failures: 200, p50_ms: 0, p95_ms: 0 },
        ],
        by_day: [
          { day: '2026-01-01', calls: 3_000, failures: 300 },
          { day: '2026-01-02', calls: 3_000, failures: 300 },
        ],
      })
      expect(await auditRows.statsOf('nobody')).toEqual({ by_capability: [], by_day: [] })
    })

    test('give percentiles by nearest rank', async () => {
      await using opened = await open()
      const { auditRows } = opened.storage
      await auditRows.insert(
        Array.from({ length: 20 }, (_, seq) => rowOf(seq, { duration_ms: seq + 1 })),
      )
      const [stats] = (await auditRows.statsOf('mailbot')).by_capability
      expect(stats).toMatchObject({ p50_ms: 10, p95_ms: 19 })
    })
  })
}
