import { describe, expect, test } from 'vitest'
import type { Open } from './opened.ts'
import { groupOf, rowOf } from './samples.ts'

const pending = { result: 'pending', duration_ms: null } as const

export const activityMusts = (open: Open): void => {
  describe('the log as people watch it', () => {
    test('leaves out intents that policy allowed, and counts without them', async () => {
      await using opened = await open()
      const { storage } = opened
      await storage.indexGroup(
        groupOf([
          rowOf(0, { ...pending }),
          rowOf(1, { intent_id: 'aud-main-00000000' }),
          rowOf(2, { ...pending, policy_decision: 'approval_required', approval_id: 'appr-1' }),
          rowOf(3, { kind: 'act', policy_decision: 'none', capability: 'agent.paused' }),
          rowOf(4, { agent: 'other', ...pending }),
          rowOf(5, { agent: 'other' }),
        ]),
      )
      const seqsOf = async (filter: object) => {
        const page = await storage.auditIndex.activity({ limit: 10, offset: 0, ...filter })
        return [page.total, ...page.rows.map(({ seq }) => seq)]
      }
      expect(await seqsOf({})).toEqual([4, 5, 3, 2, 1])
      expect(await seqsOf({ limit: 2, offset: 1 })).toEqual([4, 3, 2])
      expect(await seqsOf({ agent: 'mailbot' })).toEqual([3, 3, 2, 1])
      expect(await seqsOf({ agent: 'nobody' })).toEqual([0])
    })

    test('counts the same however many rows are folded into days', async () => {
      await using opened = await open()
      const { storage } = opened
      for (let from = 0; from < 2_112; from += 64) {
        const rows = Array.from({ length: 64 }, (_, i) =>
          rowOf(from + i, i % 2 === 0 ? pending : {}),
        )
        await storage.indexGroup(groupOf(rows))
      }
      const page = await storage.auditIndex.activity({ limit: 1, offset: 0 })
      expect([page.total, page.rows[0]?.seq]).toEqual([1_056, 2_111])
    })

    test('says where each chain ends', async () => {
      await using opened = await open()
      const { storage } = opened
      expect(await storage.auditIndex.ends()).toEqual([])
      await storage.indexGroup(groupOf([rowOf(0), rowOf(1)]))
      await storage.indexGroup(groupOf([rowOf(7, { chain: 'b' })]))
      expect(await storage.auditIndex.ends()).toEqual([
        { chain: 'b', next: 8 },
        { chain: 'main', next: 2 },
      ])
    })
  })
}
