import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { CommitGroup } from '../../ports/audit-rows.ts'
import { FifoMutex } from '../mutex.ts'
import { SqliteConnection } from './adapter.ts'
import { GroupBuffer } from './group-buffer.ts'
import { openSqlite } from './open.ts'

/** A connection whose commits fail while `full` says so. */
class FillingDisk extends SqliteConnection {
  full = false
  commits = 0

  override run(...[text, values]: Parameters<SqliteConnection['run']>) {
    if (text === 'commit') {
      this.commits += 1
      if (this.full) throw new Error('the disk is full')
    }
    return super.run(text, values)
  }
}

const group = (seq: number): CommitGroup => ({
  chain: 'main',
  rows: [{ seq, hash: '', body: '' }],
  stamps: [],
  agentCounts: new Map(),
  sessionCounts: new Map(),
  clockMs: seq + 1,
})

test('what a full disk did not take is kept, tried again by a stop at once, and by readers seldom', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-buffer-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'gatehouse.db')
  await (await openSqlite({ file }))[Symbol.asyncDispose]()
  using disk = new FillingDisk(file, { readOnly: false })
  const buffer = new GroupBuffer(disk, new FifoMutex())
  onTestFinished(() => buffer.end())
  const counted = () => disk.value('select counted from audit_progress')
  buffer.note(group(0))
  disk.full = true
  expect(() => buffer.flush()).toThrow('the disk is full')
  buffer.note(group(1))
  await buffer.flushForReader()
  await buffer.flushForReader()
  expect(disk.commits).toBe(1)
  disk.full = false
  await buffer.flush()
  expect([counted(), disk.value('select ms from service_clock')]).toEqual([2, 2])
})
