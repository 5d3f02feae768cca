import { formBytesMin, formsOf } from './forms.ts'
import { Matcher, type Pattern } from './matcher.ts'
import { type Place, placesIn } from './places.ts'

const replacement = (name: string): string => `[secret:${name}]`

/** Bytes of one character in the longest escape there is, twice over. */
const escapedBytesMax = 14
/** A cut of a stream may stand in an escape; no escape is longer. */
const escapeBytesMax = 12

/** Values of one name that are known at once. */
const valuesMax = 20

const heldBytesFor = (value: string): number =>
  Buffer.byteLength(value) * escapedBytesMax + 4 * escapeBytesMax

/** The whole, and of a name and password as basic authentication sends them the password too. */
const partsOf = (value: string): string[] => {
  const password = /^[^:\s]+:(\S+)$/.exec(value)?.[1]
  return password === undefined || password.startsWith('//') ? [value] : [value, password]
}

type Plain = Record<string, unknown>

const isPlain = (value: object): value is Plain => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/**
 * Knows the secrets that were used since the process started, and takes them out of what leaves it. As long
 * as none was used it returns what it is given.
 */
export class Scrubber {
  /** Values by the name that they stand under, the newest last. */
  readonly #values = new Map<string, string[]>()
  readonly #patterns = new Map<string, readonly Pattern[]>()
  #matcher: Matcher | null = null
  #heldBytes = 0

  /** From now on `value` is blacked out as `[secret:<name>]`; of each name the newest are known. */
  know(name: string, value: string): void {
    const values = this.#values.get(name) ?? []
    if (values.at(-1) === value) return
    this.#values.set(name, [...values.filter((one) => one !== value), value])
    // A value stays under the name that it was first used by.
    if (this.#patterns.has(value)) return
    const forms = partsOf(value).flatMap(formsOf)
    this.#patterns.set(
      value,
      forms.map((form) => ({ ...form, name })),
    )
    this.#forget(name)
    this.#matcher = new Matcher([...this.#patterns.values()].flat())
    this.#heldBytes = Math.max(0, ...[...this.#patterns.keys()].map(heldBytesFor))
  }

  /** Tokens are replaced all the time; answers to a call that began with an old one may still come. */
  #forget(name: string): void {
    const values = this.#values.get(name) ?? []
    const gone = values.slice(0, -valuesMax)
    if (gone.length === 0) return
    this.#values.set(name, values.slice(-valuesMax))
    const kept = new Set([...this.#values.values()].flat())
    for (const value of gone) if (!kept.has(value)) this.#patterns.delete(value)
  }

  /** In text, and in every key, text and long number of a JSON value. The same object where nothing was found. */
  scrub<T>(value: T): T {
    return this.#matcher === null ? value : (this.#value(value) as T)
  }

  /**
   * The same for a stream. Holds back as many bytes as the longest spelling may need.
   * @SECURITY A secret that is split over chunks is found; scrubber.test.ts.
   */
  async *scrubStream(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let held = Buffer.alloc(0)
    for await (const chunk of chunks) {
      held = held.length === 0 ? Buffer.from(chunk) : Buffer.concat([held, chunk])
      const matcher = this.#matcher
      if (matcher === null) {
        yield held
        held = Buffer.alloc(0)
        continue
      }
      // Searched in lumps: each byte is then looked at twice at most, however small the chunks are.
      if (held.length < 2 * this.#heldBytes) continue
      const places = placesIn(matcher, held)
      const cut = findCut(held, held.length - this.#heldBytes, places)
      if (cut === 0) continue
      yield replaced(
        held.subarray(0, cut),
        places.filter(({ end }) => end <= cut),
      )
      held = held.subarray(cut)
    }
    if (held.length > 0) yield this.#bytes(held)
  }

  #value(value: unknown): unknown {
    if (typeof value === 'string') return this.#text(value)
    if (typeof value === 'number' || typeof value === 'bigint') return this.#number(value)
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) {
      const items = value.map((item) => this.#value(item))
      return items.some((item, i) => item !== value[i]) ? items : value
    }
    if (value instanceof Uint8Array) return this.#bytes(value)
    if (!isPlain(value)) return value
    const entries = Object.entries(value).map(
      ([key, inner]) => [this.#text(key), this.#value(inner)] as const,
    )
    const changed = entries.some(
      ([key, inner]) => !Object.hasOwn(value, key) || inner !== value[key],
    )
    return changed ? Object.fromEntries(entries) : value
  }

  #text(text: string): string {
    if (text.length < formBytesMin) return text
    const bytes = Buffer.from(text, 'utf8')
    const clean = this.#bytes(bytes)
    return clean === bytes ? text : Buffer.from(clean).toString('utf8')
  }

  #number(value: number | bigint): unknown {
    const text = String(value)
    const clean = this.#text(text)
    return clean === text ? value : clean
  }

  #bytes(bytes: Uint8Array): Uint8Array {
    const places = this.#matcher === null ? [] : placesIn(this.#matcher, bytes)
    return places.length === 0 ? bytes : replaced(bytes, places)
  }
}

/** The last place before `wanted` where nothing is cut in two: no secret, and no escape. */
function findCut(bytes: Uint8Array, wanted: number, places: readonly Place[]): number {
  let cut = wanted
  for (const { start, end } of places) if (start < cut && end > cut) cut = start
  const escape = (at: number) => bytes[at] === 0x5c || bytes[at] === 0x25 || bytes[at] === 0x26
  for (let back = 1; back <= escapeBytesMax && back <= cut; back += 1)
    if (
      escape(cut - back) &&
      !places.some(({ start, end }) => start < cut - back && end > cut - back)
    )
      return cutBefore(bytes, cut - back, places)
  return cut
}

/** In front of a whole run of escapes, unless it is so long that it cannot be one that matters. */
function cutBefore(bytes: Uint8Array, from: number, places: readonly Place[]): number {
  let cut = from
  while (cut > 0 && from - cut < 64 && bytes[cut - 1] === 0x5c) cut -= 1
  for (const { start, end } of places) if (start < cut && end > cut) cut = start
  return cut
}

function replaced(bytes: Uint8Array, places: readonly Place[]): Uint8Array {
  if (places.length === 0) return bytes
  const parts: Uint8Array[] = []
  let from = 0
  for (const { name, start, end } of places) {
    parts.push(bytes.subarray(from, start), Buffer.from(replacement(name), 'utf8'))
    from = end
  }
  parts.push(bytes.subarray(from))
  return Buffer.concat(parts)
}
