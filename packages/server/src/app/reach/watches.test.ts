import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GatehouseEvent } from '@gatehouse/contract'
import { createKit } from '@gatehouse/testkit'
import { until } from '@gatehouse/testkit/until'
import { expect, test } from 'vitest'
import { createIds } from '../../log/testing.ts'
import type { Call } from '../call/call.ts'
import { WatchTable } from './watches.ts'

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

/** A table of watches on which `settingUp` acts before each of them stands; `open` counts those that stand. */
const createTable = (settingUp: () => Promise<void>) => {
  const counts = { open: 0 }
  const files = {
    locate: (path: string) => ({ absolute: path }),
    async watch() {
      await settingUp()
      counts.open += 1
      return { [Symbol.dispose]: () => void (counts.open -= 1) }
    },
  }
  const table = new WatchTable({
    ids: createIds(),
    events: { publish: () => {} } as never,
    contexts: { lastingOf: () => files } as never,
  })
  const of = (name: string) => table.of({ agent: { name } } as unknown as Call)
  return { table, of, counts }
}

test('a watch that is set up while its agent is revoked, or as the service stops, does not stand', async () => {
  for (const ends of ['endAll', Symbol.dispose] as const) {
    let acts = () => {}
    const { table, of, counts } = createTable(async () => acts())
    await of('beta').add({ path: '.', recursive: false })
    acts = () => table[ends]('alpha')
    await expect(of('alpha').add({ path: '.', recursive: false })).rejects.toMatchObject({
      type: 'Cancelled',
    })
    expect(counts.open).toBe(ends === 'endAll' ? 1 : 0)
  }
})

test('watches that are set up at once count toward the limit, and those that failed do not', async () => {
  let fails = true
  const { table, of, counts } = createTable(async () => {
    if (fails) throw new Error('there is no such folder')
  })
  const add = () => of('alpha').add({ path: '.', recursive: false })
  const failed = await Promise.allSettled(Array.from({ length: 32 }, add))
  expect(failed.every(({ status }) => status === 'rejected')).toBe(true)
  fails = false
  const added = await Promise.allSettled(Array.from({ length: 33 }, add))
  expect(added.filter(({ status }) => status === 'fulfilled')).toHaveLength(32)
  expect(added[32]).toMatchObject({ reason: { type: 'QuotaExceeded' } })
  expect(counts.open).toBe(32)
  table.endAll('alpha')
  expect(counts.open).toBe(0)
})
