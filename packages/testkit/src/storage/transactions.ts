import { describe, expect, test } from 'vitest'
import type { Open } from './opened.ts'
import { agentOf, approvalOf, sessionOf, tokenOf } from './samples.ts'

export const transactionMusts = (open: Open): void => {
  describe('a transaction', () => {
    test('stores all of its work, and returns what the work returned', async () => {
      await using opened = await open()
      const answer = await opened.storage.transaction(async (tx) => {
        await tx.agents.insert(agentOf('a'))
        await tx.sessions.insert(sessionOf('s1', 'a'))
        await tx.approvals.insert(approvalOf('appr-1'))
        await tx.userTokens.insert(tokenOf('ut-1'))
        await tx.meta.set('k', 'v')
        // A transaction reads its own writes.
        return [await tx.meta.get('k'), (await tx.agents.find('a'))?.name]
      })
      expect(answer).toEqual(['v', 'a'])
      const again = await opened.reopen()
      expect(await again.agents.find('a')).toEqual(agentOf('a'))
      expect(await again.sessions.find('s1')).toEqual(sessionOf('s1', 'a'))
      expect(await again.approvals.find('appr-1')).toEqual(approvalOf('appr-1'))
      expect(await again.userTokens.find('ut-1')).toEqual(tokenOf('ut-1'))
      expect(await again.meta.get('k')).toBe('v')
    })

    test('that throws leaves nothing, and raises what was thrown', async () => {
      await using opened = await open()
      const { storage } = opened
      await storage.meta.set('k', 'before')
      await storage.approvals.insert(approvalOf('appr-1'))
      const cause = new Error('no')
      const work = storage.transaction(async (tx) => {
        await tx.agents.insert(agentOf('a'))
        await tx.meta.set('k', 'inside')
        await tx.approvals.replace(
          approvalOf('appr-1'),
          approvalOf('appr-1', { status: 'approved' }),
        )
        throw cause
      })
      await expect(work).rejects.toBe(cause)
      const again = await opened.reopen()
      expect(await again.agents.find('a')).toBeNull()
      expect(await again.meta.get('k')).toBe('before')
      expect((await again.approvals.find('appr-1'))?.status).toBe('pending')
      await again.meta.set('k', 'after')
      expect(await again.meta.get('k')).toBe('after')
    })

    test('goes on after a name turned out to be taken', async () => {
      await using opened = await open()
      const { storage } = opened
      await storage.agents.insert(agentOf('a'))
      await storage.transaction(async (tx) => {
        await tx.agents.insert(agentOf('a')).catch(() => {})
        await tx.meta.set('k', 'v')
      })
      expect(await storage.meta.get('k')).toBe('v')
    })

    test('is not seen from outside before its end', async () => {
      await using opened = await open()
      const { storage } = opened
      await storage.transaction(async (tx) => {
        await tx.meta.set('k', 'v')
        expect(await storage.meta.get('k')).toBeNull()
      })
      expect(await storage.meta.get('k')).toBe('v')
    })

    test('reads and writes with no other one in between', async () => {
      await using opened = await open()
      const { storage } = opened
      await Promise.all(
        Array.from({ length: 25 }, () =>
          storage.transaction(async (tx) => {
            const count = Number((await tx.meta.get('count')) ?? 0)
            await Promise.resolve()
            await tx.meta.set('count', String(count + 1))
          }),
        ),
      )
      expect(await storage.meta.get('count')).toBe('25')
    })
  })
}
