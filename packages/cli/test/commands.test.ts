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

test('asks no answer for a field that the server may leave out, and for one at least', () => {
  const isRequired = (schema: z.ZodType) => !schema.safeParse(undefined).success
  for (const { operationId, response } of createTable('1.2.3')) {
    const shape: Record<string, z.ZodType> = response instanceof z.ZodObject ? response.shape : {}
    const always = Object.keys(shape).filter((name) => isRequired(shape[name] ?? z.never()))
    const asked = requiredFields(operationId as OperationId)
    expect(always).toEqual(expect.arrayContaining([...asked]))
    expect([operationId, asked.length > 0]).toEqual([operationId, always.length > 0])
  }
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
