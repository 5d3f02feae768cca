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

/** Faults of one value or key: of the request that has it, and of no other one of its batch. */
export type FaultReason = Exclude<ScanReason, 'keys' | 'values'>

/** Where a fault is, from the outermost value inward, by keys and indexes. */
export type ScanFault = {
  readonly path: readonly (string | number)[]
  readonly reason: FaultReason
}

const said: Readonly<Record<ScanReason, string>> = {
  depth: 'it is nested too deeply',
  keys: 'it has too many keys',
  values: 'it has too many values',
  duplicate_key: 'an object names one key twice',
  proto_key: 'an object has the key __proto__',
  lone_surrogate: 'a string has half of a surrogate pair',
  non_finite_number: 'a number is too large to be represented',
  unsafe_integer: 'an integer is beyond 2^53 - 1 and would change silently',
}

/** A path as people write it: `params.arguments.list[3]`. */
export const pathText = (path: readonly (string | number)[]): string =>
  path
    .map((part, i) => (typeof part === 'number' ? `[${part}]` : `${i > 0 ? '.' : ''}${part}`))
    .join('')

/** Fault of a value, in words, and what to send in its place. */
export const sayUnreadable = (reason: FaultReason): string => {
  switch (reason) {
    case 'unsafe_integer':
      return 'it is an integer beyond 2^53 - 1, which would change silently; send it as a string'
    case 'non_finite_number':
      return 'it is a number too large to be represented; send a smaller one, or a string'
    default:
      return 'it has half of a surrogate pair, which is not valid Unicode; send the text without it'
  }
}

const shownPathMax = 200

/** The refusal of a text, or of one request in it. */
export const scanError = (reason: ScanReason, path: ScanFault['path'] = []): GatehouseError => {
  if (path.length === 0)
    return new GatehouseError('InvalidRequest', { detail: said[reason], reason })
  const member = pathText(path).slice(0, shownPathMax)
  return new GatehouseError('InvalidRequest', {
    detail: `${said[reason]} (${member})`,
    reason,
    member,
  })
}

const ofValues: ReadonlySet<string> = new Set<FaultReason>([
  'lone_surrogate',
  'non_finite_number',
  'unsafe_integer',
])

/** Whether a fault is one of a value, and leaves no doubt about what the rest of the text means. */
export const isOfValue = (reason: FaultReason): boolean => ofValues.has(reason)

const refuse = (reason: ScanReason): never => {
  throw scanError(reason)
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
/** Faults in so many different places are one fault of the text. */
const faultsMax = 1_000

/**
 * Walks a JSON text once, before it is parsed. It notes what `JSON.parse` would quietly bend (a second
 * key of the same name, `__proto__`, integers that do not fit a double, half a surrogate pair) and what
 * is nested too deeply, and refuses a text with too many keys or values. It does not judge the grammar:
 * `JSON.parse` runs next and refuses what is no JSON. On valid JSON its verdict is exact.
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
  /** Where the key of each depth begins, and the index in each array. */
  readonly #keyAt: number[] = []
  readonly #index: number[] = []
  readonly #keys: string[] = []
  readonly #keySets: (Set<string> | undefined)[] = []
  /** Whether the string last walked over has a backslash. */
  #escaped = false
  /** Whether it has half of a surrogate pair. */
  #lone = false
  /** Levels below the deepest one allowed: whether each is an object. There are no more of them than values. */
  readonly #below: boolean[] = []
  readonly #faults: ScanFault[] = []
  /** The place of the last fault: each is told once. */
  #faultyPlace: string | null = null
  /** Where the next ones stand, so that each stretch is searched once. Behind us: look again. */
  #nextBackslash = -1
  #nextQuote = -1

  constructor(text: string, limits: JsonLimits) {
    this.#text = text
    this.#limits = limits
  }

  /** Faults so far, in the order of the text; the first of each place. */
  get faults(): readonly ScanFault[] {
    return this.#faults
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
        this.#comma()
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

  #comma(): void {
    this.#at++
    const frame = this.#depth - 1
    if (frame < 0) return
    if (this.#below.length > 0) {
      this.#keyNext = this.#below.at(-1) === true
      return
    }
    if (this.#isObject[frame]) this.#keyNext = true
    else this.#index[frame] = (this.#index[frame] ?? 0) + 1
  }

  #open(isObject: boolean): void {
    this.#at++
    this.#countValue()
    if (this.#depth >= this.#limits.jsonDepthMax) {
      if (this.#below.push(isObject) === 1) this.#fault('depth')
      this.#keyNext = isObject
      return
    }
    this.#isObject[this.#depth] = isObject
    this.#keyAt[this.#depth] = -1
    this.#index[this.#depth] = 0
    this.#keysFrom[this.#depth] = this.#keys.length
    this.#keySets[this.#depth] = undefined
    this.#depth++
    this.#keyNext = isObject
  }

  #close(): void {
    this.#at++
    this.#keyNext = false
    if (this.#below.pop() !== undefined) return
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
    if (this.#lone) {
      this.#lone = false
      this.#fault('lone_surrogate')
    }
  }

  /** Notes a fault at the value or key that was walked last. */
  #fault(reason: FaultReason): void {
    // `params.arguments.name`, in a batch behind the index of its request.
    const length = this.#isObject[0] ? 3 : 4
    const place = this.#path(length).join('\0')
    const last = this.#faults.at(-1)
    const isAgain = place === this.#faultyPlace && (last?.reason === reason || isOfValue(reason))
    if (isAgain) return
    if (this.#faults.length >= faultsMax) refuse(reason)
    this.#faultyPlace = place
    this.#faults.push({ path: this.#path(this.#depth), reason })
  }

  #path(lengthMax: number): (string | number)[] {
    const path: (string | number)[] = []
    for (let frame = 0; frame < this.#depth && frame < lengthMax; frame++) {
      const keyAt = this.#keyAt[frame] ?? -1
      if (!this.#isObject[frame]) path.push(this.#index[frame] ?? 0)
      else if (keyAt >= 0) path.push(keyText(this.#text, keyAt))
    }
    return path
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
    const isPair =
      unit <= 0xdbff && text.charCodeAt(at + 6) === backslash && text.charCodeAt(at + 7) === 0x75
    const low = isPair ? hexUnit(text, at + 8) : -1
    if (low >= 0xdc00 && low <= 0xdfff) return at + 12
    this.#lone = true
    return at + 6
  }

  #key(from: number, end: number): void {
    if (++this.#keyCount > this.#limits.jsonKeysMax) refuse('keys')
    const key = this.#escaped ? unescape(this.#text, from, end) : this.#text.slice(from + 1, end)
    // Text that is nested too deeply is refused for that, whatever its keys are.
    if (this.#below.length > 0) return
    const frame = this.#depth - 1
    this.#keyAt[frame] = from
    if (key === '__proto__') this.#fault('proto_key')
    const first = this.#keysFrom[frame] ?? 0
    const keys = this.#keys
    const set = this.#keySets[frame]
    if (set) {
      if (set.has(key)) this.#fault('duplicate_key')
      set.add(key)
      return
    }
    for (let i = first; i < keys.length; i++) if (keys[i] === key) this.#fault('duplicate_key')
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
    if (!isNumber || (whole && end - from <= 15)) return
    const reason = numberFault(text.slice(from, end), whole)
    if (reason) this.#fault(reason)
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
/** Bytes that can stand behind a word in JSON, and those that cannot but are not ours to judge. */
const endsWord = [comma, closeBrace, closeBracket, quote, openBrace, openBracket]

const isDigit = (c: number): boolean => c >= 0x30 && c <= 0x39

const numberFault = (token: string, whole: boolean): FaultReason | null => {
  const value = Number(token)
  if (value === Infinity || value === -Infinity) return 'non_finite_number'
  return whole && !Number.isSafeInteger(value) && !Number.isNaN(value) ? 'unsafe_integer' : null
}

/** The key whose opening quote is at `from`, fit to be shown. */
const keyText = (text: string, from: number): string => {
  let end = from + 1
  while (end < text.length && text.charCodeAt(end) !== quote)
    end += text.charCodeAt(end) === backslash ? 2 : 1
  return unescape(text, from, end).toWellFormed()
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
