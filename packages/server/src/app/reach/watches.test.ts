import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GatehouseEvent } from '@gatehouse/contract'
import { createKit } from '@gatehouse/testkit'
import { until } from '@gatehouse/testkit/until'
import { expect, test } from 'vitest'

test('a watch tells of changes that fit its pattern, relative to what is watched, until it is removed', async () => {
  await using kit = await createKit()
  await kit.agent('alpha')
  await kit.agent('beta')
  const workspace = kit.workspace('alpha')
  mkdirSync(join(workspace, 'docs', 'deep'), { recursive: true })
  const events: GatehouseEvent[] = []
  using _listening = kit.app.subscribeEvents('alpha', (event) => events.push(event) > 0)
  const added = await kit.invoke('alpha', 'filesystem.watch', {
    path: '.',
    recursive: true,
    pattern: 'docs/**/*.md',
  })
  const watch_id = added.kind === 'succeeded' ? String(added.data['watch_id']) : ''
  writeFileSync(join(workspace, 'docs', 'deep', 'a.txt'), '1')
  writeFileSync(join(workspace, 'docs', 'deep', 'a.md'), '1')
  await until(() => events.length > 0)
  expect(new Set(events.map(({ type }) => type))).toEqual(new Set(['files.changed']))
  expect(new Set(events.map(({ data }) => data['path']))).toEqual(
    new Set([join(workspace, 'docs/deep/a.md')]),
  )

  const other = await kit.invoke('beta', 'filesystem.unwatch', { watch_id })
  expect(other).toMatchObject({ kind: 'failed', error: { type: 'WatchNotFound' } })
  expect((await kit.invoke('alpha', 'filesystem.unwatch', { watch_id })).kind).toBe('succeeded')
  const before = events.length
  writeFileSync(join(workspace, 'docs', 'deep', 'b.md'), '1')
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(events).toHaveLength(before)
})
