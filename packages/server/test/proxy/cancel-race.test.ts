import { expect, test } from 'vitest'
import { openProxyKit } from './kit.ts'

const rounds = process.env['GATEHOUSE_FULL'] ? 20 : 2
const racesEach = 250
const turnsMax = 300

type Tally = { cancelled: number; executed: number; both: number; neither: number }

async function race(tally: Tally): Promise<void> {
  await using proxy = await openProxyKit()
  const { kit, server } = proxy
  const ids: string[] = []
  for (let n = 0; n < racesEach; n += 1)
    ids.push((await proxy.buffer('send', { text: `${n}` })).write_id)
  let at = -1
  server.fault = (request) => {
    if (request.kind === 'send') at = Number(request.text)
    return null
  }
  kit.clock.move(30_000)
  const cancels = await Promise.all(
    ids.map(async (write_id, n) => {
      // Each cancel comes when its write is about to run, runs, or has just run.
      for (let turns = 0; at < n - 2 + (n % 4) && turns < turnsMax; turns += 1)
        await new Promise(setImmediate)
      return kit.app.cancelWrite(kit.operator(), { write_id })
    }),
  )
  await proxy.until(async () => (await proxy.service()).buffered_writes === 0)
  for (const [n, { kind }] of cancels.entries()) {
    const id = ids[n] ?? ''
    const cancelled = kind === 'changed'
    const seen = server.effects.get(id) ?? 0
    expect((await kit.storage.writes.find(id))?.status).toBe(cancelled ? 'cancelled' : 'executed')
    expect(seen).toBeLessThanOrEqual(1)
    if (cancelled && seen > 0) tally.both += 1
    else if (cancelled) tally.cancelled += 1
    else if (seen === 1) tally.executed += 1
    else tally.neither += 1
  }
}

test('of cancelling a write and running it one wins, each time', async () => {
  const tally: Tally = { cancelled: 0, executed: 0, both: 0, neither: 0 }
  for (let round = 0; round < rounds; round += 1) await race(tally)
  expect(tally).toMatchObject({ both: 0, neither: 0 })
  expect(tally.cancelled + tally.executed).toBe(rounds * racesEach)
  // Both ends were met, or this would have raced with nothing.
  expect(tally.cancelled).toBeGreaterThan(rounds)
  expect(tally.executed).toBeGreaterThan(rounds)
  if (process.env['GATEHOUSE_FULL']) console.log(tally)
})
