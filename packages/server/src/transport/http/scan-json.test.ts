import { GatehouseError } from '@gatehouse/contract'
import { processorMs } from '@gatehouse/testkit/processor-time'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { needsSlices, parseJson, parseText, parseTextInSlices } from './parse-json.ts'

const limits = { jsonDepthMax: 8, jsonKeysMax: 40, jsonValuesMax: 60 }
const generous = { jsonDepthMax: 64, jsonKeysMax: 100_000, jsonValuesMax: 200_000 }

const verdict = (text: string | Buffer, within = limits): string => {
  try {
    parseJson(Buffer.from(text), within)
    return 'ok'
  } catch (error) {
    if (!(error instanceof GatehouseError)) throw error
    return error.type === 'ParseError' ? 'parse' : String(error.facts['reason'])
  }
}

type Found = { readonly path: readonly (string | number)[]; readonly reason: string }

/** The slow, obvious reader: a value at a time, every rule where it applies. Null for what is no JSON. */
const findAll = (text: string, within = limits): Found[] | null => {
  try {
    JSON.parse(text)
  } catch {
    return null
  }
  let at = 0
  let keys = 0
  let values = 0
  const all: Found[] = []
  const path: (string | number)[] = []
  // Deeper values have no path of their own.
  const found = {
    add: (reason: string) => all.push({ path: path.slice(0, within.jsonDepthMax), reason }),
  }
  const space = () => {
    while (' \t\n\r'.includes(text[at] ?? 'x')) at++
  }
  const string = (): string => {
    const from = at++
    while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
    at++
    const value = JSON.parse(text.slice(from, at)) as string
    if (!value.isWellFormed()) found.add('lone_surrogate')
    return value
  }
  const keyAt = (from: number): string => {
    const key = string()
    at = from
    if (!key.isWellFormed()) all.pop()
    return key.toWellFormed()
  }
  const scalar = (): void => {
    const token = /^[^\s,\]}]+/.exec(text.slice(at))?.[0] ?? ''
    at += token.length
    if (!/^[-\d]/.test(token)) return
    if (!Number.isFinite(Number(token))) found.add('non_finite_number')
    else if (/^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token)))
      found.add('unsafe_integer')
  }
  const value = (depth: number): void => {
    if (++values > within.jsonValuesMax) found.add('values')
    space()
    const c = text[at]
    if (c === '"') {
      string()
    } else if (c === '{' || c === '[') {
      if (depth >= within.jsonDepthMax) found.add('depth')
      const seen = new Set<string>()
      at++
      space()
      for (let index = 0; text[at] !== '}' && text[at] !== ']'; index++) {
        path.push(index)
        if (c === '{') {
          const from = at
          path[path.length - 1] = keyAt(from)
          const key = string()
          if (++keys > within.jsonKeysMax) found.add('keys')
          if (key === '__proto__') found.add('proto_key')
          if (seen.has(key)) found.add('duplicate_key')
          seen.add(key)
          space()
          at++
        }
        value(depth + 1)
        path.pop()
        space()
        if (text[at] === ',') at++
        space()
      }
      at++
    } else scalar()
    space()
  }
  value(0)
  return all
}

const naive = (text: string, within = limits): string => {
  const all = findAll(text, within)
  if (all === null) return 'parse'
  const reasons = new Set(all.map(({ reason }) => reason))
  return reasons.size === 0 ? 'ok' : [...reasons].toSorted().join(' ')
}

/** Findings of the scan in a text within its counts, against those of the obvious reader. */
const agreesOnPlaces = (generated: string): void => {
  const text = Buffer.from(generated).toString()
  const all = findAll(text, { ...limits, jsonKeysMax: 1e6, jsonValuesMax: 1e6 })
  if (all === null) return
  const { faults } = parseText(text, { ...limits, jsonKeysMax: 1e6, jsonValuesMax: 1e6 })
  const shallow = all.filter(({ path }) => path.length < limits.jsonDepthMax)
  for (const fault of faults) {
    if (fault.reason === 'depth' || fault.path.length >= limits.jsonDepthMax) continue
    expect(shallow, text).toContainEqual(fault)
  }
  // At least one fault of each place is known: a place is an argument, in a batch too.
  const length = text.trimStart().startsWith('{') ? 3 : 4
  const placeOf = (path: Found['path']) => JSON.stringify(path.slice(0, length))
  const places = new Set(faults.map(({ path }) => placeOf(path)))
  for (const { path } of shallow)
    expect(places, `${text} ${placeOf(path)}`).toContain(placeOf(path))
}

const agrees = (generated: string): void => {
  // Bytes that a peer can send: damage may have cut a pair in two, and such a half has no UTF-8.
  const text = Buffer.from(generated).toString()
  const got = verdict(text)
  const want = naive(text)
  if (want === 'ok') expect(got, text).toBe('ok')
  // Text that is no JSON may be refused by either; text that breaks several rules names one of them.
  else if (want === 'parse') expect(got, text).not.toBe('ok')
  else expect(want.split(' '), text).toContain(got)
}

const oddStrings = fc.constantFrom(
  'a',
  'b',
  'content',
  '__proto__',
  'constructor',
  '\ud83d\ude00',
  '"',
  '\\',
  'x'.repeat(120),
  `${'y'.repeat(60)}"${'\\'.repeat(3)}z`,
  '',
)
const oddNumbers = fc.constantFrom(
  '0',
  '-0',
  '9007199254740991',
  '9007199254740993',
  '1e400',
  '1.5',
)
const rawStrings = fc.constantFrom(
  '"\\ud800"',
  '"\\udc00"',
  '"\\ud83d\\ude00"',
  '"\\ud83dx"',
  '"\\u0061"',
  '"\\u005f_proto__"',
  '"\\n\\t\\"\\\\"',
)
const texts = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 10, withCrossShrink: true },
    oddNumbers,
    rawStrings,
    fc.constantFrom('true', 'false', 'null'),
    oddStrings.map((s) => JSON.stringify(s)),
    fc.double().map((n) => (Number.isFinite(n) ? String(n) : '7')),
    fc.array(tie('value'), { maxLength: 6 }).map((items) => `[${items.join(' ,')}]`),
    fc
      .array(
        fc.tuple(
          fc.oneof(
            oddStrings.map((s) => JSON.stringify(s)),
            rawStrings,
            fc.string().map((s) => JSON.stringify(s)),
          ),
          tie('value'),
        ),
        { maxLength: 20 },
      )
      .map((entries) => `{${entries.map(([k, v]) => `${k} : ${v}`).join(',')}}`),
  ),
})).value

describe('the scan before parsing', () => {
  test('agrees with a naive reader on generated texts', () => {
    fc.assert(fc.property(texts, agrees), { numRuns: 3000 })
  })

  test('agrees with it on where each fault is', () => {
    fc.assert(fc.property(texts, agreesOnPlaces), { numRuns: 3000 })
  })

  test('agrees with a naive reader on damaged texts', () => {
    const damaged = fc
      .tuple(texts, fc.nat(), fc.constantFrom('"', '{', ']', ',', '\\', '1', ' ', ''))
      .map(([text, at, c]) => {
        const cut = at % (text.length + 1)
        return text.slice(0, cut) + c + text.slice(cut + 1)
      })
    fc.assert(fc.property(damaged, agrees), { numRuns: 3000 })
  })

  test.each([
    ['nesting at the limit', '[[[[[[[[1]]]]]]]]', 'ok'],
    ['nesting above the limit', '[[[[[[[[[1]]]]]]]]]', 'depth'],
    ['a duplicate key', '{"a":1,"a":2}', 'duplicate_key'],
    ['a duplicate key in disguise', '{"a":1,"\\u0061":2}', 'duplicate_key'],
    ['the same key in two objects', '[{"a":1},{"a":{"a":1}}]', 'ok'],
    ['__proto__ in disguise', '{"\\u005f_proto__":1}', 'proto_key'],
    ['__proto__ as a value', '["__proto__"]', 'ok'],
    ['half a pair', '["\\ud800"]', 'lone_surrogate'],
    ['a whole pair', '["\\ud83d\\ude00"]', 'ok'],
    ['1e400', '[1e400]', 'non_finite_number'],
    ['the largest safe integer', '[9007199254740991,-9007199254740991]', 'ok'],
    ['2^53 + 1', '[9007199254740993]', 'unsafe_integer'],
    ['-(2^53 + 1)', '{"id":-9007199254740993}', 'unsafe_integer'],
    ['a large number with a fraction', '[1.5e300]', 'ok'],
    ['NaN', '[NaN]', 'parse'],
    ['two values', '{} {}', 'parse'],
    ['a comment', '{/* */}', 'parse'],
    ['nothing', '', 'parse'],
    ['a byte order mark', '\ufeff{}', 'parse'],
  ])('%s', (_name, text, want) => {
    expect(verdict(text)).toBe(want)
  })

  test('counts keys and values over the whole text', () => {
    const object = (n: number) => `{${Array.from({ length: n }, (_, i) => `"k${i}":1`).join(',')}}`
    expect(verdict(object(40))).toBe('ok')
    expect(verdict(object(41))).toBe('keys')
    expect(verdict(`[${Array(59).fill('1').join(',')}]`)).toBe('ok')
    expect(verdict(`[${Array(60).fill('1').join(',')}]`)).toBe('values')
  })

  test('counts keys and values apart where it is too deep as well', () => {
    const deep = (n: number): string => {
      const object = `{${Array.from({ length: n }, (_, i) => `"k${i}":1`).join(',')}}`
      return `${'['.repeat(8)}${object}${']'.repeat(8)}`
    }
    expect(verdict(deep(36))).toBe('depth')
    expect(verdict(deep(41))).toBe('keys')
  })

  test('finds a duplicate among many keys', () => {
    const keys = Array.from({ length: 30 }, (_, i) => `"k${i}":1`)
    expect(verdict(`{${keys.join(',')},"k3":2}`)).toBe('duplicate_key')
    expect(verdict(`{${keys.join(',')},"k30":2}`)).toBe('ok')
  })

  test('refuses bytes that are not UTF-8 and takes those that are', () => {
    expect(verdict(Buffer.from([0x22, 0xff, 0x22]))).toBe('parse')
    expect(verdict(Buffer.from('"\u00e9\u{1f600}"'))).toBe('ok')
    expect(verdict(Buffer.from('"x"', 'utf16le'))).toBe('parse')
  })

  test('reads a large body in slices, to the same verdict', async () => {
    const large = JSON.stringify({ content: 'line\n"quoted"\n'.repeat(200_000), n: [1, 2, 3] })
    const bytes = Buffer.from(large)
    expect(needsSlices(bytes)).toBe(true)
    expect(await parseTextInSlices(large, generous)).toEqual({
      value: JSON.parse(large),
      faults: [],
    })
    const twice = await parseTextInSlices(`${large.slice(0, -1)},"n":1}`, generous)
    expect(twice.faults).toEqual([{ path: ['n'], reason: 'duplicate_key' }])
  })

  test('takes time in proportion to the text', () => {
    const lines = Buffer.from(JSON.stringify('line of text\n'.repeat(200_000)))
    const started = processorMs()
    parseJson(lines, generous)
    expect(processorMs() - started).toBeLessThan(2_000)
  })

  test('a million nested brackets are refused without harm', () => {
    expect(verdict('['.repeat(1_000_000), generous)).toBe('values')
  })
})
