import type { FakeConnection } from '@gatehouse/testkit/fake-service'
import { expect, test } from 'vitest'
import type { ServiceAdapter } from '../../src/ports/service-adapter.ts'
import type { StoredRollback } from '../../src/ports/writes.ts'
import { openProxyKit } from './kit.ts'

const page = { limit: 100, offset: 0 }

test('an executed write is undone exactly, once, and the preview changed nothing', async () => {
  await using proxy = await openProxyKit()
  const { kit, server } = proxy
  server.put('things', 'a', 'before')
  const { write_id } = await proxy.buffer('put', { id: 'a', value: 'after' })
  const done = await proxy.finalized(write_id, 'executed')
  expect(done).toMatchObject({
    rollback_status: 'ready',
    rollback_id: expect.stringMatching(/^rb-/),
  })
  const rollback_id = String(done.rollback_id)
  const preview = await kit.app.previewRollback(kit.operator(), { rollback_id })
  expect(preview).toMatchObject({ possible: true, steps: ['Put a back'], differences: [] })
  expect(server.values()).toEqual({ '["things","a"]': 'after' })
  const point = await kit.app.rollBack(kit.operator(), { rollback_id })
  expect(point).toMatchObject({ status: 'rolled_back', rolled_back_by: 'user:ana' })
  expect(server.values()).toEqual({ '["things","a"]': 'before' })
  for (const again of [
    kit.app.rollBack(kit.operator(), { rollback_id }),
    kit.app.previewRollback(kit.operator(), { rollback_id }),
  ])
    await expect(again).rejects.toMatchObject({ type: 'RollbackNotReady' })
  expect(await proxy.acts('rollback.')).toEqual(['rollback.started'])
  expect(await proxy.acts('write.rolled_back')).toHaveLength(1)
  expect(await kit.app.listRollbacks(kit.operator(), page)).toMatchObject({
    rollbacks: [{ id: rollback_id, status: 'rolled_back' }],
    total: 1,
  })
  expect((await proxy.service()).rollback_points).toBe(0)
})

test('what was new is gone again, what was removed is back', async () => {
  await using proxy = await openProxyKit()
  const { kit, server } = proxy
  server.put('things', 'old', 'precious')
  const made = await proxy.buffer('put', { id: 'new', value: 'x' })
  const removed = await proxy.buffer('remove', { id: 'old' })
  await proxy.finalized(removed.write_id, 'executed')
  await proxy.finalized(made.write_id, 'executed', 0)
  expect(server.values()).toEqual({ '["things","new"]': 'x' })
  for (const { write_id } of [made, removed])
    expect(await kit.invoke('alpha', 'writes.rollback', { write_id })).toMatchObject({
      kind: 'succeeded',
      data: { write_id, status: 'executed', rollback_status: 'rolled_back' },
    })
  expect(server.values()).toEqual({ '["things","old"]': 'precious' })
})

test('what others changed since is left alone, and the difference is told (X02)', async () => {
  await using proxy = await openProxyKit()
  const { kit, server } = proxy
  const { write_id } = await proxy.buffer('put', { id: 'a', value: 'mine' })
  await proxy.finalized(write_id, 'executed')
  server.put('things', 'a', 'theirs')
  const refused = await kit.invoke('alpha', 'writes.rollback', { write_id })
  expect(refused).toMatchObject({ kind: 'failed', error: { type: 'RollbackRefused' } })
  expect(JSON.stringify(refused)).toContain('a now holds theirs')
  expect(server.values()).toEqual({ '["things","a"]': 'theirs' })
  const record = await proxy.write(write_id)
  expect(record.rollback_status).toBe('refused')
  // Once the way is clear a person may try again.
  const rollback_id = String(record.rollback_id)
  expect((await kit.app.previewRollback(kit.operator(), { rollback_id })).possible).toBe(false)
  server.put('things', 'a', 'mine', write_id)
  expect(await kit.app.rollBack(kit.operator(), { rollback_id })).toMatchObject({
    status: 'rolled_back',
  })
  expect(server.values()).toEqual({})
})

test('a send says that it cannot be undone, before and after', async () => {
  await using proxy = await openProxyKit()
  const { kit } = proxy
  const ticket = await proxy.buffer('send', { text: 'x' })
  expect(ticket).toMatchObject({ undo_until: null, undo_note: expect.stringContaining('cannot') })
  const early = await kit.invoke('alpha', 'writes.rollback', { write_id: ticket.write_id })
  expect(JSON.stringify(early)).toContain('writes.cancel')
  await proxy.finalized(ticket.write_id, 'executed')
  expect(await kit.invoke('alpha', 'writes.rollback', { write_id: ticket.write_id })).toMatchObject(
    {
      kind: 'failed',
      error: { type: 'NotUndoable', message: expect.stringContaining('cannot be called back') },
    },
  )
})

test('a point is kept as long as configured, and what stood before goes with it', async () => {
  await using proxy = await openProxyKit({ settings: { 'proxy.rollback_kept': 3_600_000 } })
  const { kit } = proxy
  const { write_id } = await proxy.buffer('put', { id: 'a', value: 'x' })
  const { undo_until } = await proxy.finalized(write_id, 'executed')
  expect(Date.parse(undo_until ?? '')).toBe(kit.clock.wall() + 3_600_000)
  kit.clock.move(3_600_000)
  await proxy.until(async () => {
    kit.clock.move(60_000)
    return (await proxy.write(write_id)).rollback_status === 'expired'
  })
  expect(await kit.storage.rollbacks.capture(write_id)).toBeNull()
  expect((await proxy.write(write_id)).undo_until).toBeNull()
  expect(await kit.invoke('alpha', 'writes.rollback', { write_id })).toMatchObject({
    error: { type: 'RollbackNotReady' },
  })
})

test('of several who roll back at once one does', async () => {
  await using proxy = await openProxyKit()
  const { kit, server } = proxy
  const { write_id } = await proxy.buffer('put', { id: 'a', value: 'x' })
  const { rollback_id } = await proxy.finalized(write_id, 'executed')
  const before = server.requests
  const tries = await Promise.allSettled(
    Array.from({ length: 5 }, () =>
      kit.app.rollBack(kit.operator(), { rollback_id: String(rollback_id) }),
    ),
  )
  expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(server.values()).toEqual({})
  expect([...server.items.values()].length + server.requests - before).toBeGreaterThan(0)
})

test('one that a crash or an outage cut off is gone on with until it ends', async () => {
  await using proxy = await openProxyKit()
  const { kit, server } = proxy
  server.put('things', 'a', 'before')
  const { write_id } = await proxy.buffer('put', { id: 'a', value: 'after' })
  const { rollback_id } = await proxy.finalized(write_id, 'executed')
  // The answer is lost after the service has done it: it is looked at again, and found done.
  server.fault = ({ kind }) => (kind === 'put' ? 'cut' : null)
  await expect(
    kit.app.rollBack(kit.operator(), { rollback_id: String(rollback_id) }),
  ).rejects.toMatchObject({ type: 'ServiceUnavailable' })
  expect((await proxy.write(write_id)).rollback_status).toBe('rolling_back')
  server.fault = () => null
  await proxy.until(async () => {
    kit.clock.move(5_000)
    return (await proxy.write(write_id)).rollback_status === 'rolled_back'
  })
  expect(server.values()).toEqual({ '["things","a"]': 'before' })
  expect([...server.effects.keys()].filter((by) => by.startsWith('undo'))).toHaveLength(1)

  // A node that died in the middle: its lease ends, and another goes on.
  const second = await proxy.buffer('put', { id: 'b', value: 'x' })
  await proxy.finalized(second.write_id, 'executed')
  const point = (await kit.storage.rollbacks.ofWrite(second.write_id)) as StoredRollback
  const lost = {
    status: 'rolling_back',
    owner: 'gone',
    lease_ms: kit.clock.now() + 60_000,
  } as const
  await kit.storage.rollbacks.replace(point, { ...point, ...lost })
  await proxy.until(async () => {
    kit.clock.move(5_000)
    return (await proxy.write(second.write_id)).rollback_status === 'rolled_back'
  })
  expect(server.values()).toEqual({ '["things","a"]': 'before' })
})

test('a write that may have taken place can be undone by whoever looked', async () => {
  await using proxy = await openProxyKit()
  const { kit, server } = proxy
  server.put('things', 'a', 'before')
  const { write_id } = await proxy.buffer('put', { id: 'a', value: 'after' })
  let cut = true
  server.fault = ({ kind }) => {
    if (kind !== 'put' || !cut) return null
    cut = false
    // Write by somebody else after it, so that nobody can tell what became of it.
    queueMicrotask(() => server.put('things', 'a', 'theirs'))
    return 'cut'
  }
  const failed = await proxy.finalized(write_id, 'failed')
  expect(failed).toMatchObject({ error: { type: 'OutcomeUnknown' }, rollback_status: 'ready' })
  const rollback_id = String(failed.rollback_id)
  const preview = await kit.app.previewRollback(kit.operator(), { rollback_id })
  expect(preview).toMatchObject({ possible: false, differences: ['a now holds theirs'] })
})

test('a write that failed is not sent again while it is being undone', async () => {
  const retried: string[] = []
  let retry: (() => Promise<void>) | undefined
  await using proxy = await openProxyKit({
    adapter: (adapter): ServiceAdapter<FakeConnection> => ({
      ...adapter,
      operations: adapter.operations.map((operation) => ({
        ...operation,
        async undo(...given) {
          await retry?.()
          return operation.undo(...given)
        },
      })),
    }),
  })
  const { kit, server } = proxy
  const { write_id } = await proxy.buffer('put', { id: 'a', value: 'after' })
  let cut = true
  server.fault = ({ kind }) => {
    if (kind !== 'put' || !cut) return null
    cut = false
    queueMicrotask(() => server.put('things', 'a', 'theirs'))
    return 'cut'
  }
  const { rollback_id } = await proxy.finalized(write_id, 'failed')
  retry = async () => {
    const retrying = kit.app.retryWrite(kit.operator(), { write_id })
    retried.push(
      await retrying.then(
        ({ kind }) => kind,
        ({ message }: Error) => message,
      ),
    )
  }
  await expect(
    kit.app.rollBack(kit.operator(), { rollback_id: String(rollback_id) }),
  ).rejects.toMatchObject({ type: 'RollbackRefused' })
  const refused = `The rollback point ${rollback_id} is being rolled back.`
  expect(retried).toEqual([refused])
  expect(await proxy.write(write_id)).toMatchObject({ status: 'failed', dead_letter: true })
  await retry()
  expect(retried).toEqual([refused, 'changed'])
})
