import type { ApprovalId } from '@gatehouse/contract'
import type { StoredApproval } from '@gatehouse/server/ports/approvals'
import { describe, expect, test } from 'vitest'
import type { Open } from './opened.ts'
import { approvalOf, awkwardText, largest, newYear } from './samples.ts'

const ids = (approvals: readonly StoredApproval[]): string[] => approvals.map(({ id }) => id)

export const approvalMusts = (open: Open): void => {
  describe('approvals', () => {
    test('come back exactly as they were stored, also after a restart', async () => {
      await using opened = await open()
      const approval = approvalOf('appr-1', {
        arguments_json: JSON.stringify({ text: awkwardText }),
        sent_json: JSON.stringify({ sent: awkwardText }),
        agent_reason: awkwardText,
        bound_json: JSON.stringify({ big: largest }),
        requested_ms: largest,
        expires_ms: largest,
        expires_wall_ms: largest,
        session_id: 'sess-1',
        reason: awkwardText,
        rule: { layer: 'agent', file: awkwardText, line: 3, match: 'email.*' },
        critical: true,
        preview: { kind: 'mail', headers: { To: awkwardText }, text: awkwardText },
        decided_ms: largest,
        decided_by: awkwardText,
        decision_reason: awkwardText,
        exec_id: 'exec-1',
        result: { success: true, data: { text: awkwardText, big: largest } },
        edit: {
          original: 'appr-1' as ApprovalId,
          request: 'appr-2' as ApprovalId,
          decided: { to: awkwardText },
          effective: {},
        },
        result_text: awkwardText,
        delivered: 'yes',
      })
      await opened.storage.approvals.insert(approval)
      await opened.storage.approvals.insert(approvalOf('appr-2'))
      const { approvals } = await opened.reopen()
      expect(await approvals.find('appr-1')).toEqual(approval)
      expect(await approvals.find('appr-2')).toEqual(approvalOf('appr-2'))
      expect(await approvals.find('APPR-1')).toBeNull()
      expect(await approvals.find('appr-3')).toBeNull()
    })

    test('have ids of their own', async () => {
      await using opened = await open()
      const { approvals } = opened.storage
      await approvals.insert(approvalOf('appr-1'))
      const twice = approvals.insert(approvalOf('appr-1', { agent: 'other' }))
      await expect(twice).rejects.toMatchObject({ type: 'Conflict' })
      expect((await approvals.find('appr-1'))?.agent).toBe('mailbot')
    })

    test('let exactly one of many deciders win, and show the others what stands', async () => {
      await using opened = await open()
      const { approvals } = opened.storage
      for (let round = 0; round < 10; round++) {
        const pending = approvalOf(`appr-${round}`)
        await approvals.insert(pending)
        const outcomes = await Promise.all(
          Array.from({ length: 20 }, (_, i) =>
            approvals.replace(pending, {
              ...pending,
              status: i % 2 ? 'approved' : 'rejected',
              decided_by: `user:${i}`,
            }),
          ),
        )
        const winners = outcomes.filter(({ changed }) => changed)
        expect(winners).toHaveLength(1)
        const standing = await approvals.find(pending.id)
        expect(standing).toEqual(winners[0]?.approval)
        for (const { approval } of outcomes) expect(approval).toEqual(standing)
      }
    })

    test.each<Partial<StoredApproval>>([
      { status: 'expired' },
      { execution: 'running' },
      { exec_id: 'exec-1' },
      { digest: 'sha256:other' },
      { delivered: 'yes' },
      { delivered: 'sending' },
    ])('are not replaced by whoever saw other than %j', async (changed) => {
      await using opened = await open()
      const { approvals } = opened.storage
      const seen = approvalOf('appr-1')
      const stored = { ...seen, ...changed }
      await approvals.insert(stored)
      const next = { ...seen, status: 'approved' as const }
      expect(await approvals.replace(seen, next)).toEqual({ changed: false, approval: stored })
      expect(await approvals.replace(stored, next)).toEqual({ changed: true, approval: next })
      expect(await approvals.find('appr-1')).toEqual(next)
    })

    test('that nobody stored cannot be replaced', async () => {
      await using opened = await open()
      const unknown = approvalOf('appr-1')
      await expect(opened.storage.approvals.replace(unknown, unknown)).rejects.toMatchObject({
        type: 'ApprovalNotFound',
      })
    })

    test('are found again by the same call while they are pending or their result is due', async () => {
      await using opened = await open()
      const { approvals } = opened.storage
      const find = async () => (await approvals.findOpenCall('mailbot', 'key'))?.id
      await approvals.insert(approvalOf('appr-1', { status: 'approved', delivered: 'yes' }))
      await approvals.insert(approvalOf('appr-2', { status: 'expired' }))
      await approvals.insert(approvalOf('appr-3', { status: 'cancelled' }))
      await approvals.insert(approvalOf('appr-4', { agent: 'other' }))
      await approvals.insert(approvalOf('appr-5', { call_key: 'KEY' }))
      expect(await find()).toBeUndefined()
      await approvals.insert(
        approvalOf('appr-6', { status: 'rejected', requested_ms: newYear + 1 }),
      )
      expect(await find()).toBe('appr-6')
      await approvals.insert(
        approvalOf('appr-7', { status: 'approved', requested_ms: newYear + 2 }),
      )
      expect(await find()).toBe('appr-7')
      await approvals.insert(approvalOf('appr-8', { requested_ms: newYear + 3 }))
      expect(await find()).toBe('appr-8')
      // Once a newer request was made, no older outcome comes back.
      const newest = { status: 'approved', requested_ms: newYear + 4 } as const
      await approvals.insert(approvalOf('appr-9', { ...newest, delivered: 'sending' }))
      expect(await find()).toBeUndefined()
    })

    test('are listed oldest first while pending and newest first otherwise, with the total', async () => {
      await using opened = await open()
      const { approvals } = opened.storage
      for (const n of [2, 1, 3]) {
        const at = { requested_ms: newYear + n }
        await approvals.insert(approvalOf(`appr-p${n}`, at))
        await approvals.insert(approvalOf(`appr-r${n}`, { ...at, status: 'rejected', agent: 'b' }))
      }
      const list = async (filter: object) => {
        const page = await approvals.list({ limit: 10, offset: 0, ...filter })
        return { ids: ids(page.approvals), total: page.total }
      }
      expect(await list({ status: 'pending' })).toEqual({
        ids: ['appr-p1', 'appr-p2', 'appr-p3'],
        total: 3,
      })
      expect(await list({ status: 'rejected', limit: 1, offset: 1 })).toEqual({
        ids: ['appr-r2'],
        total: 3,
      })
      expect((await list({})).ids.slice(0, 2)).toEqual(['appr-r3', 'appr-p3'])
      await approvals.insert(approvalOf('appr-e', { status: 'expired', capability: 'git.push' }))
      expect(await list({ status: 'decided' })).toEqual({
        ids: ['appr-r3', 'appr-r2', 'appr-r1', 'appr-e'],
        total: 4,
      })
      expect(await list({ status: 'decided', capability: 'git.push' })).toEqual({
        ids: ['appr-e'],
        total: 1,
      })
      expect(await list({ agent: 'b', capability: 'git.push' })).toEqual({ ids: [], total: 0 })
      expect(await list({ agent: 'b', status: 'pending' })).toEqual({ ids: [], total: 0 })
      expect(
        await list({ status: 'pending', since_ms: newYear + 2, until_ms: newYear + 2 }),
      ).toEqual({ ids: ['appr-p2'], total: 1 })
      expect(await approvals.countPending()).toBe(3)
      expect(await approvals.countPending('b')).toBe(0)
      expect(await approvals.countPending('mailbot')).toBe(3)
    })

    test('that were approved are listed by what became of them, oldest first', async () => {
      await using opened = await open()
      const { approvals } = opened.storage
      const running = { status: 'approved', execution: 'running' } as const
      await approvals.insert(approvalOf('appr-1', { ...running, requested_ms: newYear + 2 }))
      await approvals.insert(approvalOf('appr-2', { ...running, requested_ms: newYear + 1 }))
      await approvals.insert(approvalOf('appr-3', { status: 'approved' }))
      await approvals.insert(approvalOf('appr-4', { execution: 'running' }))
      expect(ids(await approvals.listByExecution('running', 10))).toEqual(['appr-2', 'appr-1'])
      expect(ids(await approvals.listByExecution('running', 1))).toEqual(['appr-2'])
      expect(ids(await approvals.listByExecution('waiting', 10))).toEqual(['appr-3'])
    })

    test('expire on whichever clock comes first, and only while pending', async () => {
      await using opened = await open()
      const { approvals } = opened.storage
      expect(await approvals.nextExpiry()).toBeNull()
      const at = (expires_ms: number, expires_wall_ms: number) => ({ expires_ms, expires_wall_ms })
      await approvals.insert(approvalOf('appr-1', { ...at(200, 900), requested_ms: 2 }))
      await approvals.insert(approvalOf('appr-2', { ...at(900, 200), requested_ms: 1 }))
      await approvals.insert(approvalOf('appr-3', { ...at(900, 900), requested_ms: 0 }))
      await approvals.insert(approvalOf('appr-4', { ...at(1, 1), status: 'approved' }))
      expect(await approvals.listExpired(199, 199, 10)).toEqual([])
      expect(ids(await approvals.listExpired(200, 0, 10))).toEqual(['appr-1'])
      expect(ids(await approvals.listExpired(0, 200, 10))).toEqual(['appr-2'])
      expect(ids(await approvals.listExpired(900, 0, 10))).toEqual(['appr-3', 'appr-2', 'appr-1'])
      expect(ids(await approvals.listExpired(900, 900, 1))).toEqual(['appr-3'])
      expect(await approvals.nextExpiry()).toBe(200)
      await approvals.insert(approvalOf('appr-5', { ...at(300, 900), agent: 'other' }))
      expect(await approvals.nextExpiry('other')).toBe(300)
      expect(await approvals.nextExpiry('nobody')).toBeNull()
    })
  })
}
