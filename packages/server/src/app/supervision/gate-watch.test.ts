import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Integrity, RetentionStatus } from '@gatehouse/contract'
import { expect, test } from 'vitest'
import { type Envelope, GateLink } from '../../gates/gate-link.ts'
import { HandClock, silent } from '../../log/testing.ts'
import type { FoundByNode } from '../call/found-by-node.ts'
import { GateWatch } from './gate-watch.ts'

const status = (entries: number, more: Partial<RetentionStatus> = {}): RetentionStatus => ({
  ...{ max_age_days: 30, max_bytes: 1_000, bytes: 10 * entries, entries, oldest: null },
  ...{ due_entries: 0, removable_entries: 0, held_by: null, exported_to: [] },
  ...more,
})

const verified: Integrity = {
  ...{ integrity: 'verified', verified_through: 3 },
  verified_at: '2026-01-01T00:00:00.000Z',
}

/** The first of three gate processes, and what the others were asked to remove. */
const openThree = (foundByNodes: () => readonly FoundByNode[] = () => []) => {
  const clock = new HandClock()
  const state = new Map<number, 'down' | 'hung'>()
  const deliver = (envelope: Envelope): void => {
    const to = Number(envelope.to)
    if (state.get(to) === 'down' && envelope.kind === 'question')
      return first.receive({
        ...{ from: to, to: 0, id: envelope.id, kind: 'failure', type: 'StorageUnavailable' },
        facts: { detail: `gate process ${to + 1} does not serve: it ended with SIGKILL` },
      })
    if (!state.has(to)) links[to]?.receive(structuredClone(envelope))
  }
  const links: GateLink[] = [0, 1, 2].map(
    (index) => new GateLink({ index, count: 3, send: (one) => queueMicrotask(() => deliver(one)) }),
  )
  const [first, ...others] = links as [GateLink, GateLink, GateLink]
  const removed: string[] = []
  for (const link of others) {
    link.answer('facts', async () => ({
      ...{ status: 'healthy', reasons: [], sessions: 1, processes: 0, entries: 7 },
      integrity: verified,
    }))
    link.answer('verify log', async () => verified)
    link.answer('retention', async (by) => {
      if (by) removed.push(`${link.index + 1} by ${by.actor}`)
      return status(7)
    })
    first.found(link.index)
  }
  const watch = new GateWatch({
    gates: first,
    clock,
    log: silent,
    missingNodes: () => [],
    foundByNodes,
  })
  return {
    ...{ clock, watch, removed },
    lose(index: number) {
      state.set(index, 'down')
      first.lost(index)
    },
    hang: (index: number) => state.set(index, 'hung'),
    bringBack(index: number) {
      state.delete(index)
      first.found(index)
    },
  }
}

const by = { actor: 'user:ann', request_id: 'req-1' }
const third = { log: 'gate process 3', since: '2026-01-01T00:01:00.000Z' }
const ended = 'gate process 3 does not serve: it ended with SIGKILL'

test('retention does what it can, and the rest when the process is back that was down', async () => {
  const { clock, watch, removed, lose, bringBack } = openThree()
  clock.move(60_000)
  lose(2)
  clock.move(60_000)
  // The next attempt to start it fails, too.
  lose(2)
  expect(await watch.retention(status(5), by)).toEqual({
    ...status(12, { max_bytes: 2_000 }),
    left_out: [{ ...third, reason: ended, remedy: expect.any(String) as string }],
  })
  // Somebody who only looks asks for nothing.
  await watch.retention(status(5), null)
  expect(removed).toEqual(['2 by user:ann'])
  bringBack(2)
  await expect.poll(() => removed).toEqual(['2 by user:ann', '3 by user:ann'])
  lose(2)
  bringBack(2)
  expect(await watch.retention(status(5), null)).toEqual(status(19, { max_bytes: 3_000 }))
  expect(removed).toHaveLength(2)
})

test('a log that cannot be asked is not verified, and its entries are counted as they were', async () => {
  const { clock, watch, lose, hang } = openThree()
  expect(await watch.withOthers(verified)).toEqual(verified)
  expect(await watch.askLogs(verified, 'verify log', null)).toEqual(verified)
  await watch.facts()
  clock.move(60_000)
  lose(2)
  const unchecked = [{ ...third, reason: ended }]
  const incomplete = { integrity: 'incomplete', unchecked }
  expect(await watch.withOthers(verified)).toMatchObject(incomplete)
  expect(await watch.askLogs(verified, 'verify log', null)).toMatchObject(incomplete)
  const failed = { ...verified, integrity: 'failed', kind: 'truncated' } as const
  expect(await watch.withOthers(failed)).toMatchObject({ ...failed, unchecked })
  expect((await watch.facts()).map(({ entries }) => entries)).toEqual([7, 7])

  // One that neither ends nor answers is not waited for for minutes.
  hang(1)
  const asked = watch.askLogs(verified, 'verify log', null)
  // The refusal of the other one is there by then.
  await nextTurn()
  clock.move(10_000)
  expect((await asked).unchecked).toMatchObject([
    { log: 'gate process 2', reason: 'gate process 2 does not answer' },
    { log: 'gate process 3', reason: ended },
  ])
})

test('what another node found is in each answer about the log, and is not told as a finding of this node', async () => {
  const detail = 'node-b found: 3 entries are gone'
  const remedy = 'on node-b, run: gatehouse audit acknowledge --reason TEXT --data-dir /data'
  let found: readonly FoundByNode[] = [{ kind: 'truncated', detail, node: 'node-b', remedy }]
  const { watch } = openThree(() => found)
  const root = {
    ...{ root: 'sha256:0', logs: 2, chain: 'node-a', entry: 'aud-1' as const },
    signed_at: '2026-01-01T00:00:00.000Z',
  } as unknown as NonNullable<Integrity['root']>
  const failed = {
    ...{ ...verified, integrity: 'failed', kind: 'truncated', detail },
    ...{ found_by: 'node-b', remedy },
  } as const
  expect(await watch.withOthers({ ...verified, root })).toEqual(failed)
  expect(await watch.askLogs({ ...verified, root }, 'verify log', null)).toEqual(failed)
  expect(watch.finding(verified)).toBeNull()
  // One of its own comes first.
  const own = {
    ...verified,
    integrity: 'failed',
    kind: 'modified',
    detail: 'x'.repeat(999),
  } as const
  expect(await watch.withOthers(own)).toEqual(own)
  expect(watch.finding(own)).toEqual({ kind: 'modified', detail: 'x'.repeat(300) })
  // Nodes that read that log, too, know by these whether a person accepted it since.
  const elsewhere = { first_bad_log: 'node-c', accepted_before: 'aud-2' }
  expect(watch.finding({ ...own, ...elsewhere })).toMatchObject({
    ...{ log: 'node-c', accepted_before: 'aud-2' },
  })
  found = []
  expect(await watch.withOthers({ ...verified, root })).toEqual({ ...verified, root })
})
