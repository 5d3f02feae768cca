import type { StoredMessage } from '@gatehouse/server/ports/messages'
import { describe, expect, test } from 'vitest'
import type { Open } from './opened.ts'
import { awkwardText, newYear } from './samples.ts'

const messageOf = (id: string, over: Partial<StoredMessage> = {}): StoredMessage => ({
  id,
  sender: 'alpha',
  channel: null,
  priority: 1,
  body_json: '"hello"',
  sent_ms: newYear,
  expires_ms: newYear + 1_000,
  ...over,
})

export const messageMusts = (open: Open): void => {
  describe('messages', () => {
    test('come back exactly as they were sent', async () => {
      await using opened = await open()
      const message = messageOf('msg-1', { body_json: awkwardText, channel: awkwardText })
      await opened.storage.messages.insert(message, ['beta'])
      const { messages } = await opened.reopen()
      const page = await messages.listFor('beta', { nowMs: newYear, limit: 5 })
      expect(page).toEqual({ messages: [message], total: 1 })
      const on = { channel: awkwardText, nowMs: newYear, limit: 5 }
      expect((await messages.listFor('beta', on)).total).toBe(1)
      expect((await messages.listFor('beta', { ...on, channel: 'other' })).total).toBe(0)
      expect((await messages.listFor('Beta', { nowMs: newYear, limit: 5 })).total).toBe(0)
    })

    test('wait by priority, then in the order they were sent, until they expire', async () => {
      await using opened = await open()
      const { messages } = opened.storage
      await messages.insert(messageOf('msg-3', { sent_ms: newYear + 1 }), ['beta'])
      await messages.insert(messageOf('msg-1'), ['beta'])
      await messages.insert(messageOf('msg-2'), ['beta'])
      await messages.insert(messageOf('msg-4', { priority: 2, sent_ms: newYear + 2 }), ['beta'])
      await messages.insert(messageOf('msg-5', { priority: 0, expires_ms: newYear + 9 }), ['beta'])
      const at = async (nowMs: number, limit = 9) => {
        const page = await messages.listFor('beta', { nowMs, limit })
        return [page.messages.map(({ id }) => id), page.total]
      }
      expect(await at(newYear)).toEqual([['msg-4', 'msg-1', 'msg-2', 'msg-3', 'msg-5'], 5])
      expect(await at(newYear, 2)).toEqual([['msg-4', 'msg-1'], 5])
      expect(await at(newYear + 9)).toEqual([['msg-4', 'msg-1', 'msg-2', 'msg-3'], 4])
      expect((await messages.waiting(['beta', 'gamma'], newYear)).get('beta')).toBe(5)
      expect((await messages.waiting(['gamma'], newYear)).get('gamma') ?? 0).toBe(0)
    })

    test('leave each mailbox once, whoever else holds them', async () => {
      await using opened = await open()
      const { messages } = opened.storage
      const everybody = Array.from({ length: 450 }, (_, n) => `agent-${n}`)
      await messages.insert(messageOf('msg-1'), everybody)
      const taken = await Promise.all(
        [1, 2, 3].map(() => messages.acknowledge('agent-7', ['msg-1', 'msg-2'])),
      )
      expect(taken.flat()).toEqual(['msg-1'])
      const waiting = await messages.waiting(everybody, newYear)
      expect([...waiting.values()].reduce((sum, n) => sum + n, 0)).toBe(449)
      await messages.prune(newYear + 999)
      expect((await messages.listFor('agent-8', { nowMs: 0, limit: 1 })).total).toBe(1)
      await messages.prune(newYear + 1_000)
      expect((await messages.listFor('agent-8', { nowMs: 0, limit: 1 })).total).toBe(0)
      // Gone with its last mailbox: its id is free.
      await messages.insert(messageOf('msg-1'), ['beta'])
    })
  })

  describe('subscriptions', () => {
    test('are one for each agent and channel, and end by id', async () => {
      await using opened = await open()
      const { subscriptions } = opened.storage
      const first = { id: 'sub-1', agent: 'beta', channel: awkwardText, created_ms: newYear }
      expect(await subscriptions.insert(first)).toEqual(first)
      expect(await subscriptions.insert({ ...first, id: 'sub-2' })).toEqual(first)
      await subscriptions.insert({ ...first, id: 'sub-3', agent: 'alpha' })
      const again = (await opened.reopen()).subscriptions
      expect(await again.subscribers(awkwardText)).toEqual(['alpha', 'beta'])
      expect(await again.listOf('beta')).toEqual([first])
      expect(await again.remove('sub-1', 'alpha')).toBe(false)
      expect(await again.remove('sub-1', 'beta')).toBe(true)
      expect(await again.remove('sub-1', 'beta')).toBe(false)
      expect(await again.subscribers(awkwardText)).toEqual(['alpha'])
    })
  })
}
