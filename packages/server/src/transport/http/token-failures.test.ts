import { describe, expect, test } from 'vitest'
import { addressKey, type TokenFailureReport, TokenFailures } from './token-failures.ts'

const opened = (perMinute: number) => {
  const clock = { now: 0 }
  const reports: TokenFailureReport[] = []
  const failures = new TokenFailures(
    perMinute,
    () => clock.now,
    (report) => reports.push(report),
  )
  return { clock, reports, failures }
}

describe('the key of an address', () => {
  test.each([
    ['10.1.2.3', '10.1.2.3'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['::FFFF:10.1.2.3', '10.1.2.3'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002::9', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::9', '2001:db8:1:3::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    [undefined, 'unknown'],
  ])('of %s is %s', (address, key) => {
    expect(addressKey(address)).toBe(key)
  })
})

describe('wrong tokens', () => {
  test('are let be up to the limit of a minute, in one count for all forms of an address', () => {
    const { failures } = opened(3)
    const from = ['10.0.0.1', '::ffff:10.0.0.1', '10.0.0.1', '::ffff:10.0.0.1']
    expect(from.map((address) => failures.add(address).limited)).toEqual([
      false,
      false,
      false,
      true,
    ])
    expect(failures.add('10.0.0.2').limited).toBe(false)
  })

  test('are forgotten when their minute is over', () => {
    const { failures, clock } = opened(1)
    failures.add('10.0.0.1')
    expect(failures.add('10.0.0.1').limited).toBe(true)
    clock.now = 60_000
    expect(failures.add('10.0.0.1').limited).toBe(false)
  })

  test('are reported at once, and the rest of their minute as one number', () => {
    const { failures, clock, reports } = opened(60)
    for (let i = 0; i < 5; i++) failures.add('10.0.0.1')
    failures.add('10.0.0.2')
    expect(reports).toEqual([
      { address: '10.0.0.1', count: 1 },
      { address: '10.0.0.2', count: 1 },
    ])
    clock.now = 60_000
    failures.sweep()
    expect(reports.slice(2)).toEqual([{ address: '10.0.0.1', count: 4 }])
    failures.sweep()
    expect(reports).toHaveLength(3)
  })

  test('from very many addresses cost bounded memory', () => {
    const { failures, reports } = opened(60)
    failures.add('10.255.0.1')
    failures.add('10.255.0.1')
    for (let i = 0; i < 10_000; i++) failures.add(`10.0.${i >> 8}.${i & 255}`)
    expect(reports).toContainEqual({ address: '10.255.0.1', count: 1 })
    expect(reports.filter(({ address }) => address === '10.255.0.1')).toHaveLength(2)
  })
})
