import fc from 'fast-check'
import { configure } from 'safe-stable-stringify'
import { expect, test } from 'vitest'
import { canonical, canonicalText, keysInOrder } from './canonical.ts'

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
let deepInObjects: unknown = 1
for (let i = 0; i < 10_000; i++) {
  deep = [deep]
  deepInObjects = { a: deepInObjects }
}
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
  'ten thousand levels of objects': deepInObjects,
}

for (const [name, value] of Object.entries(refused)) {
  test(`refuses ${name}`, () => {
    expect(() => canonical(value)).toThrow(expect.objectContaining({ type: 'NotRecordable' }))
  })
}

test('says where the value is that it refuses, and why', () => {
  const said = (value: unknown) => {
    try {
      return canonical(value)
    } catch (error) {
      return (error as Error).message
    }
  }
  expect(said(undefined)).toContain('the value is undefined, which JSON cannot carry')
  expect(said({ a: { b: [1, Number.NaN] } })).toContain(': a.b[1] is not a finite number')
  expect(said({ a: new Date(0) })).toContain('a is not a plain object')
  expect(said({ a: '\ud800' })).toContain('a holds half a character')
  expect(() => canonicalText('\ud800')).toThrow('the value holds half a character')
  expect(said(deep)).toContain(`${'[0]'.repeat(26)}[0 is nested deeper than 100`)
})

test('takes a hundred levels, as many names as there are and objects without a prototype', () => {
  let levels: unknown = 1
  for (let i = 0; i < 101; i++) levels = [levels]
  expect(canonical(levels)).toBe(`${'['.repeat(101)}1${']'.repeat(101)}`)
  expect(() => canonical([levels])).toThrow()
  expect(canonical(Object.assign(Object.create(null), { b: 1, a: 2 }))).toBe('{"a":2,"b":1}')
  for (const count of [2, 16, 17, 40]) {
    const names = Array.from({ length: count }, (_, i) => `k${(i * 7) % count}x${i}`)
    const value = Object.fromEntries(names.map((name) => [name, 1]))
    expect(keysInOrder(value)).toEqual(names.toSorted())
  }
  expect([canonicalText(null), canonicalText('a"')]).toEqual(['null', '"a\\""'])
})
