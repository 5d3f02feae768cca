import { type Step, serviceOf, stepOf } from '../../domain/audit/step.ts'
import type { AuditRow } from '../../ports/audit-rows.ts'
import { type Conditions, type Counted, isCounted, isNamed } from './conditions.ts'
import { timeOfId } from './id-time.ts'
import { Words } from './words.ts'

/** Entries of one block: some 3.2 MB of columns. */
export const blockEntries = 65_536
const smallest = 1_024
/** More combinations than nearly any block has; a block with more is read to count its entries. */
const talliesMax = 4_096
/** A word is common when after so many entries with it more than one of so many had it. */
const commonAfter = 64
const commonWithin = 16

export type IndexedFields = Pick<
  AuditRow,
  | 'id'
  | 'timestamp'
  | 'kind'
  | 'agent'
  | 'capability'
  | 'result'
  | 'policy_decision'
  | 'session_id'
  | 'duration_ms'
  | 'approval_id'
  | 'detail'
>

/** How many entries of a day agree in these fields. `day`: its first millisecond. */
export type Tally = Counted & { readonly day: number; readonly entries: number }

/** By their numbers in the column; they never change. */
export const steps = [
  'act',
  'decision',
  'intent',
  'request',
  'call',
  'run',
  'delivery',
] as const satisfies readonly Step[]

/** No request waits longer. */
const waitMsMax = 31 * 86_400_000

export type Columns = {
  /** Milliseconds; not a number where the entry cannot be read. */
  readonly time: Float64Array
  /** Of a decision: how long its request had waited. */
  readonly duration: Float64Array
  /** A hash of the id. */
  readonly id: Uint32Array
  readonly agent: Uint32Array
  readonly capability: Uint32Array
  readonly session: Uint32Array
  readonly kind: Uint32Array
  readonly result: Uint32Array
  readonly decision: Uint32Array
  readonly service: Uint32Array
  readonly step: Uint8Array
}

const makeColumns = (length: number): Columns => ({
  time: new Float64Array(length),
  duration: new Float64Array(length),
  id: new Uint32Array(length),
  agent: new Uint32Array(length),
  capability: new Uint32Array(length),
  session: new Uint32Array(length),
  kind: new Uint32Array(length),
  result: new Uint32Array(length),
  decision: new Uint32Array(length),
  service: new Uint32Array(length),
  step: new Uint8Array(length),
})

/** The order in which columns lie in a file. */
const names = Object.keys(makeColumns(0)) as readonly (keyof Columns)[]

/** FNV-1a: two ids in four thousand million agree, and an entry that is found by it is compared. */
export const hashId = (id: string): number => {
  let hash = 0x811c9dc5
  for (let i = 0; i < id.length; i += 1) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193)
  return hash >>> 0
}

export const dayMs = 86_400_000
/** The moment of a request is in its id, so nothing has to be looked for. */
const waitOf = ({ approval_id }: IndexedFields, time: number): number => {
  const wait = approval_id === null ? Number.NaN : Math.max(0, time - timeOfId(approval_id))
  return wait <= waitMsMax ? wait : Number.NaN
}

const dayOf = (time: number): number => Math.floor(time / dayMs) * dayMs

/** Columns by which the entries of one stretch of a chain are found. */
export class Block {
  /** The number of its first entry. */
  readonly first: number
  #columns: Columns
  #count: number
  readonly #words: Words
  /** Many entries come in one moment. */
  #moment = { text: '', time: Number.NaN }

  constructor(first: number) {
    this.first = first
    this.#columns = makeColumns(smallest)
    this.#count = 0
    this.#words = new Words()
  }

  get count(): number {
    return this.#count
  }

  get isFull(): boolean {
    return this.#count === blockEntries
  }

  add(fields: IndexedFields): void {
    const i = this.#next()
    const columns = this.#columns
    const time = this.#timeOf(fields.timestamp)
    const step = stepOf(fields)
    columns.time[i] = time
    columns.duration[i] =
      step === 'decision' ? waitOf(fields, time) : (fields.duration_ms ?? Number.NaN)
    columns.id[i] = hashId(fields.id)
    columns.agent[i] = this.#words.number(fields.agent)
    columns.capability[i] = this.#words.number(fields.capability)
    columns.session[i] = this.#words.number(fields.session_id ?? '')
    columns.kind[i] = this.#words.number(fields.kind)
    columns.result[i] = this.#words.number(fields.result)
    columns.decision[i] = this.#words.number(fields.policy_decision ?? 'none')
    columns.service[i] = this.#words.number(serviceOf(fields))
    columns.step[i] = steps.indexOf(step)
  }

  /** Keeps the place of an entry that cannot be read; no query finds it. */
  addUnreadable(): void {
    const i = this.#next()
    this.#columns.time[i] = Number.NaN
    this.#columns.duration[i] = Number.NaN
  }

  /** Leaves the places of the first entries, which no query finds any more; whether there were any. */
  forgetFirst(count: number): boolean {
    const { time, duration, id } = this.#columns
    const known = time.subarray(0, count).some((moment) => !Number.isNaN(moment))
    time.fill(Number.NaN, 0, count)
    duration.fill(Number.NaN, 0, count)
    id.fill(0, 0, count)
    return known
  }

  /** The columns as they are now, of which the first `count` entries count, and the texts of their numbers. */
  get raw(): { readonly columns: Columns; readonly texts: readonly string[] } {
    return { columns: this.#columns, texts: this.#words.texts }
  }

  find(word: string): number | undefined {
    return this.#words.find(word)
  }

  time(i: number): number {
    return this.#columns.time[i] as number
  }

  /** Fields of an entry, also of one that cannot be read any more. */
  fields(i: number): Counted & { readonly session: string } {
    return { ...this.#counted(i), session: this.#words.text(this.#columns.session[i] as number) }
  }

  /** Not a number where the entry has none. */
  duration(i: number): number {
    return this.#columns.duration[i] as number
  }

  /** Tells which entries are asked for; null where none of them can be. */
  #matcher(on: Conditions): ((i: number) => boolean) | null {
    const columns = this.#columns
    const equal = this.#equal(on)
    const capabilities = this.#capabilities(on)
    if (equal === null || capabilities === undefined) return null
    const isIntent = on.events ? this.#intents() : null
    return (i) => {
      const time = columns.time[i] as number
      if (!(time >= on.since && time < on.until)) return false
      for (const { column, word } of equal) if (column[i] !== word) return false
      if (capabilities && capabilities[columns.capability[i] as number] !== 1) return false
      return !isIntent?.(i)
    }
  }

  /** Visits the entries before number `end` that are asked for, the last one first, until it is told to stop. */
  visit(on: Conditions, end: number, see: (i: number) => 'on' | 'stop'): void {
    const matches = this.#matcher(on)
    if (!matches) return
    const agent = on.agent === null ? undefined : this.#words.find(on.agent)
    let i = Math.min(this.#count, end - this.first) - 1
    // Looking for one word is native code, as long as it is rare.
    for (let seen = 0; agent !== undefined && i >= 0; seen += 1) {
      if (seen > commonAfter && seen * commonWithin > this.#count - i) break
      i = this.#columns.agent.lastIndexOf(agent, i)
      if (i < 0) return
      if (matches(i) && see(i) === 'stop') return
      i -= 1
    }
    for (; i >= 0; i -= 1) if (matches(i) && see(i) === 'stop') return
  }

  countOf(on: Conditions, end: number): number {
    let count = 0
    this.visit(on, end, () => {
      count += 1
      return 'on'
    })
    return count
  }

  /** The numbers of entries whose id may be this one. */
  withId(hash: number): number[] {
    const found: number[] = []
    const { id } = this.#columns
    for (let i = id.indexOf(hash); i >= 0 && i < this.#count; i = id.indexOf(hash, i + 1))
      found.push(this.first + i)
    return found
  }

  /** The first and the last moment of its entries; an empty span where it has none. */
  span(): { readonly from: number; readonly to: number } {
    let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
    for (let i = 0; i < this.#count; i += 1) {
      const time = this.time(i)
      if (time < from) from = time
      if (time > to) to = time
    }
    return { from, to }
  }

  /** Counts of the block's entries; null where hardly two of them agree. */
  tallies(): readonly Tally[] | null {
    const counts = new Map<number, { at: number; entries: number }>()
    const { agent, capability, kind, result, decision, time } = this.#columns
    const words = this.#words.texts.length
    // Numbers of what was seen so far, so that a combination is one number: a text of each costs several times as much.
    const [days, who, what] = [new Numbering(), new Numbering(), new Numbering()]
    const at = (column: Uint32Array, i: number): number => column[i] as number
    for (let i = 0; i < this.#count; i += 1) {
      if (Number.isNaN(time[i])) continue
      const day = days.of(dayOf(time[i] as number))
      const pair = who.of(at(agent, i) * words + at(capability, i))
      const state = what.of((at(kind, i) * words + at(result, i)) * words + at(decision, i))
      const key = (day * blockEntries + pair) * blockEntries + state
      const known = counts.get(key)
      if (known) known.entries += 1
      else if (counts.size === talliesMax) return null
      else counts.set(key, { at: i, entries: 1 })
    }
    return [...counts.values()].map(({ at, entries }) => ({
      ...this.#counted(at),
      day: dayOf(this.time(at)),
      entries,
    }))
  }

  /** Entry by entry, what tallies are made of. */
  *counted(on: Conditions): Generator<Tally> {
    const matches = this.#matcher(on)
    if (matches)
      for (let i = 0; i < this.#count; i += 1)
        if (matches(i)) yield { ...this.#counted(i), day: dayOf(this.time(i)), entries: 1 }
  }

  encode(): Buffer {
    const words = Buffer.from(JSON.stringify(this.#words.texts))
    const head = Buffer.alloc(8 + Math.ceil(words.length / 8) * 8, ' ')
    head.writeUInt32LE(this.#count, 0)
    head.writeUInt32LE(head.length, 4)
    words.copy(head, 8)
    const columns = names.map((name) => {
      const { buffer, byteOffset, BYTES_PER_ELEMENT } = this.#columns[name]
      return Buffer.from(buffer, byteOffset, this.#count * BYTES_PER_ELEMENT)
    })
    return Buffer.concat([head, ...columns])
  }

  static decode(first: number, bytes: Buffer): Block {
    const block = new Block(first)
    const count = bytes.readUInt32LE(0)
    let at = bytes.readUInt32LE(4)
    const words = new Words(JSON.parse(bytes.toString('utf8', 8, at)) as string[])
    const columns = makeColumns(Math.max(smallest, count))
    for (const name of names) {
      const column = columns[name]
      const length = count * column.BYTES_PER_ELEMENT
      Buffer.from(column.buffer).set(bytes.subarray(at, at + length))
      at += length
    }
    return block.#restored(columns, count, words)
  }

  #restored(columns: Columns, count: number, words: Words): Block {
    this.#columns = columns
    this.#count = count
    for (const text of words.texts) this.#words.number(text)
    return this
  }

  #next(): number {
    const i = this.#count
    if (i === this.#columns.time.length) {
      const larger = makeColumns(Math.min(blockEntries, 2 * i))
      for (const name of names) larger[name].set(this.#columns[name])
      this.#columns = larger
    }
    this.#count += 1
    return i
  }

  #timeOf(text: string): number {
    if (text !== this.#moment.text) this.#moment = { text, time: Date.parse(text) }
    return this.#moment.time
  }

  #counted(i: number): Counted {
    const { agent, capability, kind, result, decision } = this.#columns
    const text = (column: Uint32Array) => this.#words.text(column[i] as number)
    return {
      agent: text(agent),
      capability: text(capability),
      kind: text(kind),
      result: text(result),
      decision: text(decision),
    }
  }

  /** Values that the columns must have; null where a word is none of this block. */
  #equal(on: Conditions): { readonly column: Uint32Array; readonly word: number }[] | null {
    const equal = []
    for (const name of ['agent', 'session', 'kind', 'result', 'decision'] as const) {
      const text = on[name]
      if (text === null) continue
      const word = this.#words.find(text)
      if (word === undefined) return null
      equal.push({ column: this.#columns[name], word })
    }
    return equal
  }

  /** Tells intents of calls that policy allowed. */
  #intents(): (i: number) => boolean {
    const { result, decision } = this.#columns
    const [pending, autonomous] = [this.#words.find('pending'), this.#words.find('autonomous')]
    return (i) => result[i] === pending && decision[i] === autonomous
  }

  /** A flag for each word that is a capability which is asked for; undefined where none is. */
  #capabilities({ capability }: Conditions): Uint8Array | null | undefined {
    if (capability === null) return null
    const { texts } = this.#words
    const flags = new Uint8Array(texts.length)
    let found = 0
    for (const [number, text] of texts.entries())
      if (isNamed(capability, text)) {
        flags[number] = 1
        found += 1
      }
    return found === 0 ? undefined : flags
  }
}

/** Numbers values in the order in which they come. */
export class Numbering {
  readonly #numbers = new Map<number, number>()

  of(value: number): number {
    const known = this.#numbers.get(value)
    if (known !== undefined) return known
    const number = this.#numbers.size
    this.#numbers.set(value, number)
    return number
  }
}

/** How many of these entries are asked for, where moment and session do not matter. */
export const sumOf = (tallies: readonly Tally[], on: Conditions): number => {
  let sum = 0
  for (const tally of tallies) if (isCounted(on, tally)) sum += tally.entries
  return sum
}
