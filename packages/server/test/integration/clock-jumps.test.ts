import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createKit, type Kit } from '@gatehouse/testkit'
import { describe, expect, test } from 'vitest'

const hour = 3_600_000
const day = 24 * hour

const policy = `version: 1
limits:
  - { match: system.time, limit: 2, window: 1h }
`

/** Where the wall clock is set to, as an offset from the right time. */
const jumps: readonly (readonly [name: string, offsetMs: number])[] = [
  ['an hour ahead', hour],
  ['an hour back', -hour],
  ['a day ahead', day],
  ['a day back', -day],
  ['1970', -Date.UTC(2026, 0, 1)],
  ['2100', Date.UTC(2100, 0, 1) - Date.UTC(2026, 0, 1)],
]

const write = (kit: Kit) =>
  kit.invoke('bob', 'filesystem.write', { path: 'kept.txt', content: 'here' })
const askToDelete = (kit: Kit) => kit.pending('bob', 'filesystem.delete', { path: 'kept.txt' })
const isThere = (kit: Kit) => existsSync(join(kit.workspace('bob'), 'kept.txt'))

const open = async (): Promise<Kit> => {
  const kit = await createKit({ policy, settings: { 'approvals.ttl': day } })
  await kit.agent('bob')
  await write(kit)
  return kit
}

describe.each(jumps)('when the wall clock is set to %s', (_name, offsetMs) => {
  test('a request that has expired is not executed, whatever the clock says then', async () => {
    await using kit = await open()
    const id = await askToDelete(kit)
    kit.clock.move(day + 1_000)
    kit.clock.wallOffsetMs = offsetMs
    expect(await kit.decide(id, 'approve')).toMatchObject({ kind: 'not_pending' })
    expect(await kit.app.getApprovalOutcome(kit.op('bob'), { approval_id: id })).toMatchObject({
      status: 'expired',
    })
    expect(isThere(kit)).toBe(true)
  })

  // Whichever clock says so first: a clock that is set forward shortens, and none ever lengthens.
  const ends = offsetMs > 0 ? 'expires, and nothing runs' : 'is decided and executed as ever'
  test(`a request that has not expired ${ends}`, async () => {
    await using kit = await open()
    const id = await askToDelete(kit)
    kit.clock.wallOffsetMs = offsetMs
    kit.clock.move(day - 60_000)
    if (offsetMs > 0) {
      expect(await kit.decide(id, 'approve')).toMatchObject({ kind: 'not_pending' })
      expect(isThere(kit)).toBe(true)
      return
    }
    await kit.decide(id, 'approve')
    await kit.resolved('bob', id)
    expect(isThere(kit)).toBe(false)
  })

  test('a limit holds for its hour, and what it says to wait is true', async () => {
    await using kit = await open()
    const time = () => kit.invoke('bob', 'system.time')
    expect([(await time()).kind, (await time()).kind]).toEqual(['succeeded', 'succeeded'])
    kit.clock.wallOffsetMs = offsetMs
    kit.clock.move(hour / 2)
    const limited = await time()
    expect(limited).toMatchObject({ kind: 'limited', data: { retry_after_seconds: 1800 } })
    kit.clock.move(hour / 2 - 1)
    expect(await time()).toMatchObject({ kind: 'limited', data: { retry_after_seconds: 1 } })
    kit.clock.move(1)
    expect((await time()).kind).toBe('succeeded')
  })

  test('a value lives as long as it was to live', async () => {
    await using kit = await open()
    await kit.invoke('bob', 'state.set', { key: 'k', value: 1, ttl_seconds: 3600 })
    kit.clock.wallOffsetMs = offsetMs
    kit.clock.move(hour - 1_000)
    expect((await kit.invoke('bob', 'state.get', { key: 'k' })).kind).toBe('succeeded')
    kit.clock.move(2_000)
    expect(await kit.invoke('bob', 'state.get', { key: 'k' })).toMatchObject({
      error: { type: 'StateNotFound' },
    })
  })

  test('a standing grant ends when it was to end', async () => {
    await using kit = await open()
    const id = await askToDelete(kit)
    const remember = { ttl_seconds: 3600, match: 'same_capability' } as const
    await kit.decide(id, 'approve', { remember })
    await kit.resolved('bob', id)
    kit.clock.wallOffsetMs = offsetMs
    kit.clock.move(hour - 1_000)
    await write(kit)
    const granted = await kit.invoke('bob', 'filesystem.delete', { path: 'kept.txt' })
    kit.clock.move(2_000)
    await write(kit)
    const after = await kit.invoke('bob', 'filesystem.delete', { path: 'kept.txt' })
    expect([granted.kind, after.kind]).toEqual(['succeeded', 'pending'])
  })

  test('the log goes on, entry by entry, and verifies', async () => {
    await using kit = await open()
    kit.clock.wallOffsetMs = offsetMs
    for (let i = 0; i < 5; i += 1) await write(kit)
    kit.clock.wallOffsetMs = 0
    await write(kit)
    const { integrity } = await kit.app.verifyAudit(kit.operator())
    const seqs = (await kit.audit()).map(({ seq }) => seq).toSorted((a, b) => a - b)
    expect(integrity).toBe('verified')
    expect(seqs).toEqual(seqs.map((_, i) => i))
  })
})
