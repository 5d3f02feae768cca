import { startPostgres } from '@gatehouse/testkit'
import { hasProgram, programPath } from '@gatehouse/testkit/programs'
import { afterAll, describe, expect, test } from 'vitest'
import { openPostgres } from './open.ts'
import { openPostgresCopies } from './open-copies.ts'
import { createDatabase } from './testing.ts'

const server = hasProgram('pgbouncer') ? await startPostgres() : null
const started = server && 'url' in server ? server : null
const pooler = await started?.startPooler(programPath('pgbouncer'))
afterAll(async () => {
  await pooler?.stop()
  await started?.stop()
})

describe.skipIf(!pooler)('PostgreSQL behind PgBouncer in transaction mode', () => {
  const open = async () => {
    const database = await createDatabase(started?.url ?? '')
    const pooled = new URL(database.url)
    pooled.port = new URL(pooler?.url ?? '').port
    return { ...database, pooled: pooled.href }
  }

  test('is refused without an address of the database itself', async () => {
    await using database = await open()
    await expect(openPostgres({ url: database.pooled })).rejects.toMatchObject({
      type: 'StorageUnavailable',
      message: expect.stringContaining('a pooler in transaction mode') as string,
      recovery: [{ action: 'database_direct_url' }],
    })
    await using _itself = await openPostgres({ url: database.url })
  })

  test('takes limits, records groups, tells of changes and reads copies with one', async () => {
    await using database = await open()
    const urls = { url: database.pooled, directUrl: database.url }
    await using one = await openPostgres(urls)
    await using two = await openPostgres(urls)
    const heard = new Promise<void>((resolve) => void two.onForeignChange('jobs', resolve))
    const key = { key: 'k', limit: 40, window_ms: 60_000 }
    const work = Array.from({ length: 30 }, async (_, seq) => {
      const store = seq % 2 ? one : two
      const verdict = await store.limits.take([key], 1_000)
      await store.record({
        ...{ chain: `node-${seq % 2}`, stamps: [], clockMs: 1_000 },
        rows: [{ seq: (seq - (seq % 2)) / 2, hash: 'h', body: '{}' }],
        agentCounts: new Map([['mailbot', 1]]),
        sessionCounts: new Map(),
      })
      await store.transaction((tx) => tx.meta.set(`key-${seq}`, 'value'))
      return verdict.kind
    })
    expect(new Set(await Promise.all(work))).toEqual(new Set(['allowed']))
    await one.jobs.cancelOf('subject', 1_000)
    await heard
    expect(await two.limits.used(key, 1_000)).toBe(30)
    expect(await two.copies.ends()).toEqual([
      { chain: 'node-0', next: 15 },
      { chain: 'node-1', next: 15 },
    ])
    await using copies = openPostgresCopies(database.url)
    expect(await copies.read('node-0', 0, 100)).toHaveLength(15)
    await one.meta.set('after', 'still written')
    expect(await two.meta.get('after')).toBe('still written')
  })
})
