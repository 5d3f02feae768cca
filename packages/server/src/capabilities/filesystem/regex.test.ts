import { GatehouseError } from '@gatehouse/contract'
import { processorMs } from '@gatehouse/testkit/processor-time'
import { expect, test } from 'vitest'
import { Regex } from './regex.ts'

const never = new AbortController().signal

test.each(['(x+x+)+y', '(a|aa)+$', '(.*a){20}b', '([a-z]+)*!', '(\\w{1,50}){1,15}!'])(
  'answers %s on a long hostile line in linear time',
  async (pattern) => {
    using regex = new Regex(pattern)
    const started = processorMs()
    await regex.findInLines(['x'.repeat(5_000), 'a'.repeat(5_000)], 10, never)
    expect(processorMs() - started).toBeLessThan(2_000)
  },
)

test('gives the same matches here and in the worker', async () => {
  const lines = Array.from({ length: 500 }, (_, i) => `line ${i} of foo${i % 7}bar`)
  const find = async (pattern: string) => {
    using regex = new Regex(pattern)
    return await regex.findInLines(lines, 10_000, never)
  }
  const here = await find('foo([0-3])bar')
  // The same pattern, made so dear that only the worker compiles it.
  const there = await find('foo([0-3])bar(?:z{1,1000}){0,1}')
  expect(there).toEqual(here)
  expect(here).toHaveLength(lines.filter((line) => /foo[0-3]/.test(line)).length)
  expect(here[0]).toMatchObject({ line: 0, start: 10, end: 17, group: '0' })
})

test('replaces a long text in the worker as it does a short one here', async () => {
  using regex = new Regex('(\\w+)@(?<host>\\w+)')
  const replace = (text: string) => regex.replaceAll(text, '$<host> has $1, $$5', never)
  expect(await replace('ana@home')).toEqual({ text: 'home has ana, $5', count: 1 })
  const long = await replace('ana@home, '.repeat(20_000))
  expect(long).toEqual({ text: 'home has ana, $5, '.repeat(20_000), count: 20_000 })
})

test.each([
  '(',
  '[',
  '(?=a)',
  '(a)\\1',
  'a{2000}',
  'x'.repeat(1_001),
  '(?:((((a{1,100}){1,100}){1,100})',
])('refuses %s with the reason', async (pattern) => {
  const use = async () => {
    using regex = new Regex(pattern)
    await regex.findInLines(['text'], 1, never)
  }
  await expect(use()).rejects.toMatchObject({ type: 'InvalidPattern' })
})

test('ends the worker when the caller goes', async () => {
  using regex = new Regex('([ab]{1,30}){1,30}c{1,20}')
  const stop = new AbortController()
  const finding = regex.findInLines(['ab'.repeat(200_000)], 1, stop.signal)
  stop.abort()
  await expect(finding).rejects.toBeInstanceOf(GatehouseError)
  await expect(finding).rejects.toMatchObject({ type: 'Cancelled' })
})
