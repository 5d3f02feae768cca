import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openSqlite } from './open.ts'

/** A thread that answers each job as SQLite does on a full disk, and counts them in its answers. */
const program = `import { parentPort } from 'node:worker_threads'
  let jobs = 0
  parentPort.on('message', () => {
    jobs += 1
    parentPort.postMessage({ message: 'job ' + jobs, errcode: 13 })
  })`

test('what can be read without the last entries is read while the index cannot be written', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-behind-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const indexer = new URL(`data:text/javascript,${encodeURIComponent(program)}`)
  const storage = await openSqlite({ file: join(folder, 'gatehouse.db'), indexer })
  storage.behind?.note({ file: join(folder, 'none'), at: 0, bytes: 1 }, 1)
  const full = { type: 'StorageUnavailable', message: expect.stringContaining('the disk is full') }
  await expect(storage.auditIndex.query({ limit: 1, offset: 0 })).rejects.toMatchObject(full)
  expect(await storage.auditIndex.counts('2026-01-01T00:00:00.000Z')).toMatchObject({ entries: 0 })
  expect(await storage.agents.list()).toEqual([])
  // Not one attempt for each of them.
  await expect(storage.auditIndex.query({ limit: 1, offset: 0 })).rejects.toMatchObject({
    cause: { message: 'job 1' },
  })
  await expect(storage[Symbol.asyncDispose]()).rejects.toMatchObject(full)
})
