import { type GgufCursor, quoted, refuse } from './gguf-cursor.ts'

const arrayMax = 1_048_576
const distinctKeys: readonly string[] = ['tokenizer.ggml.tokens']

/** Kept part of a value: enough for every check, and no more than that. */
export type GgufValue =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'bool' }
  | {
      readonly kind: 'numbers'
      readonly length: number
      readonly least: number
      readonly most: number
    }
  | { readonly kind: 'texts'; readonly length: number }
  | { readonly kind: 'bools'; readonly length: number }

type Reader = { readonly bytes: number; read(cursor: GgufCursor, what: string): number }

const numberReaders: Readonly<Record<number, Reader>> = {
  0: { bytes: 1, read: (c) => c.u8() },
  1: { bytes: 1, read: (c) => c.i8() },
  2: { bytes: 2, read: (c) => c.u16() },
  3: { bytes: 2, read: (c) => c.i16() },
  4: { bytes: 4, read: (c) => c.u32() },
  5: { bytes: 4, read: (c) => c.i32() },
  6: { bytes: 4, read: (c) => c.f32() },
  10: { bytes: 8, read: (c, what) => c.u64(what) },
  // Signed ones of this width are read as unsigned: a negative one is beyond all bounds, and so refused.
  11: { bytes: 8, read: (c, what) => c.u64(what) },
  12: { bytes: 8, read: (c) => c.f64() },
}
/** Longer ones are of tokens, whose numbers nobody here asks for. */
const lookedAtMax = 4_096
const [boolType, textType, arrayType] = [7, 8, 9]

const readBool = (cursor: GgufCursor, what: string): void => {
  if (cursor.u8() > 1) refuse(`${what} is a boolean that is neither 0 nor 1`)
}

function readArray(cursor: GgufCursor, key: string): GgufValue {
  const what = `the value of ${quoted(key)}`
  const type = cursor.u32()
  const length = cursor.u64(`the length of ${what}`)
  if (length > arrayMax) refuse(`${what} has ${length} elements; at most ${arrayMax} are allowed`)
  if (type === textType) {
    cursor.expect(length * 8)
    if (!distinctKeys.includes(key)) {
      for (let i = 0; i < length; i += 1) cursor.skipText(what)
      return { kind: 'texts', length }
    }
    const seen = new Set<string>()
    for (let i = 0; i < length; i += 1) {
      const text = cursor.raw(what)
      if (seen.has(text)) refuse(`${what} holds the same element twice, the second at ${i}`)
      seen.add(text)
    }
    return { kind: 'texts', length }
  }
  if (type === boolType) {
    cursor.expect(length)
    for (let i = 0; i < length; i += 1) readBool(cursor, what)
    return { kind: 'bools', length }
  }
  const reader = numberReaders[type] ?? refuse(`${what} is an array of the unknown type ${type}`)
  cursor.expect(length * reader.bytes)
  if (length > lookedAtMax) {
    cursor.skip(length * reader.bytes)
    return { kind: 'numbers', length, least: Number.NaN, most: Number.NaN }
  }
  let [least, most] = [Infinity, -Infinity]
  for (let i = 0; i < length; i += 1) {
    const value = reader.read(cursor, what)
    if (value < least) least = value
    if (value > most) most = value
  }
  return { kind: 'numbers', length, least, most }
}

export function readValue(cursor: GgufCursor, key: string): GgufValue {
  const what = `the value of ${quoted(key)}`
  const type = cursor.u32()
  if (type === arrayType) return readArray(cursor, key)
  // Only the few texts that are shown need to be text; a template may be anything.
  if (type === textType)
    return key.startsWith('general.')
      ? { kind: 'text', value: cursor.text(what) }
      : { kind: 'text', value: cursor.raw(what) }
  if (type === boolType) {
    readBool(cursor, what)
    return { kind: 'bool' }
  }
  const reader = numberReaders[type] ?? refuse(`${what} has the unknown type ${type}`)
  return { kind: 'number', value: reader.read(cursor, what) }
}
