import { expect, test } from 'vitest'
import { schemaType } from './schema-type.mjs'

const oneLine = (schema, io = 'input') => schemaType(schema, io).replace(/\s+/g, ' ')

test.each([
  [{ type: 'integer' }, 'number'],
  [{ type: ['string', 'null'] }, 'string | null'],
  [{ enum: ['a', 'b'], type: 'string' }, '"a" | "b"'],
  [{ const: true, type: 'boolean' }, 'true'],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'string | null'],
  [{ type: 'array', items: { type: ['string', 'null'] } }, 'readonly (string | null)[]'],
  [{ type: 'object', properties: {}, additionalProperties: false }, 'Record<string, never>'],
  [{ type: 'object', additionalProperties: {} }, 'Record<string, unknown>'],
  [
    {
      type: 'object',
      properties: { a: { type: 'string', default: 'x', description: 'An A' }, 'b-c': {} },
      required: ['b-c'],
    },
    '{ /** An A Default: "x". */ a?: string "b-c": unknown }',
  ],
])('%j is %s', (schema, type) => {
  expect(oneLine(schema)).toBe(type)
})

test('refuses a keyword that it would pass over', () => {
  expect(() => schemaType({ $ref: '#/x' }, 'input')).toThrow('$ref')
})
