import fc from 'fast-check'
import { configure } from 'safe-stable-stringify'
import { expect, test } from 'vitest'
import { canonical } from './canonical.ts'

test('writes what RFC 8785 prescribes', () => {
  const value = {
    numbers: [333333333.3333333, 1e30, 4.5, 2e-3, 0.000000000000000000000000001, -0],
    string: '€$\u000f\nA\'B"\\\\"/',
    literals: [null, true, false],
    '€': 1,
    '\r': 2,
    '1': 3,
    '\u{1f600}': 4,
    '\ufb33': 5,
  }
  expect(canonical(value)).toBe(
    '{"\\r":2,"1":3,"literals":[null,true,false],' +
      '"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27,0],' +
      '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/","€":1,"😀":4,"\ufb33":5}',
  )
})

test('agrees with an independent implementation on any JSON value', () => {
  const other = configure({ strict: true })
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
      const text = canonical(value)
      expect(text).toBe(other(value))
      expect(canonical(JSON.parse(text))).toBe(text)
    }),
    { numRuns: 500 },
  )
})

test('keeps a field called __proto__ as a field', () => {
  expect(canonical(JSON.parse('{"__proto__":{"a":1}}'))).toBe('{"__proto__":{"a":1}}')
})

let deep: unknown = 1
for (let i = 0; i < 10_000; i++) deep = [deep]
const refused: Record<string, unknown> = {
  undefined: { a: undefined },
  'undefined in a list': [undefined],
  'not a number': Number.NaN,
  infinity: [Number.POSITIVE_INFINITY],
  'a big integer': 1n,
  'a function': () => 1,
  'a symbol': Symbol('x'),
  'a date': new Date(0),
  'a map': new Map(),
  bytes: new Uint8Array(1),
  'half a character': 'a\ud800b',
  'half a character in a name': { '\udc00': 1 },
  'ten thousand levels': deep,
}

for (const [name, value] of Object.entries(refused)) {
  test(`refuses ${name}`, () => {
    expect(() => canonical(value)).toThrow(expect.objectContaining({ type: 'NotRecordable' }))
  })
}
