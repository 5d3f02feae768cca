import { expect, test } from 'vitest'
import { openProxyKit } from './kit.ts'

const races = 5_000
const batch = 250

test('of cancelling a write and running it one wins, 5,000 times', {
  timeout: 60_000,
}, async () => {
  await using proxy = await openProxyKit()
  const { kit, server } = proxy
  const tally = { cancelled: 0, executed: 0, both: 0, neither: 0 }
  for (let from = 0; from < races; from += batch) {
    const tickets = await Promise.all(
      Array.from({ length: batch }, (_, n) => {
        const service = kit.invoke('alpha', 'fake.send', { text: `${from + n}` })
        return service
      }),
    )
    const ids = tickets.map((outcome) =>
      outcome.kind === 'succeeded' ? String(outcome.data['write_id']) : '',
    )
    // Writes of a service run one after another, so cancels meet them before, while and after they run.
    kit.clock.move(30_000)
    const cancels = await Promise.all(
      ids.map(async (write_id, n) => {
        for (let turns = 0; turns < n % 50; turns += 1) await new Promise(setImmediate)
        return kit.app.cancelWrite(kit.operator(), { write_id })
      }),
    )
    await proxy.until(async () => {
      const { total } = await kit.app.listWrites(kit.operator(), {
        ...{ status: 'pending', limit: 1, offset: 0 },
      })
      return total === 0
    })
    for (const [n, { kind }] of cancels.entries()) {
      const cancelled = kind === 'changed'
      const seen = server.effects.get(ids[n] ?? '') ?? 0
      expect(seen).toBeLessThanOrEqual(1)
      const row = await kit.storage.writes.find(ids[n] ?? '')
      expect(row?.status).toBe(cancelled ? 'cancelled' : 'executed')
      if (cancelled && seen > 0) tally.both += 1
      else if (cancelled) tally.cancelled += 1
      else if (seen === 1) tally.executed += 1
      else tally.neither += 1
    }
  }
  expect(tally.both).toBe(0)
  expect(tally.neither).toBe(0)
  // Both ends were met often, or this would have raced with nothing.
  expect(tally.cancelled).toBeGreaterThan(races / 50)
  expect(tally.executed).toBeGreaterThan(races / 50)
})
