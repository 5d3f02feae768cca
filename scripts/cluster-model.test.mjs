import { expect, test } from 'vitest'
import { defaults, modelCluster } from '../benchmarks/cluster-model.mjs'

const first = (given) => modelCluster(given).parts[0]

test('the first part that is full is named, with the calls at which it is', () => {
  expect(first()).toMatchObject({ part: 'processors of the database' })
  expect(Math.round(first().calls_per_s)).toBe(201_775)
  expect(modelCluster()).toEqual(modelCluster({ ...defaults }))
  expect(first({ nodes: 20 })).toMatchObject({
    part: 'processors of the nodes',
    calls_per_s: (20 * 1e6) / defaults.node_us,
  })
  expect(first({ disk_bytes_per_s: 12e6 })).toEqual({
    part: 'disk of the database',
    calls_per_s: 10_000,
  })
  expect(first({ agents: 10 }).part).toContain('agents')
})

test('readers of copies take from the database what they can hash, and no more', () => {
  const [one, all] = [1, 50].map((readers) => first({ readers }).calls_per_s)
  expect(all).toBeLessThan(one / 5)
  const share = (readers) => 16e6 - (readers * 1e6 * 1.7) / 6.5
  expect(all).toBeCloseTo(share(50) / defaults.database_us)
  // Where little is kept they keep up, and take less.
  expect(first({ readers: 50, kept_hours: 0.001 }).calls_per_s).toBeGreaterThan(all)
  expect(first({ kept_hours: 0 }).calls_per_s).toBeCloseTo(16e6 / defaults.database_us)
  expect(first({ readers: 100 }).calls_per_s).toBeGreaterThanOrEqual(0)
})

test('verification falls behind the sooner the longer entries are kept', () => {
  const behind = (kept_hours) => modelCluster({ kept_hours }).behind[0].calls_per_s
  expect(behind(24)).toBeCloseTo(behind(1) / 24)
})
