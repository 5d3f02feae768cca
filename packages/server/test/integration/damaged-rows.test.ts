import { join } from 'node:path'
import { createKit, type Kit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import { SqliteConnection } from '../../src/storage/sqlite/adapter.ts'

/** Cuts the JSON of a column short, as no program of ours writes it. */
const damage = (kit: Kit, table: string, column: string): void => {
  using file = new SqliteConnection(join(kit.folder, 'gatehouse.db'), { readOnly: false })
  const { changes } = file.run(
    `update ${table} set ${column} = '{"a":[' where ${column} is not null`,
    [],
  )
  expect([`${table}.${column}`, changes > 0]).toEqual([`${table}.${column}`, true])
}

const named = (place: string) => ({
  type: 'StoreDamaged',
  message: `The store is damaged: ${place} cannot be read.`,
})

test('JSON of a row that is damaged is refused by the name of table and column, and the rest is answered', async () => {
  await using kit = await createKit()
  await kit.agent('alpha')
  await kit.agent('beta')
  await kit.run('alpha', 'state.set', { key: 'k', value: { kept: true } })
  const id = await kit.pending('alpha', 'filesystem.delete', { path: 'a.txt' })
  const op = kit.operator()

  damage(kit, 'state', 'value_json')
  await expect(kit.app.showState(op, { agent: 'alpha', key: 'k' })).rejects.toMatchObject(
    named('state.value_json'),
  )
  expect(await kit.invoke('alpha', 'state.get', { key: 'k' })).toMatchObject({
    kind: 'failed',
    error: named('state.value_json'),
  })

  damage(kit, 'approvals', 'arguments_json')
  await expect(kit.app.showApproval(op, { approval_id: id })).rejects.toMatchObject(
    named('approvals.arguments_json'),
  )
  // Nothing that cannot be read is ever run.
  await expect(kit.decide(id, 'approve')).rejects.toMatchObject(named('approvals.arguments_json'))

  damage(kit, 'approvals', 'rule')
  await expect(kit.app.showApproval(op, { approval_id: id })).rejects.toMatchObject(
    named('approvals.rule'),
  )

  await kit.run('beta', 'state.set', { key: 'k', value: 1 })
  expect(await kit.run('beta', 'state.get', { key: 'k' })).toMatchObject({ value: 1 })
})

test('a number beyond those that are ever stored is refused as damage', async () => {
  await using kit = await createKit()
  await kit.agent('alpha')
  await kit.run('alpha', 'state.set', { key: 'k', value: 1 })
  {
    using file = new SqliteConnection(join(kit.folder, 'gatehouse.db'), { readOnly: false })
    file.run('update state set version = 9223372036854775807', [])
  }
  await expect(
    kit.app.showState(kit.operator(), { agent: 'alpha', key: 'k' }),
  ).rejects.toMatchObject(named('a whole number beyond 2^53'))
})
