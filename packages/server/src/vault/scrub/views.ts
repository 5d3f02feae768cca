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

type Unit = { readonly bytes: Uint8Array; readonly length: number } | null

const encoder = new TextEncoder()
const one = (byte: number, length: number): Unit => ({ bytes: Uint8Array.of(byte), length })
const point = (code: number, length: number): Unit =>
  code > 0x10ffff ? null : { bytes: encoder.encode(String.fromCodePoint(code)), length }

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

function afterBackslash(bytes: Uint8Array, at: number): Unit {
  const next = bytes[at + 1]
  if (next === undefined) return null
  if (next === 0x75) return afterBackslashU(bytes, at)
  if (next === 0x78) {
    const byte = hexAt(bytes, at + 2, 2)
    return byte === -1 ? null : one(byte, 4)
  }
  const short = shortEscapes.get(next)
  if (short !== undefined) return one(short, 2)
  // `\\`, `\"`, `\/` and whatever else somebody thought worth a backslash.
  return next > 0x20 && next < 0x7f && !isWordByte(next) ? one(next, 2) : null
}

/** Two that make one character together are one unit. */
function afterBackslashU(bytes: Uint8Array, at: number): Unit {
  const unit = hexAt(bytes, at + 2, 4)
  if (unit === -1) return null
  const isHigh = unit >= 0xd800 && unit < 0xdc00
  if (!isHigh || bytes[at + 6] !== backslash || bytes[at + 7] !== 0x75) return point(unit, 6)
  const low = hexAt(bytes, at + 8, 4)
  if (low < 0xdc00 || low > 0xdfff) return point(unit, 6)
  return point(0x10000 + (unit - 0xd800) * 0x400 + (low - 0xdc00), 12)
}

const isWordByte = (byte: number): boolean =>
  (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a)

function afterAmpersand(bytes: Uint8Array, at: number): Unit {
  const text = Buffer.from(bytes.subarray(at + 1, at + 12)).toString('latin1')
  const numeric = /^#(?:[xX]([0-9a-fA-F]{1,6})|([0-9]{1,8}));/.exec(text)
  if (numeric) {
    const code = numeric[1] ? Number.parseInt(numeric[1], 16) : Number(numeric[2])
    return point(code, numeric[0].length + 1)
  }
  for (const [name, byte] of names) if (text.startsWith(name)) return one(byte, name.length + 1)
  return null
}

const unitAt = (bytes: Uint8Array, at: number): Unit => {
  switch (bytes[at]) {
    case percent: {
      const byte = hexAt(bytes, at + 1, 2)
      return byte === -1 ? null : one(byte, 3)
    }
    case backslash:
      return afterBackslash(bytes, at)
    case ampersand:
      return afterAmpersand(bytes, at)
    default:
      return null
  }
}

/** Takes a new text byte by byte, and where each came from, if that is asked for. */
class Builder {
  readonly #view: View
  readonly #bytes: Uint8Array
  readonly #from: Uint32Array | null
  readonly #to: Uint32Array | null
  #length = 0

  constructor(view: View, tracks: boolean) {
    this.#view = view
    // A unit never makes more bytes than it is long.
    const size = view.bytes.length
    this.#bytes = new Uint8Array(size)
    this.#from = tracks ? new Uint32Array(size) : null
    this.#to = tracks ? new Uint32Array(size) : null
  }

  add(byte: number, from: number, to: number): void {
    const at = this.#length++
    this.#bytes[at] = byte
    if (!this.#from || !this.#to) return
    this.#from[at] = this.#view.from ? (this.#view.from[from] as number) : from
    this.#to[at] = this.#view.to ? (this.#view.to[to - 1] as number) : to
  }

  view(): View {
    return {
      bytes: this.#bytes.subarray(0, this.#length),
      from: this.#from?.subarray(0, this.#length) ?? null,
      to: this.#to?.subarray(0, this.#length) ?? null,
    }
  }
}

const mayBeEscaped = (bytes: Uint8Array): boolean =>
  bytes.includes(percent) || bytes.includes(backslash) || bytes.includes(ampersand)

/** The view with one layer of escapes undone: URLs, JSON and other strings, HTML; null where there is none. */
export function unescaped(view: View, tracks: boolean): View | null {
  const { bytes } = view
  if (!mayBeEscaped(bytes)) return null
  const built = new Builder(view, tracks)
  let changed = false
  for (let at = 0; at < bytes.length; ) {
    const unit = unitAt(bytes, at)
    if (unit) {
      for (const byte of unit.bytes) built.add(byte, at, at + unit.length)
      at += unit.length
      changed = true
    } else {
      built.add(bytes[at] as number, at, at + 1)
      at += 1
    }
  }
  return changed ? built.view() : null
}

/** The view without white space and NULs: broken lines of base64, dumps of hex, UTF-16; null without any. */
export function squeezed(view: View, tracks: boolean): View | null {
  const { bytes } = view
  let dropped = 0
  for (const byte of bytes) if (byte <= 0x20) dropped += 1
  if (dropped === 0) return null
  const built = new Builder(view, tracks)
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number
    if (byte > 0x20) built.add(byte, at, at + 1)
  }
  return built.view()
}
