import { expect, test } from 'vitest'
import { createCliKit } from './kit.ts'

test('config explain lists every setting with its value and where that comes from', async () => {
  const { code, out, err } = await createCliKit().gatehouse(['config', 'explain'])
  expect([code, err]).toEqual([0, ''])
  expect(out).toMatch(/^SETTING +FROM +VALUE$/m)
  expect(out).toMatch(/^data_dir +--data-dir +\/.+$/m)
  expect(out).toMatch(/^approvals\.ttl +default +24h$/m)
  expect(out).toMatch(/^notifications +default +-$/m)
  expect(out).toMatch(/^File +none$/m)
})

test('config explain with a key shows that setting, its default and its purpose', async () => {
  const { code, out } = await createCliKit().gatehouse(['config', 'explain', 'approvals.ttl'])
  expect(code).toBe(0)
  expect(out).toBe(`Setting  approvals.ttl
Value    24h
From     default
Default  24h
Purpose  How long a request waits for a person before it expires.
`)
  const json = await createCliKit().gatehouse(['config', 'explain', 'approvals.ttl', '--json'])
  expect(JSON.parse(json.out)).toMatchObject({ key: 'approvals.ttl', value: '24h', source: null })
})

test('a key that does not exist is not found, with the one that was meant', async () => {
  const { code, out, err } = await createCliKit().gatehouse(['config', 'explain', 'aprovals.ttl'])
  expect([code, out]).toEqual([5, ''])
  expect(err).toContain('There is no setting aprovals.ttl. Did you mean approvals.ttl')
})

test('while no server runs config explain says that it shows what a start would read', async () => {
  const line = ['config', 'explain', 'host']
  const { code, out, err } = await createCliKit().gatehouse(line, { offline: true })
  expect([code, out]).toEqual([0, expect.stringContaining('127.0.0.1')])
  expect(err).toBe('No server runs: this is what a start with the same environment would read.\n')
})
