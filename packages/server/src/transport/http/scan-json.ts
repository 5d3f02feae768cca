import { GatehouseError } from '@gatehouse/contract'

export type JsonLimits = {
  readonly jsonDepthMax: number
  readonly jsonKeysMax: number
  readonly jsonValuesMax: number
}

/** Why a text that `JSON.parse` would take is not taken here. */
export type ScanReason =
  | 'depth'
  | 'keys'
  | 'values'
  | 'duplicate_key'
  | 'proto_key'
  | 'lone_surrogate'
  | 'non_finite_number'
  | 'unsafe_integer'

const said: Readonly<Record<ScanReason, string>> = {
  depth: 'it is nested too deeply',
  keys: 'it has too many keys',
  values: 'it has too many values',
  duplicate_key: 'an object names one key twice',
  proto_key: 'an object has the key __proto__',
  lone_surrogate: 'a string holds half of a surrogate pair',
  non_finite_number: 'a number is too large to be represented',
  unsafe_integer: 'an integer lies beyond 2^53 - 1 and would change silently',
}

const refuse = (reason: ScanReason): never => {
  throw new GatehouseError('InvalidRequest', { detail: said[reason], reason })
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d

/** Above this many keys an object's keys move into a Set; below it comparing them is cheaper. */
const setFromKeys = 12
/** A string longer than this is searched by `indexOf` instead of character by character. */
const jumpAfter = 48

/**
 * Walks a JSON text once, before it is parsed, and refuses what `JSON.parse` would quietly bend: a
 * second key of the same name, `__proto__`, integers that do not fit a double, half a surrogate pair;
 * and what would block the process: depth and counts. It does not judge the grammar: `JSON.parse` runs
 * next and refuses what is no JSON. On valid JSON its verdict is exact.
 *
 * @SECURITY One request must mean one thing to policy, digest, audit and execution; scan-json.test.ts.
 */
export class JsonScan {
  readonly #text: string
  readonly #limits: JsonLimits
  #at = 0
  #depth = 0
  #keyCount = 0
  #valueCount = 0
  /** Whether the next string of the object we are in is a key. */
  #keyNext = false
  /** Bit of each depth: is it an object? Depth stays small, so a plain array will do. */
  readonly #isObject: boolean[] = []
  readonly #keysFrom: number[] = []
  readonly #keys: string[] = []
  readonly #keySets: (Set<string> | undefined)[] = []
  /** Whether the string last walked over holds a backslash. */
  #escaped = false
  /** Where the next ones stand, so that each stretch is searched once. Behind us: look again. */
  #nextBackslash = -1
  #nextQuote = -1

  constructor(text: string, limits: JsonLimits) {
    this.#text = text
    this.#limits = limits
  }

  /** Walks on until `end` or a little behind it; returns whether the whole text is done. */
  walk(end: number): boolean {
    const text = this.#text
    const stop = Math.min(end, text.length)
    while (this.#at < stop) {
      const c = text.charCodeAt(this.#at)
      if (c <= 0x20 || c === 0x3a) {
        this.#at++
      } else if (c === quote) {
        this.#string()
      } else if (c === comma) {
        this.#at++
        this.#keyNext = this.#depth > 0 && this.#isObject[this.#depth - 1] === true
      } else if (c === openBrace || c === openBracket) {
        this.#open(c === openBrace)
      } else if (c === closeBrace || c === closeBracket) {
        this.#close()
      } else {
        this.#scalar(c)
      }
    }
    return this.#at >= text.length
  }

  #countValue(): void {
    if (++this.#valueCount > this.#limits.jsonValuesMax) refuse('values')
  }

  #open(isObject: boolean): void {
    this.#at++
    this.#countValue()
    if (this.#depth >= this.#limits.jsonDepthMax) refuse('depth')
    this.#isObject[this.#depth] = isObject
    this.#keysFrom[this.#depth] = this.#keys.length
    this.#keySets[this.#depth] = undefined
    this.#depth++
    this.#keyNext = isObject
  }

  #close(): void {
    this.#at++
    this.#keyNext = false
    // One closing bracket too many is no JSON; the parser will say so.
    if (this.#depth === 0) return
    this.#depth--
    // One by one: setting a length is slow, and most objects have few keys.
    for (let left = this.#keysFrom[this.#depth] ?? 0; this.#keys.length > left; ) this.#keys.pop()
    this.#keySets[this.#depth] = undefined
  }

  #string(): void {
    const isKey = this.#keyNext
    this.#keyNext = false
    const from = this.#at
    const end = this.#endOfString(from + 1)
    this.#at = end + 1
    if (isKey) this.#key(from, end)
    else this.#countValue()
  }

  /** The index of the closing quote, or of the end of the text where there is none. */
  #endOfString(from: number): number {
    const text = this.#text
    const length = text.length
    const jump = from + jumpAfter
    let at = from
    this.#escaped = false
    while (at < length) {
      const c = text.charCodeAt(at)
      if (c === quote) return at
      if (c === backslash) {
        this.#escaped = true
        at = this.#escape(at)
      } else {
        at = at < jump ? at + 1 : this.#quoteOrBackslash(at)
      }
    }
    return length
  }

  #quoteOrBackslash(at: number): number {
    if (this.#nextBackslash < at) this.#nextBackslash = this.#find('\\', at)
    if (this.#nextQuote < at) this.#nextQuote = this.#find('"', at)
    return Math.min(this.#nextBackslash, this.#nextQuote)
  }

  #find(what: string, from: number): number {
    const found = this.#text.indexOf(what, from)
    return found === -1 ? this.#text.length : found
  }

  /** Where the text goes on behind an escape; a half of a pair must have its other half. */
  #escape(at: number): number {
    const text = this.#text
    if (text.charCodeAt(at + 1) !== 0x75) return at + 2
    const unit = hexUnit(text, at + 2)
    if (unit < 0xd800 || unit > 0xdfff) return at + 6
    if (unit > 0xdbff) return refuse('lone_surrogate')
    if (text.charCodeAt(at + 6) !== backslash || text.charCodeAt(at + 7) !== 0x75) {
      return refuse('lone_surrogate')
    }
    const low = hexUnit(text, at + 8)
    return low >= 0xdc00 && low <= 0xdfff ? at + 12 : refuse('lone_surrogate')
  }

  #key(from: number, end: number): void {
    if (++this.#keyCount > this.#limits.jsonKeysMax) refuse('keys')
    const key = this.#escaped ? unescape(this.#text, from, end) : this.#text.slice(from + 1, end)
    if (key === '__proto__') refuse('proto_key')
    const frame = this.#depth - 1
    const first = this.#keysFrom[frame] ?? 0
    const keys = this.#keys
    const set = this.#keySets[frame]
    if (set) {
      if (set.has(key)) refuse('duplicate_key')
      set.add(key)
      return
    }
    for (let i = first; i < keys.length; i++) if (keys[i] === key) refuse('duplicate_key')
    keys.push(key)
    if (keys.length - first > setFromKeys) this.#keySets[frame] = new Set(keys.slice(first))
  }

  /** A number or a word. A word is counted; whether it is `true` or nonsense the parser decides. */
  #scalar(first: number): void {
    const from = this.#at
    this.#countValue()
    const { text, end, whole } = this.#token(from)
    const isNumber = first === minus || isDigit(first)
    // Fifteen digits always fit.
    if (isNumber && !(whole && end - from <= 15)) checkNumber(text.slice(from, end), whole)
  }

  /** Moves behind the word that begins here; `whole` where it is all digits behind its first sign. */
  #token(from: number): { text: string; end: number; whole: boolean } {
    const text = this.#text
    let end = from + 1
    let whole = true
    for (; end < text.length; end++) {
      const c = text.charCodeAt(end)
      if (isDigit(c)) continue
      if (c <= 0x20 || endsWord.includes(c)) break
      whole = false
    }
    this.#at = end
    return { text, end, whole }
  }
}

const minus = 0x2d
/** What can stand behind a word in JSON, and what cannot but is not ours to judge. */
const endsWord = [comma, closeBrace, closeBracket, quote, openBrace, openBracket]

const isDigit = (c: number): boolean => c >= 0x30 && c <= 0x39

const checkNumber = (token: string, whole: boolean): void => {
  const value = Number(token)
  if (value === Infinity || value === -Infinity) refuse('non_finite_number')
  if (whole && !Number.isSafeInteger(value) && !Number.isNaN(value)) refuse('unsafe_integer')
}

/** Four hex digits, or -1 where they are none (the parser refuses that). */
const hexUnit = (text: string, at: number): number => {
  let unit = 0
  for (let i = at; i < at + 4; i++) {
    const c = text.charCodeAt(i) | 0x20
    const digit = c >= 0x30 && c <= 0x39 ? c - 0x30 : c >= 0x61 && c <= 0x66 ? c - 0x57 : -1
    if (digit < 0) return -1
    unit = unit * 16 + digit
  }
  return unit
}

const unescape = (text: string, from: number, end: number): string => {
  try {
    return String(JSON.parse(text.slice(from, end + 1)))
  } catch {
    // A bad escape: the parser refuses the whole text next.
    return text.slice(from, end + 1)
  }
}
