/** Why a file cannot be a model that the engine may see. The reason names key or tensor and numbers. */
export class HeaderRefused extends Error {
  override readonly name = 'HeaderRefused'
}

/** The bytes at hand end before what is to be read: more are needed, if the file has more. */
export class HeaderIncomplete extends Error {
  override readonly name = 'HeaderIncomplete'
  /** With fewer bytes than this there is no use in trying again. */
  readonly atLeast: number

  constructor(atLeast: number) {
    super()
    this.atLeast = atLeast
  }
}

export const refuse = (reason: string): never => {
  throw new HeaderRefused(reason)
}

/** A name of the file's own making, fit for a sentence. */
export const quoted = (text: string): string => JSON.stringify(text.slice(0, 80))

const stringBytesMax = 1_048_576
/** One byte, one character: as good as the bytes themselves to compare by, and much cheaper to make. */
const latin = new TextDecoder('latin1')
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Reads forward through little-endian bytes and never past them. */
export class GgufCursor {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  /** The place of the next byte. */
  at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  #take(count: number): number {
    const from = this.at
    if (from + count > this.#bytes.length) throw new HeaderIncomplete(from + count)
    this.at = from + count
    return from
  }

  /** Ends here and now where so much more cannot be there. */
  expect(count: number): void {
    if (this.at + count > this.#bytes.length) throw new HeaderIncomplete(this.at + count)
  }

  skip(count: number): void {
    this.#take(count)
  }

  u8(): number {
    return this.#view.getUint8(this.#take(1))
  }

  i8(): number {
    return this.#view.getInt8(this.#take(1))
  }

  u16(): number {
    return this.#view.getUint16(this.#take(2), true)
  }

  i16(): number {
    return this.#view.getInt16(this.#take(2), true)
  }

  u32(): number {
    return this.#view.getUint32(this.#take(4), true)
  }

  i32(): number {
    return this.#view.getInt32(this.#take(4), true)
  }

  f32(): number {
    return this.#view.getFloat32(this.#take(4), true)
  }

  f64(): number {
    return this.#view.getFloat64(this.#take(8), true)
  }

  /** Numbers beyond 2^53 stand for nothing that a file of this world has. */
  u64(what: string): number {
    const from = this.#take(8)
    const high = this.#view.getUint32(from + 4, true)
    if (high >= 0x20_0000) return refuse(`${what} is beyond all bounds`)
    return high * 0x1_0000_0000 + this.#view.getUint32(from, true)
  }

  /** The bytes of a text as a text of as many characters. */
  raw(what: string): string {
    const length = this.#lengthOf(what)
    const from = this.#take(length)
    return latin.decode(this.#bytes.subarray(from, from + length))
  }

  skipText(what: string): void {
    this.#take(this.#lengthOf(what))
  }

  #lengthOf(what: string): number {
    const length = this.u64('the length of a text')
    return length <= stringBytesMax
      ? length
      : refuse(`${what} has ${length} bytes; at most ${stringBytesMax} are allowed`)
  }

  text(what: string): string {
    const length = this.#lengthOf(what)
    const from = this.#take(length)
    try {
      return utf8.decode(this.#bytes.subarray(from, from + length))
    } catch {
      return refuse(`${what} is not UTF-8`)
    }
  }
}
