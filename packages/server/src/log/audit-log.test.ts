import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { AuditEntry } from '@gatehouse/contract'
import { expect, test, vi } from 'vitest'
import { openBench } from '../../test/kit/log-bench.ts'
import { draft, everything, textOf } from './testing.ts'

test('gives back the entry as it is stored, with the published chain hash', async () => {
  await using bench = await openBench()
  const first = await bench.log.append(draft())
  const second = await bench.log.append(draft({ agent: 'second' }))
  expect(AuditEntry.parse(first)).toEqual(first)
  expect([first.seq, second.seq]).toEqual([0, 1])
  let prev = Buffer.alloc(32)
  for (const row of bench.entries()) {
    const body = Buffer.from(row.body)
    const place = Buffer.alloc(12)
    place.writeBigUInt64BE(BigInt(row.seq))
    place.writeUInt32BE(body.length, 8)
    prev = createHash('sha256')
      .update(Buffer.concat([Buffer.from('gatehouse-audit-v1\0'), prev, place, body]))
      .digest()
    expect(row.hash).toBe(prev.toString('hex'))
  }
  expect(second.hash).toBe(`sha256:${prev.toString('hex')}`)
  const page = await bench.log.query(everything)
  expect(page.entries).toEqual([second, first])
  expect(page).toMatchObject({ integrity: 'verified', total: 2, verified_through: 1 })
  expect(await bench.log.find(first.id)).toEqual(first)
})

test('groups what one turn appends into commits of at most 64, in order', async () => {
  await using bench = await openBench()
  const entries = await Promise.all(
    Array.from({ length: 150 }, (_, i) => bench.log.append(draft({ request_id: `req-${i}` }))),
  )
  expect(entries.map((e) => e.seq)).toEqual(entries.map((_, i) => i))
  expect(entries.map((e) => e.request_id)).toEqual(entries.map((_, i) => `req-${i}`))
  expect(bench.store.groups.map((g) => g.rows.length)).toEqual([64, 64, 22])
})

test('commits stamps and counts with their entries', async () => {
  await using bench = await openBench()
  const session_id = 'sess-00000000000000000000000000'
  const stamp = { key: 'k', at_ms: 1, window_ms: 60_000 }
  await Promise.all([
    bench.log.append(draft({ session_id }), { counts: true, stamps: [stamp] }),
    bench.log.append(draft({ session_id }), { counts: true }),
    bench.log.append(draft({ session_id })),
  ])
  const [group] = bench.store.groups
  expect(group?.stamps).toEqual([stamp])
  expect([...(group?.agentCounts ?? [])]).toEqual([['mailbot', 2]])
  expect([...(group?.sessionCounts ?? [])]).toEqual([[session_id, 2]])
  expect(group?.clockMs).toBe(bench.clock.ms)
})

test('commits the work of a transaction and its entries together, in its place', async () => {
  await using bench = await openBench()
  const before = bench.log.append(draft({ request_id: 'before' }))
  const inside = bench.log.transaction(async (tx) => {
    await tx.meta.set('policy', 'v2')
    return tx.append(draft({ kind: 'act', request_id: 'inside' }))
  })
  const after = bench.log.append(draft({ request_id: 'after' }))
  const id = await inside
  expect([(await before).seq, (await bench.log.find(id))?.seq, (await after).seq]).toEqual([
    0, 1, 2,
  ])
  expect(await bench.store.storage.meta.get('policy')).toBe('v2')
  expect(await bench.log.verify()).toMatchObject({ integrity: 'verified' })
})

test('refuses an entry for a transaction that is over', async () => {
  await using bench = await openBench()
  const late = await bench.log.transaction(async (tx) => tx.append)
  expect(() => late(draft())).toThrow('is over')
})

test('leaves nothing of a transaction whose work throws, and tells the caller why', async () => {
  await using bench = await openBench()
  const failed = bench.log.transaction(async (tx) => {
    await tx.meta.set('policy', 'v2')
    tx.append(draft())
    throw new Error('not like this')
  })
  await expect(failed).rejects.toThrow('not like this')
  expect(bench.entries()).toEqual([])
  expect(await bench.store.storage.meta.get('policy')).toBeNull()
  expect((await bench.log.append(draft())).seq).toBe(0)
  expect(bench.log.health()).toEqual({ status: 'healthy', entries: 1 })
})

/** Makes every sync fail until it is disposed. */
const brokenDisk = (): Disposable & { readonly cause: Error } => {
  const cause = new Error('EIO')
  const spy = vi.spyOn(fs, 'fdatasyncSync').mockImplementation(() => {
    throw cause
  })
  return { cause, [Symbol.dispose]: () => spy.mockRestore() }
}

test('refuses everyone while the disk fails, and goes on by itself afterwards', async () => {
  await using bench = await openBench()
  await bench.fill(3)
  {
    using disk = brokenDisk()
    const outcomes = await Promise.allSettled([
      bench.log.append(draft()),
      bench.log.append(draft()),
      bench.log.transaction(async (tx) => tx.append(draft())),
    ])
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { type: 'AuditUnavailable' } })
    }
    expect(outcomes[0]).toMatchObject({ reason: { cause: disk.cause } })
    expect(bench.log.health()).toMatchObject({ status: 'unhealthy', entries: 3 })
  }
  expect((await bench.log.append(draft())).seq).toBe(3)
  expect(bench.log.health()).toEqual({ status: 'healthy', entries: 4 })
  expect(await bench.log.verify()).toMatchObject({ integrity: 'verified', verified_through: 3 })
})

test('is healthy again within a second of the cause being gone, also when nobody calls', async () => {
  await using bench = await openBench()
  {
    using _disk = brokenDisk()
    await expect(bench.log.append(draft())).rejects.toMatchObject({ type: 'AuditUnavailable' })
  }
  bench.clock.move(1_000)
  await expect.poll(() => bench.log.health().status).toBe('healthy')
})

test('answers nobody while the store cannot take what follows from an entry, and loses nothing of it', async () => {
  await using bench = await openBench()
  await bench.fill(2)
  bench.store.before = () => {
    throw new Error('connection lost')
  }
  const refused = bench.log.append(draft({ agent: 'late' }), { counts: true })
  await expect(refused).rejects.toMatchObject({ type: 'AuditUnavailable' })
  bench.store.before = () => undefined
  expect((await bench.log.append(draft())).seq).toBe(3)
  const page = await bench.log.query(everything)
  expect(page).toMatchObject({ integrity: 'verified', verified_through: 3, total: 4 })
  expect(bench.store.groups.at(-2)?.agentCounts).toEqual(new Map([['late', 1]]))
})

test('a group that the store committed and the log could not take is in it afterwards', async () => {
  await using bench = await openBench()
  await bench.fill(2)
  {
    using _disk = brokenDisk()
    const changing = bench.log.transaction(async (tx) => {
      await tx.meta.set('policy', 'v2')
      return tx.append(draft({ kind: 'act', request_id: 'inside' }))
    })
    await expect(changing).rejects.toMatchObject({ type: 'AuditUnavailable' })
  }
  expect((await bench.log.append(draft())).seq).toBe(3)
  expect(await bench.store.storage.meta.get('policy')).toBe('v2')
  const { entries } = await bench.log.query(everything)
  expect(entries[1]).toMatchObject({ seq: 2, request_id: 'inside' })
  expect(await bench.log.verify()).toMatchObject({ integrity: 'verified', verified_through: 3 })
})

test('refuses one draft that JSON cannot carry, and records its neighbours', async () => {
  await using bench = await openBench()
  const bad = draft({ arguments: { name: '\ud800' } })
  expect(() => bench.log.assertRecordable(bad)).toThrow('lone surrogate')
  bench.log.assertRecordable(draft())
  const [one, two, three] = await Promise.allSettled([
    bench.log.append(draft()),
    bench.log.append(bad),
    bench.log.append(draft()),
  ])
  expect(one.status).toBe('fulfilled')
  expect(two).toMatchObject({ status: 'rejected', reason: { type: 'NotRecordable' } })
  expect(three).toMatchObject({ status: 'fulfilled', value: { seq: 1 } })
})

test('L01: newlines, forged lines, escapes and separators stay inside one entry', async () => {
  await using bench = await openBench()
  const hostile = 'a\n{"seq":9}\u001b[2J\u2028\u202e\r\n'
  const entry = await bench.log.append(
    draft({
      agent: hostile,
      capability: hostile,
      arguments: { [hostile]: hostile },
      actor: hostile,
      request_id: hostile,
      error: { type: hostile, message: hostile },
      detail: { [hostile]: hostile },
    }),
  )
  expect(bench.entries()).toHaveLength(1)
  expect(bench.entries()[0]?.body).not.toMatch(/[\n\r\u001b]/)
  const page = await bench.log.query(everything)
  expect(page.entries).toEqual([entry])
  expect(page.integrity).toBe('verified')
  const lines = (await textOf(bench.log.export())).split('\n')
  expect(lines.filter((line) => line.includes('"body"'))).toHaveLength(1)
})

test('stores named arguments as a keyed hash, the same for the same value', async () => {
  await using bench = await openBench()
  const write = () =>
    bench.log.append(draft({ arguments: { pin: 'tuesday', path: 'a' }, redact: ['pin'] }))
  const [one, two] = [await write(), await write()]
  expect(one.arguments['pin']).toMatch(/^hmac-sha256:[0-9a-f]{64}$/)
  expect(one.arguments['pin']).toBe(two.arguments['pin'])
  expect(one.arguments['path']).toBe('a')
  expect(bench.entries()[0]?.body).not.toContain('tuesday')
})

test('gives calls that a crash cut off their outcome at the next start, once', async () => {
  await using bench = await openBench()
  const intent = await bench.log.append(draft({ result: 'pending', capability: 'process.run' }))
  const done = await bench.log.append(draft({ result: 'pending' }))
  await bench.log.append(draft({ intent_id: done.id }))
  await bench.log.append(
    draft({ result: 'pending', approval_id: 'appr-00000000000000000000000000' }),
  )
  await bench.reopen()
  expect(bench.log.closedIntents).toBe(1)
  const [outcome] = (await bench.log.query(everything)).entries
  expect(outcome).toMatchObject({
    result: 'error',
    capability: 'process.run',
    intent_id: intent.id,
    error: { type: 'OutcomeUnknown' },
  })
  await bench.reopen()
  expect(bench.log.closedIntents).toBe(0)
})

test('keeps the signing key to its owner and refuses one that others can read', async () => {
  await using bench = await openBench()
  const file = path.join(bench.directory, 'audit.key')
  expect(fs.statSync(file).mode & 0o777).toBe(0o400)
  fs.chmodSync(file, 0o440)
  await expect(bench.reopen()).rejects.toMatchObject({ type: 'InvalidConfiguration' })
  fs.chmodSync(file, 0o400)
  await bench.reopen()
})
