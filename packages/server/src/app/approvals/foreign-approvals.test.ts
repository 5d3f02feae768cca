import { expect, onTestFinished, test } from 'vitest'
import { createClock } from '../../platform/clock.ts'
import type { StoredApproval } from '../../ports/approvals.ts'
import type { Storage } from '../../ports/storage.ts'
import { ApprovalSignals } from './approval-signals.ts'
import { ForeignApprovals } from './foreign-approvals.ts'

const log = { error: () => {}, warn: () => {} } as never

/** A store that other nodes write to, and the watcher of this one. */
const open = () => {
  const rows = new Map<string, StoredApproval>()
  const listeners = new Set<() => void>()
  const put = (id: string, change: Partial<StoredApproval>): StoredApproval => {
    const row = { id, status: 'pending', execution: 'none', ...rows.get(id), ...change }
    rows.set(id, row as StoredApproval)
    return row as StoredApproval
  }
  const changed = () => {
    for (const tell of listeners) tell()
  }
  const approvals = {
    find: async (id: string) => rows.get(id) ?? null,
    list: async ({ limit, offset }: { limit: number; offset: number }) => {
      const pending = [...rows.values()].filter(({ status }) => status === 'pending')
      return { approvals: pending.slice(offset, offset + limit), total: pending.length }
    },
  }
  const storage = {
    isNetworked: true,
    approvals,
    onForeignChange: (_kind: unknown, listener: () => void) => {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
  } as unknown as Storage
  const ending = new AbortController()
  const signals = new ApprovalSignals({ log, gates: null })
  const told: string[] = []
  signals.on(({ id, status }) => void told.push(`${id} ${status}`))
  const foreign = new ForeignApprovals({
    ...{ storage, log, signals, clock: createClock(0) },
    signal: ending.signal,
  })
  foreign.start()
  onTestFinished(async () => {
    ending.abort()
    await foreign.stopped()
  })
  return { put, changed, foreign, signals, told }
}

test('people who watch hear of a request of another node, and of each change of it, once', async () => {
  const { put, changed, foreign, told } = open()
  using _watch = foreign.watch()
  put('appr-1', {})
  changed()
  await expect.poll(() => told).toEqual(['appr-1 pending'])
  changed()
  put('appr-1', { status: 'approved', execution: 'running' })
  changed()
  await expect.poll(() => told).toEqual(['appr-1 pending', 'appr-1 approved'])
  put('appr-1', { execution: 'succeeded' })
  changed()
  await expect.poll(() => told).toEqual(['appr-1 pending', 'appr-1 approved', 'appr-1 approved'])
})

test('what this node told itself is not told again, and nobody is told who does not watch', async () => {
  const { put, changed, foreign, signals, told } = open()
  put('appr-1', {})
  changed()
  {
    using _watch = foreign.watch()
    signals.emit(put('appr-2', {}))
    changed()
    await expect.poll(() => told).toEqual(['appr-2 pending', 'appr-1 pending'])
  }
  put('appr-3', {})
  changed()
  // Whoever watches next begins anew: by then the page has read all of them.
  using _again = foreign.watch()
  changed()
  await expect
    .poll(() => told.slice(2).toSorted())
    .toEqual(['appr-1 pending', 'appr-2 pending', 'appr-3 pending'])
})

test('more requests than a page has are all told', async () => {
  const { put, changed, foreign, told } = open()
  using _watch = foreign.watch()
  for (let at = 0; at < 2_500; at += 1) put(`appr-${at}`, {})
  changed()
  await expect.poll(() => new Set(told).size).toBe(2_500)
})
