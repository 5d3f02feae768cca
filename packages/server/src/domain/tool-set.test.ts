import { processorMs } from '@gatehouse/testkit/processor-time'
import { expect, test } from 'vitest'
import { inToolSet, toolSetOf, unmatchedIn } from './tool-set.ts'

const set = ['filesystem.*', 'github.list_*', 'jira-*.get', '*.status']

test.each([
  ['filesystem.read', true],
  ['filesystems.read', false],
  ['github.list_issues', true],
  ['github.create_issue', false],
  ['jira-cloud.get', true],
  ['jira-cloud.getAll', false],
  ['git.status', true],
  ['git.status_all', false],
])('says of %s whether it is in the set: %s', (name, expected) => {
  expect(inToolSet(set, name)).toBe(expected)
})

test('no pattern is no limit, and the view of itself is in every set', () => {
  expect(inToolSet([], 'git.push')).toBe(true)
  for (const name of ['agent.whoami', 'approvals.wait', 'tools.search'])
    expect(inToolSet(['filesystem.read'], name)).toBe(true)
  expect(inToolSet(['filesystem.read'], 'agent.policy')).toBe(false)
})

test('keeps a set without repeats, and none where it has everything', () => {
  expect(toolSetOf(['a.b', 'a.b', 'c.*'])).toEqual(['a.b', 'c.*'])
  expect(toolSetOf(['a.b', '*'])).toEqual([])
})

test('names the patterns that match nothing', () => {
  expect(unmatchedIn(['git.*', 'gti.*'], ['git.log'])).toEqual(['gti.*'])
})

test('a pattern of many stars takes no longer for a long name', () => {
  const hostile = [`${'*a'.repeat(60)}.${'*a'.repeat(3)}`]
  const before = processorMs()
  for (let i = 0; i < 1_000; i += 1)
    expect(inToolSet(hostile, `${'a'.repeat(59)}b.${'a'.repeat(60)}`)).toBe(false)
  expect(processorMs() - before).toBeLessThan(2_000)
})
