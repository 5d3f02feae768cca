import { processorMs } from '@gatehouse/testkit/processor-time'
import { describe, expect, test } from 'vitest'
import { compileSchema } from './argument-schema.ts'

const check = (schema: object, given: unknown) => {
  const compiled = compileSchema(schema as never)
  if (compiled.kind === 'unusable') throw new Error(compiled.problem)
  return compiled.check(given)
}

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })

describe('arguments are checked by the schema of the server', () => {
  test('and what is wrong is named where it is', () => {
    const schema = object(
      {
        repo: { type: 'string' },
        count: { type: 'integer', minimum: 1 },
        kind: { enum: ['a', 'b'] },
      },
      { required: ['repo'], additionalProperties: false },
    )
    expect(check(schema, { repo: 'x', count: 1, kind: 'a' })).toEqual([])
    expect(check(schema, { count: 0, kind: 'c', more: 1 })).toEqual([
      { path: ['repo'], kind: 'missing', detail: 'is required.' },
      { path: ['more'], kind: 'unknown', detail: 'is not known.' },
      { path: ['count'], kind: 'wrong', detail: 'must be >= 1.' },
      { path: ['kind'], kind: 'wrong', detail: expect.stringContaining('["a","b"]') },
    ])
    expect(check(schema, 'text')).toMatchObject([{ path: [], kind: 'wrong' }])
  })

  test.each([
    [
      '2020-12',
      'https://json-schema.org/draft/2020-12/schema',
      { prefixItems: [{ type: 'string' }] },
    ],
    ['draft 7', 'http://json-schema.org/draft-07/schema#', { items: [{ type: 'string' }] }],
  ])('in %s, with references', (_name, $schema, list) => {
    const schema = {
      ...object({ list: { type: 'array', ...list }, at: { $ref: '#/definitions/at' } }),
      $schema,
      definitions: { at: { type: 'object', required: ['x'] } },
    }
    expect(check(schema, { list: ['a'], at: { x: 1 } })).toEqual([])
    expect(check(schema, { list: [1], at: {} })).toMatchObject([
      { path: ['list', '0'] },
      { path: ['at', 'x'], kind: 'missing' },
    ])
  })
})

const deep = (levels: number): object =>
  levels === 0 ? {} : { type: 'object', properties: { a: deep(levels - 1) } }

describe('a schema is never trusted to be small', () => {
  test.each([
    ['is too large', object({ a: { description: 'x'.repeat(300_000) } }), /larger than 256 KiB/],
    ['is too deep', deep(60), /nested deeper/],
    ['takes no object', { type: 'string' }, /takes no object/],
    ['refers elsewhere', object({ a: { $ref: 'file:///etc/passwd' } }), /another document/],
  ])('one that %s is refused', (_name, schema, problem) => {
    expect(compileSchema(schema as never)).toEqual({
      kind: 'unusable',
      problem: expect.stringMatching(problem),
    })
  })

  test('one that doubles with each level, or leads back to itself, takes no time', () => {
    const doubling = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [
        `d${i}`,
        { anyOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
      ]),
    )
    const $defs = { ...doubling, d40: { type: 'string', const: 'never' } }
    const own = {
      anyOf: [
        { type: 'object', properties: { a: { $ref: '#/$defs/own' } } },
        { $ref: '#/$defs/own' },
      ],
    }
    const began = processorMs()
    expect(check({ ...object({ a: { $ref: '#/$defs/d0' } }), $defs }, { a: 1 })).toEqual([])
    expect(
      check({ ...object({ a: { $ref: '#/$defs/own' } }), $defs: { own } }, { a: { a: {} } }),
    ).toEqual([])
    expect(check({ ...object({ a: { $ref: '#/$defs/own' } }), $defs: { own } }, 'x')).toHaveLength(
      1,
    )
    expect(processorMs() - began).toBeLessThan(2_000)
  })

  test('patterns take time linear in the text; those that can’t are left to the server', () => {
    const hostile = object({ a: { type: 'string', pattern: '^(a+)+$' } })
    const began = processorMs()
    expect(check(hostile, { a: `${'a'.repeat(5_000)}!` })).toMatchObject([{ path: ['a'] }])
    expect(processorMs() - began).toBeLessThan(2_000)
    expect(check(object({ a: { type: 'string', pattern: '^(?=x)y' } }), { a: 'z' })).toEqual([])
  })

  test('a property may have any name', () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"uniqueItems":{"type":"string"},"format":{"type":"integer"}}}',
    )
    expect(check(schema, JSON.parse('{"uniqueItems":1,"format":"x"}'))).toMatchObject([
      { path: ['uniqueItems'] },
      { path: ['format'] },
    ])
  })

  test('a schema that makes no sense checks nothing but that it is an object', () => {
    expect(check(object({ a: { type: 'nonsense' } }), {})).toEqual([])
    expect(check(object({ a: { minimum: 'x' } }), [])).toHaveLength(1)
  })
})
