import { operations } from '@gatehouse/client'
import { expect, test } from 'vitest'
import { createTable } from '../../server/src/transport/rest/table.ts'
import { commands } from '../src/commands/index.ts'

test('reaches every operation of the server where it stands', () => {
  const served = createTable('1.2.3').map(({ operationId, method, path }) => [
    operationId,
    `${method} ${path}`,
  ])
  expect(operations).toEqual(Object.fromEntries(served))
})

test.each(commands.map((entry) => [entry.name, entry] as const))(
  '%s is in the list as it says of itself',
  async (_name, entry) => {
    const command = await entry.load()
    expect({ name: command.name, summary: command.summary }).toEqual({
      name: entry.name,
      summary: entry.summary,
    })
    for (const example of command.examples) expect(example).toContain(`gatehouse ${command.name}`)
  },
)
