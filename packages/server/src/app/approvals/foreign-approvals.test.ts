import { expect, onTestFinished, test } from 'vitest'
import { HandClock } from '../../log/testing.ts'
import type { ApprovalFilter, StoredApproval } from '../../ports/approvals.ts'
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
  /** How often the store was asked for a list, and for which requests. */
  const asked = { lists: 0, ids: [] as string[] }
  const approvals = {
    find: async (id: string) => {
      asked.ids.push(id)
      return rows.get(id) ?? null
    },
    list: async ({ status: of, limit, offset }: ApprovalFilter) => {
      asked.lists += 1
      const pending = [...rows.values()].filter(({ status }) => status === of)
      return { approvals: pending.slice(offset, offset + limit), total: pending.length }
    },
  }
  const storage = {
    isNetworked: true,
    approvals,
    onForeignChange: (kind: string, listener: () => void) => {
      if (kind === 'approvals') listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
  } as unknown as Storage
  const ending = new AbortController()
  const clock = new HandClock()
  const signals = new ApprovalSignals({ log, gates: null })
  const told: string[] = []
  signals.on(({ id, status }) => void told.push(`${id} ${status}`))
  const foreign = new ForeignApprovals({
    ...{ storage, log, signals, clock },
    signal: ending.signal,
  })
  foreign.start()
  onTestFinished(async () => {
    ending.abort()
    await foreign.stopped()
  })
  return { put, changed, foreign, signals, told, asked, clock, ending }
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

test('the store is asked while somebody watches, when another node changed something or two seconds have gone', async () => {
  const { put, changed, foreign, signals, told, asked, clock } = open()
  put('appr-1', {})
  changed()
  clock.move(2_000)
  await new Promise(setImmediate)
  expect([asked.lists, told]).toEqual([0, []])
  const first = foreign.watch()
  const second = foreign.watch()
  await expect
    .poll(() => {
      clock.move(2_000)
      return told
    })
    .toEqual(['appr-1 pending'])
  // What was told is known for as long as anybody watches.
  first[Symbol.dispose]()
  const { lists } = asked
  changed()
  await expect.poll(() => asked.lists).toBe(lists + 1)
  expect(told).toEqual(['appr-1 pending'])
  signals.emit(put('appr-1', { status: 'rejected' }))
  changed()
  await expect.poll(() => asked.lists).toBe(lists + 2)
  // Nothing may happen to it any more, so nobody looks for it.
  expect(asked.ids).toEqual([])
  second[Symbol.dispose]()
})

test('it has ended when no look is under way any more', async () => {
  const { changed, foreign, asked, ending } = open()
  using _watch = foreign.watch()
  changed()
  await expect.poll(() => asked.lists).toBe(1)
  let isOver = false
  const stopped = foreign.stopped().then(() => {
    isOver = true
  })
  await new Promise(setImmediate)
  expect(isOver).toBe(false)
  ending.abort()
  await stopped
})
