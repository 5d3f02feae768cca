import type { Storage } from '@gatehouse/server/ports/storage'
import type { StoredRollback, StoredWrite } from '@gatehouse/server/ports/writes'
import { describe, expect, test } from 'vitest'
import type { Open } from './opened.ts'
import { awkwardText, largest, newYear } from './samples.ts'

export const writeOf = (id: string, over: Partial<StoredWrite> = {}): StoredWrite => ({
  id,
  service: 'mail',
  kind: 'fake',
  operation: 'put',
  agent: 'mailbot',
  capability: 'email.send',
  session_id: null,
  request_id: 'req-1',
  arguments_json: '{}',
  files_json: '[]',
  buffered_ms: newYear,
  due_ms: newYear,
  status: 'buffered',
  phase: null,
  attempts: 0,
  proofs: 0,
  repeatable: true,
  owner: null,
  lease_ms: null,
  finished_ms: null,
  result_json: null,
  error_json: null,
  dead: false,
  ended_by: null,
  ...over,
})

const claimBy = ({ writes }: Pick<Storage, 'writes'>, owner: string, limit = 10) =>
  writes.claim({
    services: ['mail'],
    owner,
    dueMs: newYear,
    leaseMs: newYear + 100,
    limit,
  })

const page = { limit: 50, offset: 0 }
const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id)

export const writeMusts = (open: Open): void => {
  describe('buffered writes', () => {
    test('come back exactly as they were stored, with their files', async () => {
      await using opened = await open()
      const write = writeOf('wr-1', {
        agent: awkwardText,
        arguments_json: awkwardText,
        files_json: awkwardText,
        result_json: awkwardText,
        error_json: awkwardText,
        ended_by: awkwardText,
        due_ms: largest,
        dead: true,
        repeatable: false,
      })
      const bytes = Uint8Array.from({ length: 256 }, (_, n) => n)
      const files = [
        { name: awkwardText, content_type: 'application/pdf', bytes },
        { name: 'empty', content_type: 'text/plain', bytes: new Uint8Array() },
      ]
      await opened.storage.writes.insert(write, files)
      await expect(opened.storage.writes.insert(write, [])).rejects.toMatchObject({
        type: 'Conflict',
      })
      const { writes } = await opened.reopen()
      expect(await writes.find('wr-1')).toEqual(write)
      expect(await writes.files('wr-1')).toEqual(files)
      expect(await writes.find('WR-1')).toBeNull()
      expect(await writes.files('wr-2')).toEqual([])
    })

    test('are claimed when they are due, the longest due first, with an attempt and a lease', async () => {
      await using opened = await open()
      const { writes } = opened.storage
      await writes.insert(writeOf('wr-1'), [])
      await writes.insert(writeOf('wr-2', { due_ms: newYear - 5 }), [])
      await writes.insert(writeOf('wr-3', { due_ms: newYear + 1 }), [])
      await writes.insert(writeOf('wr-4', { service: 'calendar', due_ms: 1 }), [])
      expect(await writes.nextDue(['mail'])).toBe(newYear - 5)
      expect(await writes.nextDue(['none'])).toBeNull()
      expect(await writes.nextDue([])).toBeNull()
      expect(idsOf(await claimBy(opened.storage, 'a', 1))).toEqual(['wr-2'])
      const claimed = await claimBy(opened.storage, 'a')
      expect(claimed).toEqual([
        writeOf('wr-1', {
          status: 'executing',
          phase: 'capturing',
          owner: 'a',
          attempts: 1,
          lease_ms: newYear + 100,
        }),
      ])
      expect(await writes.nextDue(['mail'])).toBe(newYear + 1)
      expect(await (await opened.reopen()).writes.find('wr-1')).toEqual(claimed[0])
    })

    test('gives each write to one of many claimers', async () => {
      await using opened = await open()
      const { storage } = opened
      for (let n = 0; n < 40; n += 1) await storage.writes.insert(writeOf(`wr-${100 + n}`), [])
      const owners = Array.from({ length: 8 }, (_, n) => `node-${n}`)
      const won = (await Promise.all(owners.map((owner) => claimBy(storage, owner, 7)))).flat()
      while (won.length < 40) {
        const more = await claimBy(storage, 'late')
        expect(more.length).toBeGreaterThan(0)
        won.push(...more)
      }
      expect(new Set(idsOf(won)).size).toBe(40)
      expect(won.every(({ attempts }) => attempts === 1)).toBe(true)
    })

    test('are cancelled or executed, never both', async () => {
      await using opened = await open()
      const { storage } = opened
      for (let n = 0; n < 30; n += 1) {
        const write = writeOf(`wr-${100 + n}`)
        await storage.writes.insert(write, [])
        const cancelled = storage.writes.replace(write, { ...write, status: 'cancelled' })
        const [won, claimed] = await Promise.all(
          n % 2 === 0
            ? [cancelled, claimBy(storage, 'a')]
            : [cancelled, storage.transaction((tx) => claimBy(tx, 'a'))],
        )
        expect(Number(won) + claimed.length).toBe(1)
        const status = won ? 'cancelled' : 'executing'
        expect(await storage.writes.find(write.id)).toMatchObject({ status })
        if (claimed[0])
          await storage.writes.replace(claimed[0], { ...claimed[0], status: 'executed' })
      }
    })

    test('are changed only by who knows how they stand, and keep what they are about', async () => {
      await using opened = await open()
      const { writes } = opened.storage
      await writes.insert(writeOf('wr-1'), [])
      const [held] = (await claimBy(opened.storage, 'a')) as [StoredWrite]
      const next = {
        ...held,
        phase: 'sending',
        arguments_json: 'x',
        agent: 'x',
        due_ms: 7,
        result_json: '{}',
      } as const
      for (const other of [
        { owner: 'b' },
        { attempts: 2 },
        { phase: 'sending' as const },
        { phase: null },
        { status: 'buffered' as const },
        { dead: true },
      ])
        expect(await writes.replace({ ...held, ...other }, next)).toBe(false)
      expect(await writes.replace(held, next)).toBe(true)
      expect(await writes.replace(held, next)).toBe(false)
      const { arguments_json, agent } = held
      expect(await writes.find('wr-1')).toEqual({ ...next, arguments_json, agent })
    })

    test('are lost when their lease ends or their owner says so', async () => {
      await using opened = await open()
      const { writes } = opened.storage
      await writes.insert(writeOf('wr-1'), [])
      await claimBy(opened.storage, 'a')
      const lostTo = async (nowMs: number, owner?: string) =>
        idsOf(await writes.listLost({ nowMs, limit: 9, ...(owner ? { owner } : {}) }))
      expect(await lostTo(newYear + 99)).toEqual([])
      expect(await lostTo(newYear + 99, 'b')).toEqual([])
      expect(await lostTo(newYear, 'a')).toEqual(['wr-1'])
      expect(await lostTo(newYear + 100)).toEqual(['wr-1'])
    })

    test('are listed and counted: pending ones by their time, all of them newest first', async () => {
      await using opened = await open()
      const { writes } = opened.storage
      const given = [
        writeOf('wr-1', { buffered_ms: newYear + 1, due_ms: newYear + 9 }),
        writeOf('wr-2', { buffered_ms: newYear + 2, due_ms: newYear + 3, agent: 'other' }),
        writeOf('wr-3', { buffered_ms: newYear + 3, status: 'executed' }),
        writeOf('wr-4', { buffered_ms: newYear + 4, status: 'failed', dead: true }),
        writeOf('wr-5', { service: 'calendar', status: 'executing', phase: 'capturing' }),
      ]
      for (const write of given) await writes.insert(write, [])
      const statuses = ['buffered', 'executing'] as const
      const pending = await writes.list({ statuses, ...page })
      expect(idsOf(pending.writes)).toEqual(['wr-5', 'wr-2', 'wr-1'])
      expect(pending.total).toBe(3)
      expect(idsOf((await writes.list(page)).writes)).toEqual([
        ...['wr-4', 'wr-3', 'wr-2', 'wr-1', 'wr-5'],
      ])
      expect(idsOf((await writes.list({ dead: true, ...page })).writes)).toEqual(['wr-4'])
      expect(idsOf((await writes.list({ agent: 'other', ...page })).writes)).toEqual(['wr-2'])
      const period = { since_ms: newYear + 2, until_ms: newYear + 3 }
      expect(idsOf((await writes.list({ ...period, ...page })).writes)).toEqual(['wr-3', 'wr-2'])
      expect(await writes.list({ service: 'mail', limit: 1, offset: 1 })).toMatchObject({
        writes: [{ id: 'wr-3' }],
        total: 4,
      })
      expect(Object.fromEntries(await writes.counts())).toEqual({
        mail: { buffered: 2, dead: 1 },
        calendar: { buffered: 1, dead: 0 },
      })
      expect(idsOf(await writes.listUnsent({ service: 'mail' }))).toEqual(['wr-2', 'wr-1'])
      expect(idsOf(await writes.listUnsent({ agent: 'mailbot' }))).toEqual(['wr-5', 'wr-1'])
      const begun = (await writes.find('wr-5')) as StoredWrite
      await writes.replace(begun, { ...begun, phase: 'sending' })
      expect(idsOf(await writes.listUnsent({ agent: 'mailbot' }))).toEqual(['wr-1'])
    })

    test('that ended are pruned, but for those that wait for a person', async () => {
      await using opened = await open()
      const { writes, rollbacks } = opened.storage
      const files = [{ name: 'a', content_type: 'text/plain', bytes: new Uint8Array(3) }]
      const ended = { status: 'executed', finished_ms: newYear } as const
      await writes.insert(writeOf('wr-1', ended), files)
      await writes.insert(writeOf('wr-2', { ...ended, finished_ms: newYear + 5 }), files)
      await writes.insert(writeOf('wr-3', { ...ended, status: 'failed', dead: true }), files)
      await writes.insert(writeOf('wr-4'), files)
      for (const id of ['wr-1', 'wr-2', 'wr-3']) await rollbacks.putCapture(id, id)
      await writes.prune(newYear + 1)
      expect(await writes.find('wr-1')).toBeNull()
      expect(await rollbacks.capture('wr-1')).toBeNull()
      expect(await rollbacks.capture('wr-2')).toBe('wr-2')
      expect(await writes.files('wr-2')).toEqual([])
      expect(await writes.files('wr-3')).toEqual(files)
      expect(await writes.files('wr-4')).toEqual(files)
      expect((await writes.list(page)).total).toBe(3)
    })
  })

  describe('rollback points', () => {
    const pointOf = (id: string, over: Partial<StoredRollback> = {}): StoredRollback => ({
      id,
      write_id: `write of ${id}`,
      service: 'mail',
      operation: 'move',
      agent: 'mailbot',
      status: 'ready',
      created_ms: newYear,
      expires_ms: newYear + 100,
      owner: null,
      lease_ms: null,
      error_json: null,
      differences: [],
      rolled_back_ms: null,
      rolled_back_by: null,
      ...over,
    })

    test('come back exactly as they were stored, one for each write', async () => {
      await using opened = await open()
      const point = pointOf('rb-2', {
        write_id: 'wr-1',
        agent: awkwardText,
        error_json: awkwardText,
        differences: [awkwardText],
        rolled_back_by: awkwardText,
      })
      await opened.storage.rollbacks.put(pointOf('rb-1', { write_id: 'wr-1' }))
      await opened.storage.rollbacks.put(point)
      await opened.storage.rollbacks.putCapture('wr-1', 'first')
      await opened.storage.rollbacks.putCapture('wr-1', awkwardText)
      const { rollbacks } = await opened.reopen()
      expect(await rollbacks.find('rb-2')).toEqual(point)
      expect(await rollbacks.find('rb-1')).toBeNull()
      expect(await rollbacks.ofWrite('wr-1')).toEqual(point)
      expect(await rollbacks.ofWrites(['wr-1', 'wr-2'])).toEqual([point])
      expect(await rollbacks.ofWrites([])).toEqual([])
      expect(await rollbacks.capture('wr-1')).toBe(awkwardText)
      expect(await rollbacks.capture('wr-2')).toBeNull()
      await rollbacks.removeOfWrite('wr-1')
      expect(await rollbacks.ofWrite('wr-1')).toBeNull()
    })

    test('are taken by one of many, and lost with their lease', async () => {
      await using opened = await open()
      const { rollbacks } = opened.storage
      const ready = pointOf('rb-1')
      await rollbacks.put(ready)
      const takers = ['a', 'b', 'c'].map((owner) =>
        rollbacks.replace(ready, { ...ready, status: 'rolling_back', owner, lease_ms: 50 }),
      )
      expect((await Promise.all(takers)).filter(Boolean)).toHaveLength(1)
      expect(await rollbacks.listLost({ nowMs: 49 })).toEqual([])
      expect(idsOf(await rollbacks.listLost({ nowMs: 50 }))).toEqual(['rb-1'])
      const held = (await rollbacks.find('rb-1')) as StoredRollback
      expect(idsOf(await rollbacks.listLost({ nowMs: 0, owner: held.owner ?? '' }))).toHaveLength(1)
      const done = { ...held, status: 'rolled_back', owner: null, agent: 'x' } as const
      expect(await rollbacks.replace({ ...held, owner: 'z' }, done)).toBe(false)
      expect(await rollbacks.replace(held, done)).toBe(true)
      expect(await rollbacks.find('rb-1')).toEqual({ ...done, agent: 'mailbot' })
    })

    test('are listed newest first without those of writes that did not happen yet, and expire', async () => {
      await using opened = await open()
      const { rollbacks } = opened.storage
      await rollbacks.put(pointOf('rb-1', { created_ms: newYear + 1 }))
      await rollbacks.put(pointOf('rb-2', { created_ms: newYear + 2, expires_ms: newYear + 200 }))
      await rollbacks.put(pointOf('rb-3', { status: 'pending' }))
      await rollbacks.put(pointOf('rb-4', { service: 'calendar', status: 'rolled_back' }))
      for (const n of [1, 2, 3]) await rollbacks.putCapture(`write of rb-${n}`, String(n))
      expect(idsOf((await rollbacks.list(page)).points)).toEqual(['rb-2', 'rb-1', 'rb-4'])
      const period = { since_ms: newYear + 1, until_ms: newYear + 1 }
      expect(idsOf((await rollbacks.list({ ...period, ...page })).points)).toEqual(['rb-1'])
      expect(await rollbacks.list({ statuses: ['ready'], limit: 1, offset: 1 })).toMatchObject({
        points: [{ id: 'rb-1' }],
        total: 2,
      })
      expect(Object.fromEntries(await rollbacks.counts())).toEqual({ mail: 2 })
      await rollbacks.expire(newYear + 100)
      expect(await rollbacks.find('rb-1')).toMatchObject({ status: 'expired' })
      expect(await rollbacks.find('rb-4')).toMatchObject({ status: 'rolled_back' })
      expect(await rollbacks.capture('write of rb-1')).toBeNull()
      expect(await rollbacks.capture('write of rb-2')).toBe('2')
      expect(Object.fromEntries(await rollbacks.counts())).toEqual({ mail: 1 })
      await opened.storage.writes.insert(writeOf('wr-1'), [])
      await rollbacks.putCapture('wr-1', 'of a write that cannot be undone')
      await rollbacks.removeOfService('mail')
      expect(idsOf((await rollbacks.list(page)).points)).toEqual(['rb-4'])
      expect(await rollbacks.capture('write of rb-2')).toBeNull()
      expect(await rollbacks.capture('wr-1')).toBeNull()
    })
  })
}
