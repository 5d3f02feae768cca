import { processorMs } from '@gatehouse/testkit/processor-time'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineCapability } from '../capabilities/define.ts'
import { createRegistry } from '../capabilities/registry.ts'
import { standardCapabilities } from '../capabilities/standard.ts'
import { createToolSearch } from './tool-search.ts'

const registry = createRegistry(standardCapabilities)

test.each([
  ['commit changes', 'git.commit'],
  ['search text inside files', 'filesystem.search_content'],
  ['send mail', 'email.send'],
  ['download', 'network.download'],
  ['filesystem.read', 'filesystem.read'],
  ['filesystem__mkdir', 'filesystem.mkdir'],
  ['follow_redirects', 'network.http_request'],
  ['calender events', 'calendar.search'],
  ['sched', 'scheduler.create'],
])('finds by %j among the first three %s', async (query, name) => {
  expect((await createToolSearch(registry).search(query)).slice(0, 3)).toContain(name)
})

test('finds nothing for words that nothing has', async () => {
  const search = createToolSearch(registry)
  expect(await search.search('zzzzqqq')).toEqual([])
  expect(await search.search('... ---')).toEqual([])
})

test('follows the registry', async () => {
  const changing = createRegistry(standardCapabilities)
  const search = createToolSearch(changing)
  expect(await search.search('listIssues')).not.toContain('github.listIssues')
  const made = defineCapability({
    title: 'List issues',
    name: 'github.listIssues',
    version: '1.0',
    purpose: 'Shows the tickets of a repository.',
    when_to_use: 'To see them.',
    inputs: z.strictObject({ repository: z.string() }),
    outputs: z.looseObject({}),
    tier: 'autonomous',
    effect: 'none',
    errors: [],
    run: async () => ({}),
  })
  changing.replaceGroup('github', [made])
  for (const query of ['issues', 'tickets', 'listIssues'])
    expect((await search.search(query))[0]).toBe('github.listIssues')
  changing.replaceGroup('github', [])
  expect(await search.search('tickets')).toEqual([])
})

test('stays quick with ten thousand tools', async () => {
  const many = Array.from({ length: 10_000 }, (_, i) => ({
    ...registry.list()[i % 100]!,
    name: `many.tool_${i}`,
  }))
  const search = createToolSearch({ list: () => many })
  await search.search('warm')
  const before = processorMs()
  for (let i = 0; i < 10; i += 1) await search.search('list the files of a folder by name')
  expect((processorMs() - before) / 10).toBeLessThan(500)
})
