import type { Figures } from '@gatehouse/contract'
import { expect, test } from 'vitest'
import { exitCodes } from '../src/exit-codes.ts'
import { createCliKit } from './kit.ts'

test('figures prints the last 24 hours in parts of an hour, and with --json as the API has it', async () => {
  const kit = createCliKit()
  const { kit: here } = await kit.open()
  here.clock.move(1_000)
  const { code, out } = await kit.gatehouse(['figures', '--json'])
  expect(code).toBe(exitCodes.done)
  const figures = JSON.parse(out) as Figures
  expect(Date.parse(figures.to)).toBe(here.clock.wall())
  expect([figures.step_seconds, figures.times.length]).toEqual([3_600, 24])
  expect(figures.calls.at(-1)).toBeGreaterThan(0)
})

test('--since takes a time or how long ago, up to 31 days', async () => {
  const kit = createCliKit()
  for (const since of ['31d', '90m', '1s']) {
    const { out } = await kit.gatehouse(['figures', '--since', since, '--json'])
    const { from, to, times, step_seconds } = JSON.parse(out) as Figures
    const seconds = (Date.parse(to) - Date.parse(from)) / 1_000
    expect(seconds).toBe({ '31d': 2_678_400, '90m': 5_400, '1s': 1 }[since])
    expect(times.length).toBe(Math.min(24, seconds))
    expect(step_seconds).toBe(Math.ceil(seconds / 24))
  }
  const refused = await kit.gatehouse(['figures', '--since', '32d'])
  expect(refused.code).not.toBe(exitCodes.done)
  expect(refused.err).toContain('must be at most 31 days before the end')
  const unread = await kit.gatehouse(['figures', '--since', 'yesterday'])
  expect(unread.err).toContain('expected an ISO 8601 time')
})

test('--agent shows the calls of that agent alone, and says where there were none', async () => {
  const kit = createCliKit()
  const { kit: here } = await kit.open()
  await here.agent('second')
  await here.run('second', 'system.time')
  here.clock.move(1_000)
  const { out } = await kit.gatehouse(['figures', '--agent', 'second'])
  expect(out).toMatch(/^1 call from /)
  expect(out).toMatch(/^second +1 +0 +0 +0$/m)
  expect(out).toMatch(/^system\.time +1 +0 +0$/m)
  expect(out).not.toContain('mailbot')
  const none = await kit.gatehouse(['figures', '--agent', 'nobody'])
  expect(none.out).toMatch(/^There were no calls from \S+ \S+Z to \S+ \S+Z\.$/m)
})
