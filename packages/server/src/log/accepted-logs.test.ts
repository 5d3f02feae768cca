import fs from 'node:fs'
import { expect, test } from 'vitest'
import { by, forge, openBesideGone } from '../../test/kit/beside-gone.ts'
import type { Bench } from '../../test/kit/log-bench.ts'
import { frameAt } from './testing.ts'

const found = async ({ log }: Bench) => {
  const { integrity, first_bad_log, first_bad_seq } = await log.verify()
  return [integrity, first_bad_log, first_bad_seq]
}
const sound = ['verified', undefined, undefined]

test('a person accepts the log of a process that is no more as it is, and a later change in it is a new finding', async () => {
  await using beside = await openBesideGone()
  const { first, gone } = beside
  expect(await found(first)).toEqual(sound)
  forge(gone[0], 3)
  expect(await found(first)).toEqual(['failed', 'left', 3])
  expect(first.log.health().reason).toContain('in the log of left')

  expect(await first.log.acknowledge('the disk was old', by)).toMatchObject({
    integrity: 'verified',
    detail: expect.stringMatching(/^the log of left is as it was accepted at /) as string,
  })
  expect(first.log.health()).toMatchObject({ status: 'healthy' })
  const page = async () => (await first.log.query({ limit: 99, offset: 0 })).integrity
  expect(await page()).toBe('verified')
  const filter = { capability: 'audit.acknowledged', limit: 9, offset: 0 }
  const [entry] = (await first.log.query(filter)).entries
  expect(entry).toMatchObject({
    actor: 'user:ann',
    arguments: { reason: 'the disk was old', log: 'left' },
    detail: { kind: 'modified', first_bad_seq: 3, entries: 6 },
  })
  expect(first.log.acceptedIn('left')).toBe(entry?.id)

  await first.reopen()
  expect(await page()).toBe('verified')
  expect(await found(first)).toEqual(sound)
  forge(gone[0], 5)
  expect(await page()).toBe('failed')
  expect(await first.log.verify()).toMatchObject({
    ...{ integrity: 'failed', first_bad_log: 'left', accepted_before: entry?.id },
    detail: expect.stringContaining('and has changed since') as string,
  })
  await first.log.acknowledge('again', by)
  expect(await found(first)).toEqual(sound)
})

test('of two such logs the one that was shown is accepted, and each by itself', async () => {
  await using beside = await openBesideGone()
  const { first, gone } = beside
  for (const bench of gone) forge(bench, 2)
  expect(await found(first)).toEqual(['failed', 'left', 2])
  expect(await first.log.acknowledge('known', { ...by, own_only: true })).toMatchObject({
    first_bad_log: 'left',
  })
  expect(await first.log.acknowledge('known', by)).toMatchObject({ first_bad_log: 'lost' })
  await first.log.acknowledge('known', by)
  expect(await found(first)).toEqual(sound)

  // The root alone tells that entries at the end are gone.
  const [left, lost] = gone
  forge(left, 4)
  const { file, at } = frameAt(lost.directory, 0)
  fs.truncateSync(file, at)
  expect(await first.log.acknowledge('known', by)).toMatchObject({ first_bad_log: 'lost' })
  await first.log.acknowledge('known', by)
  expect(await found(first)).toEqual(sound)
})

test('a log that was accepted, went on and is then cut short to where it was accepted is a finding', async () => {
  await using beside = await openBesideGone()
  const {
    first,
    gone: [left],
  } = beside
  const nextRoot = async (): Promise<void> => {
    const before = (await first.log.verify()).root?.entry
    first.clock.move(60_000)
    await expect.poll(async () => (await first.log.verify()).root?.entry).not.toBe(before)
  }
  /** Takes the entries from that one on out of the file. */
  const cut = (seq: number): void => {
    const { file, at } = frameAt(left.directory, seq)
    fs.truncateSync(file, at)
  }
  await expect.poll(async () => (await first.log.verify()).root?.logs).toBe(3)
  cut(0)
  expect((await found(first)).slice(0, 2)).toEqual(['failed', 'left'])
  await first.log.acknowledge('known', by)
  expect(await found(first)).toEqual(sound)

  // Its process comes back, and a person accepts what that finds, too.
  const goOn = async (): Promise<void> => {
    await left.reopen()
    await left.log.acknowledge('known', by)
    await left.fill(1)
    await left.close()
  }
  await goOn()
  await first.log.acknowledge('known', by)
  expect(await found(first)).toEqual(sound)
  const end = left.entries().at(-1)?.seq ?? 0
  await goOn()
  await nextRoot()
  expect(await found(first)).toEqual(sound)
  cut(end + 1)
  expect(await found(first)).toEqual(['failed', 'left', end + 1])
})

test('what somebody else wrote into the store accepts nothing', async () => {
  await using beside = await openBesideGone()
  const { first, gone } = beside
  forge(gone[0], 3)
  await first.log.acknowledge('known', by)
  expect(await found(first)).toEqual(sound)
  const { meta } = first.store.storage
  const key = 'audit.accepted.left'
  const kept = (await meta.get(key)) ?? ''
  const [mac, record] = kept.split('\n') as [string, string]
  for (const forged of [
    `${mac}\n${record.replace('"size":6', '"size":5')}`,
    `${'0'.repeat(mac.length)}\n${record}`,
    `\n${record}`,
    record,
    '',
    'null',
  ]) {
    await meta.set(key, forged)
    await first.reopen()
    expect([forged, ...(await found(first))]).toEqual([forged, 'failed', 'left', 3])
  }
  await meta.set(key, kept)
  await meta.set('audit.accepted.lost', kept)
  forge(gone[1], 1)
  expect(await found(first)).toEqual(['failed', 'lost', 1])
})
