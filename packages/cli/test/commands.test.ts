import { type OperationId, operations } from '@gatehouse/client'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { requiredFields } from '../../client/src/required-fields.ts'
import { createTable } from '../../server/src/transport/rest/table.ts'
import { commands } from '../src/commands/index.ts'

test('reaches every operation of the server where it stands', () => {
  const served = createTable('1.2.3').map(({ operationId, method, path }) => [
    operationId,
    `${method} ${path}`,
  ])
  expect(operations).toEqual(Object.fromEntries(served))
})

test('knows the fields that every answer of the server has', () => {
  const isRequired = (schema: z.ZodType) => !schema.safeParse(undefined).success
  const required = createTable('1.2.3').map(({ operationId, response }) => [
    operationId,
    response instanceof z.ZodObject
      ? Object.keys(response.shape).filter((name) => isRequired(response.shape[name]))
      : [],
  ])
  const known = Object.keys(operations).map((name) => [name, requiredFields(name as OperationId)])
  expect(Object.fromEntries(known)).toEqual(Object.fromEntries(required))
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
