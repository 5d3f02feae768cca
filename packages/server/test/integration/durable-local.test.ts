import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '@gatehouse/testkit'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { openAuditLog } from '../../src/log/audit-log.ts'
import { draft, HandClock, silent } from '../../src/log/testing.ts'
import { createIds } from '../../src/platform/ids.ts'
import type { Storage } from '../../src/ports/storage.ts'
import { openPostgres } from '../../src/storage/postgres/open.ts'

const server = await startPostgres()
const url = 'url' in server ? server.url : ''
afterAll(async () => {
  if ('stop' in server) await server.stop()
})

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-local-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A log that answers from its own disk, over a store that can be held up and broken. */
const openLog = async (directory: string, chain: string) => {
  const clock = new HandClock()
  const storage = await openPostgres({ url })
  const gate = { before: async () => {} }
  const slow: Storage = {
    ...storage,
    record: async (group) => {
      await gate.before()
      await storage.record(group)
    },
  }
  const parts = { storage: slow, directory, chain, ids: createIds(), clock, log: silent }
  const auditLog = await openAuditLog({ ...parts, durable: 'local', verifyEveryMs: 0 })
  return {
    auditLog,
    clock,
    gate,
    append: () => auditLog.append(draft(), { counts: true }),
    copied: async () => (await storage.copies.read(chain, 0, 100)).map(({ seq }) => seq),
    async [Symbol.asyncDispose]() {
      await auditLog[Symbol.asyncDispose]()
      await storage[Symbol.asyncDispose]()
    },
  }
}

describe.skipIf('missing' in server)('a log that is durable on the disk of its node', () => {
  test('answers while the database is slow, and copies everything in order afterwards', async () => {
    await using log = await openLog(newFolder(), 'slow')
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    log.gate.before = () => held
    for (let i = 0; i < 5; i += 1) await log.append()
    expect(await log.copied()).toEqual([])
    expect((await log.auditLog.query({ limit: 9, offset: 0 })).total).toBe(5)
    release()
    await expect.poll(log.copied).toEqual([0, 1, 2, 3, 4])
    expect(await log.auditLog.verify()).toMatchObject({ integrity: 'verified' })
  })

  test('answers while the database fails, says so, and catches up by itself', async () => {
    await using log = await openLog(newFolder(), 'broken')
    log.gate.before = () => Promise.reject(new Error('no connection'))
    for (let i = 0; i < 3; i += 1) await log.append()
    await expect
      .poll(() => log.auditLog.health())
      .toMatchObject({
        status: 'degraded',
        reason: expect.stringContaining('entries are not copied to the database') as string,
      })
    log.gate.before = async () => {}
    await log.append()
    log.clock.move(1_000)
    await expect.poll(log.copied).toEqual([0, 1, 2, 3])
    // Its commit is seen before it is heard of.
    await expect.poll(() => log.auditLog.health().status).toBe('healthy')
  })

  test('copies at the next start what it could not, and counts it once', async () => {
    const directory = newFolder()
    {
      await using log = await openLog(directory, 'stopped')
      await log.append()
      await expect.poll(log.copied).toEqual([0])
      log.gate.before = () => Promise.reject(new Error('no connection'))
      await log.append()
      await log.append()
    }
    await using log = await openLog(directory, 'stopped')
    expect(await log.copied()).toEqual([0, 1, 2])
    expect(await log.auditLog.verify()).toMatchObject({
      integrity: 'verified',
      verified_through: 2,
    })
  })
})
