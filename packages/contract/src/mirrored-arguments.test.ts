import { describe, expect, test } from 'vitest'
import {
  headerValue,
  mirroredArguments,
  mirroredHeaders,
  mirroredMismatch,
  tooLongForHeaders,
} from './mirrored-arguments.ts'

const region = { type: 'string', 'x-mcp-header': 'Region' }
const schema = {
  type: 'object',
  properties: {
    region,
    where: { type: 'object', properties: { shelf: { type: 'integer', 'x-mcp-header': 'Shelf' } } },
    'x-mcp-header': { type: 'boolean', default: { 'x-mcp-header': 1 } },
  },
}
const mirrored = mirroredArguments(schema)

test('finds annotated arguments at any depth of properties', () => {
  expect(mirrored).toEqual([
    { path: ['region'], header: 'Region', type: 'string' },
    { path: ['where', 'shelf'], header: 'Shelf', type: 'integer' },
  ])
})

test.each([
  ['below a list', { properties: { all: { items: region } } }],
  ['in one of several forms', { properties: { one: { anyOf: [region] } } }],
  ['in a definition', { $defs: { region } }],
  ['of the whole', region],
  ['with a space', { properties: { a: { type: 'string', 'x-mcp-header': 'a b' } } }],
  ['without a name', { properties: { a: { type: 'string', 'x-mcp-header': '' } } }],
  ['of a number', { properties: { a: { type: 'number', 'x-mcp-header': 'A' } } }],
  ['of the same name', { properties: { a: region, b: { ...region, 'x-mcp-header': 'REGION' } } }],
])('one annotation %s makes all of them void', (_what, wrong) => {
  const { properties = {}, ...rest } = wrong as { properties?: object }
  const whole = {
    ...rest,
    properties: { good: { ...region, 'x-mcp-header': 'Good' }, ...properties },
  }
  expect(mirroredArguments(whole)).toEqual([])
})

test('a schema without a bottom has none', () => {
  let deep: object = region
  for (let i = 0; i < 20_000; i += 1) deep = { properties: { a: deep } }
  expect(mirroredArguments(deep)).toEqual([])
})

test('names the argument that is too long for headers, and writes none', () => {
  const long = { region: 'x'.repeat(7_000), where: { shelf: 7 } }
  expect(tooLongForHeaders(mirrored, long)).toBeNull()
  expect(mirroredMismatch(mirrored, long, () => undefined)).not.toBeNull()
  // Base64 takes a third more.
  for (const region of ['ü'.repeat(3_500), 'x'.repeat(1_000_000)]) {
    const args = { ...long, region }
    expect(tooLongForHeaders(mirrored, args)).toMatchObject({
      path: ['region'],
      detail: expect.stringContaining('Mcp-Param-Region'),
    })
    expect(mirroredHeaders(mirrored, args)).toEqual({})
    expect(mirroredMismatch(mirrored, args, () => undefined)).toBeNull()
  }
})

test('writes what no header can hold as Base64', () => {
  expect(mirroredHeaders(mirrored, { region: 'Zürich', where: { shelf: 7 } })).toEqual({
    'Mcp-Param-Region': '=?base64?WsO8cmljaA==?=',
    'Mcp-Param-Shelf': '7',
  })
  expect(mirroredHeaders(mirrored, { region: null, where: [] })).toEqual({})
  for (const text of ['', ' a', 'a\n', '=?base64?YQ==?='])
    expect(headerValue(text)).toMatch(/^=\?base64\?[A-Za-z0-9+/=]*\?=$/)
  expect(headerValue('a b')).toBe('a b')
})

describe('headers and body', () => {
  const mismatch = (args: object, headers: Readonly<Record<string, string>>) =>
    mirroredMismatch(mirrored, args, (name) => headers[name])?.header ?? null

  test.each([
    [{ region: 'west' }, { 'mcp-param-region': 'west' }],
    [{ region: 'Zürich' }, { 'mcp-param-region': '=?base64?WsO8cmljaA==?=' }],
    [{ where: { shelf: 42 } }, { 'mcp-param-shelf': '42.0' }],
    [{ region: null }, { 'mcp-param-region': 'ignored' }],
    [{}, {}],
  ])('that say the same are let through: %j', (args, headers) => {
    expect(mismatch(args, headers)).toBe(null)
  })

  test.each([
    [{ region: 'west' }, {}],
    [{ region: 'west' }, { 'mcp-param-region': 'West' }],
    [{ region: 'a' }, { 'mcp-param-region': '=?base64?YQ=?=' }],
    [{ region: '\ufffd' }, { 'mcp-param-region': '=?base64?/w==?=' }],
    [{ region: 'a' }, { 'mcp-param-region': '=?base64?YQ==' }],
  ])('that differ are told apart: %j', (args, headers) => {
    expect(mismatch(args, headers)).toBe('Mcp-Param-Region')
  })
})
