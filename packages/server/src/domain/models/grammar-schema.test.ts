import { expect, test } from 'vitest'
import { grammarSchema } from './grammar-schema.ts'

const name = { type: 'string', maxLength: 20 }

test.each([
  [{ type: 'object', properties: { name }, required: ['name'], additionalProperties: false }],
  [{ type: 'array', items: { enum: ['a', 1, null] }, maxItems: 3 }],
  [{ type: ['string', 'null'], description: 'who' }],
  [{ const: 'yes', type: 'string' }],
  [{ type: 'string', format: 'date' }],
])('leaves what a grammar can hold as it is: %j', (schema) => {
  expect(grammarSchema(schema)).toEqual({ kind: 'fits', schema })
})

test('says alternatives in the one way there is, and leaves an open object open', () => {
  const tree = {
    anyOf: [{ type: 'null' }, { $ref: '#/$defs/node' }],
    $defs: {
      node: { type: 'object', properties: { next: { anyOf: [{ $ref: '#/$defs/node' }] } } },
    },
  }
  expect(grammarSchema(tree)).toEqual({
    kind: 'fits',
    schema: {
      oneOf: [{ type: 'null' }, { $ref: '#/$defs/node' }],
      $defs: {
        node: { type: 'object', properties: { next: { oneOf: [{ $ref: '#/$defs/node' }] } } },
      },
    },
  })
  expect(grammarSchema({ type: 'object' })).toEqual({
    kind: 'fits',
    schema: { type: 'object', properties: {}, additionalProperties: true },
  })
})

test.each([
  [{ $ref: '#/nowhere' }, '/$ref must lead to one of the $defs of the whole schema'],
  [{}, '/type is missing'],
  [{ type: 'text' }, '/type names no type of JSON'],
  [{ type: 'string', pattern: '^a' }, '/pattern is not supported'],
  [{ type: 'integer', minimum: 0 }, '/minimum is not supported'],
  [
    { type: 'object', properties: { a: { type: 'x' } } },
    '/properties/a/type names no type of JSON',
  ],
  [{ type: 'object', required: ['a'] }, '/required names a, which has no schema'],
  [{ type: 'array', items: 7 }, '/items must be an object'],
  [{ type: ['object', 'null'] }, '/type must name objects and arrays by anyOf'],
  [{ enum: [] }, '/enum must be a list of texts, numbers, booleans or null'],
  [{ const: {} }, '/const must be no object or list'],
  [{ oneOf: [] }, '/oneOf must be a list'],
  [{ type: 'string', format: 'email' }, '/format must be one of date-time, date, time'],
])('refuses what a grammar would not hold a model to: %j', (schema, detail) => {
  expect(grammarSchema(schema)).toEqual({ kind: 'refused', detail })
})

test('has an end', () => {
  let schema: object = { type: 'string' }
  for (let i = 0; i < 40; i += 1) schema = { type: 'array', items: schema }
  expect(grammarSchema(schema as Record<string, unknown>)).toMatchObject({ kind: 'refused' })
})
