/** A text with something undone, and where each byte of it stood: `null` = at the same place. */
export type View = {
  readonly bytes: Uint8Array
  readonly from: Uint32Array | null
  readonly to: Uint32Array | null
}

const percent = 0x25
const backslash = 0x5c
const ampersand = 0x26

const hexDigit = (byte: number | undefined): number => {
  if (byte === undefined) return -1
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}

/** The number that `digits` hexadecimal digits from `at` make, or -1. */
const hexAt = (bytes: Uint8Array, at: number, digits: number): number => {
  let value = 0
  for (let i = at; i < at + digits; i += 1) {
    const digit = hexDigit(bytes[i])
    if (digit === -1) return -1
    value = value * 16 + digit
  }
  return value
}

/**
 * Meaning of an escape: a byte as it is, or the number of a character above `point`. A number, because
 * texts are full of them; its length is in `unitLength`.
 */
const none = -1
const point = 0x1000000
let unitLength = 0

const unit = (value: number, length: number): number => {
  unitLength = length
  return value
}
const pointUnit = (code: number, length: number): number =>
  code > 0x10ffff ? none : unit(code < 0x80 ? code : point + code, length)

const shortEscapes = new Map(
  Object.entries({ n: 10, t: 9, r: 13, b: 8, f: 12, v: 11, '0': 0, a: 7, e: 27 }).map(
    ([letter, byte]) => [letter.charCodeAt(0), byte] as const,
  ),
)
const names = new Map([
  ['amp;', 0x26],
  ['lt;', 0x3c],
  ['gt;', 0x3e],
  ['quot;', 0x22],
  ['apos;', 0x27],
  ['nbsp;', 0x20],
])

function afterBackslash(bytes: Uint8Array, at: number): number {
  const next = bytes[at + 1]
  if (next === undefined) return none
  if (next === 0x75) return afterBackslashU(bytes, at)
  if (next === 0x78) {
    const byte = hexAt(bytes, at + 2, 2)
    return byte === -1 ? none : unit(byte, 4)
  }
  const short = shortEscapes.get(next)
  if (short !== undefined) return unit(short, 2)
  // `\\`, `\"`, `\/` and whatever else somebody thought worth a backslash.
  return next > 0x20 && next < 0x7f && !isWordByte(next) ? unit(next, 2) : none
}

/** Two that make one character together are one unit. */
function afterBackslashU(bytes: Uint8Array, at: number): number {
  const high = hexAt(bytes, at + 2, 4)
  if (high === -1) return none
  const isHigh = high >= 0xd800 && high < 0xdc00
  if (!isHigh || bytes[at + 6] !== backslash || bytes[at + 7] !== 0x75) return pointUnit(high, 6)
  const low = hexAt(bytes, at + 8, 4)
  if (low < 0xdc00 || low > 0xdfff) return pointUnit(high, 6)
  return pointUnit(0x10000 + (high - 0xd800) * 0x400 + (low - 0xdc00), 12)
}

const isWordByte = (byte: number): boolean =>
  (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a)

function afterAmpersand(bytes: Uint8Array, at: number): number {
  const next = bytes[at + 1]
  if (next === undefined || (next !== 0x23 && !isWordByte(next))) return none
  const end = bytes.subarray(at + 1, at + 12).indexOf(0x3b)
  if (end === -1) return none
  const text = String.fromCharCode(...bytes.subarray(at + 1, at + 2 + end))
  const byte = names.get(text)
  if (byte !== undefined) return unit(byte, text.length + 1)
  const numeric = /^#(?:[xX]([0-9a-fA-F]{1,6})|([0-9]{1,8}));$/.exec(text)
  if (!numeric) return none
  const code = numeric[1] ? Number.parseInt(numeric[1], 16) : Number(numeric[2])
  return pointUnit(code, text.length + 1)
}

const unitAt = (bytes: Uint8Array, at: number): number => {
  switch (bytes[at]) {
    case percent: {
      const byte = hexAt(bytes, at + 1, 2)
      return byte === -1 ? none : unit(byte, 3)
    }
    case backslash:
      return afterBackslash(bytes, at)
    case ampersand:
      return afterAmpersand(bytes, at)
    default:
      return none
  }
}

const encoder = new TextEncoder()

/** Where the first escape stands, or -1. */
function firstUnit(bytes: Uint8Array): number {
  if (!bytes.includes(percent) && !bytes.includes(backslash) && !bytes.includes(ampersand))
    return -1
  for (let at = 0; at < bytes.length; at += 1) if (unitAt(bytes, at) !== none) return at
  return -1
}

/** A text as long as `view` at most: no escape stands for more bytes than it is long. */
const blank = ({ bytes }: View, tracks: boolean) => ({
  made: new Uint8Array(bytes.length),
  from: tracks ? new Uint32Array(bytes.length) : null,
  to: tracks ? new Uint32Array(bytes.length) : null,
})

const cut = ({ made, from, to }: ReturnType<typeof blank>, length: number): View => ({
  bytes: made.subarray(0, length),
  from: from && from.subarray(0, length),
  to: to && to.subarray(0, length),
})

/** The place in the text itself of what stands from `start` up to `end` in a view. */
const startIn = (view: View, start: number): number => view.from?.[start] ?? start
const endIn = (view: View, end: number): number => view.to?.[end - 1] ?? end

/**
 * The view with one layer of escapes undone: URLs, JSON and other strings, HTML; null where there is none.
 * `tracks`: whether where each byte came from is asked for.
 */
export function unescaped(view: View, tracks: boolean): View | null {
  const { bytes } = view
  const first = firstUnit(bytes)
  if (first === -1) return null
  const blanks = blank(view, tracks)
  const { made, from, to } = blanks
  let length = 0
  for (let at = tracks ? 0 : first; at < bytes.length; ) {
    const value = at < first ? none : unitAt(bytes, at)
    const width = value === none ? 1 : unitLength
    const start = length
    if (value >= point) {
      const encoded = encoder.encode(String.fromCodePoint(value - point))
      made.set(encoded, length)
      length += encoded.length
    } else {
      made[length] = value === none ? (bytes[at] as number) : value
      length += 1
    }
    if (from && to)
      for (let i = start; i < length; i += 1) {
        from[i] = startIn(view, at)
        to[i] = endIn(view, at + width)
      }
    at += width
  }
  if (tracks || first === 0) return cut(blanks, length)
  // Text before the first escape may be the beginning of a secret whose rest is escaped.
  const whole = new Uint8Array(first + length)
  whole.set(bytes.subarray(0, first))
  whole.set(made.subarray(0, length), first)
  return { bytes: whole, from: null, to: null }
}

/** The view without white space and NULs: broken lines of base64, dumps of hex, UTF-16; null without any. */
export function squeezed(view: View, tracks: boolean): View | null {
  const { bytes } = view
  const blanks = blank(view, tracks)
  const { made, from, to } = blanks
  let length = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number
    if (byte <= 0x20) continue
    made[length] = byte
    if (from && to) {
      from[length] = startIn(view, at)
      to[length] = endIn(view, at + 1)
    }
    length += 1
  }
  return length === bytes.length ? null : cut(blanks, length)
}
