/** A value of the metadata, with the type it is written as. */
export type KeyValue =
  | { readonly key: string; readonly type: 'u32' | 'i32' | 'f32' | 'u64'; readonly value: number }
  | { readonly key: string; readonly type: 'bool'; readonly value: boolean }
  | { readonly key: string; readonly type: 'text'; readonly value: string }
  | { readonly key: string; readonly type: 'texts'; readonly value: readonly string[] }
  | { readonly key: string; readonly type: 'f32s' | 'i32s'; readonly value: readonly number[] }

export type TensorType = 'F32' | 'F16' | 'Q8_0' | 'Q4_0'

export type TensorData = {
  readonly name: string
  /** The first one varies fastest. */
  readonly dims: readonly number[]
  readonly type: TensorType
  /** Row by row, as many as the product of the dimensions. */
  readonly values: Float32Array
}

const typeNumbers = { u32: 4, i32: 5, f32: 6, bool: 7, text: 8, u64: 10 } as const
const tensorNumbers: Readonly<Record<TensorType, number>> = { F32: 0, F16: 1, Q4_0: 2, Q8_0: 8 }
const alignment = 32
const blockLength = 32

const padded = (length: number): number => Math.ceil(length / alignment) * alignment

/** The half of a number, rounded to the nearest, to even where two are as near. */
export function halfOf(value: number): number {
  const bits = new DataView(new ArrayBuffer(4))
  bits.setFloat32(0, value)
  const word = bits.getUint32(0)
  const sign = (word >>> 16) & 0x8000
  const exponent = ((word >>> 23) & 0xff) - 112
  const mantissa = word & 0x7f_ffff
  if (exponent >= 31) return sign | (exponent === 143 && mantissa !== 0 ? 0x7e00 : 0x7c00)
  const isSmall = exponent <= 0
  if (exponent < -10) return sign
  const whole = isSmall ? mantissa | 0x80_0000 : mantissa
  const shift = isSmall ? 14 - exponent : 13
  const kept = whole >>> shift
  const rest = whole & ((1 << shift) - 1)
  const middle = 1 << (shift - 1)
  const up = rest > middle || (rest === middle && (kept & 1) === 1) ? 1 : 0
  // A carry out of the fraction goes into the exponent, which is what it means.
  return sign | ((isSmall ? 0 : exponent << 10) + kept + up)
}

const fromHalf = (half: number): number => {
  const [sign, exponent, fraction] = [half & 0x8000 ? -1 : 1, (half >>> 10) & 31, half & 0x3ff]
  if (exponent === 0) return sign * fraction * 2 ** -24
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}

const float32s = (values: Float32Array): Buffer => {
  const out = Buffer.alloc(values.length * 4)
  for (const [i, value] of values.entries()) out.writeFloatLE(value, i * 4)
  return out
}

const float16s = (values: Float32Array): Buffer => {
  const out = Buffer.alloc(values.length * 2)
  for (const [i, value] of values.entries()) out.writeUInt16LE(halfOf(value), i * 2)
  return out
}

/** Blocks of 32: the largest size over 127 as a half, then each as a signed byte of that. */
const q8 = (values: Float32Array): Buffer => {
  const out = Buffer.alloc((values.length / blockLength) * 34)
  for (let block = 0; block * blockLength < values.length; block += 1) {
    const part = values.subarray(block * blockLength, (block + 1) * blockLength)
    const scale = part.reduce((most, value) => Math.max(most, Math.abs(value)), 0) / 127
    out.writeUInt16LE(halfOf(scale), block * 34)
    const inverse = scale === 0 ? 0 : 1 / scale
    for (const [i, value] of part.entries())
      out.writeInt8(Math.max(-127, Math.min(127, Math.round(value * inverse))), block * 34 + 2 + i)
  }
  return out
}

/** Blocks of 32: a half that scales, then two values of 4 bits a byte, the second half of the block above. */
const q4 = (values: Float32Array): Buffer => {
  const out = Buffer.alloc((values.length / blockLength) * 18)
  for (let block = 0; block * blockLength < values.length; block += 1) {
    const part = values.subarray(block * blockLength, (block + 1) * blockLength)
    let widest = 0
    for (const value of part) if (Math.abs(value) > Math.abs(widest)) widest = value
    const half = halfOf(widest / -8)
    out.writeUInt16LE(half, block * 18)
    const scale = fromHalf(half)
    const inverse = scale === 0 ? 0 : 1 / scale
    const code = (value: number) => Math.min(15, Math.floor(value * inverse + 8.5))
    for (let i = 0; i < 16; i += 1)
      out.writeUInt8(code(part[i] ?? 0) | (code(part[i + 16] ?? 0) << 4), block * 18 + 2 + i)
  }
  return out
}

const encoders: Readonly<Record<TensorType, (values: Float32Array) => Buffer>> = {
  F32: float32s,
  F16: float16s,
  Q8_0: q8,
  Q4_0: q4,
}

/** Bytes one after the other, little-endian. */
class Writer {
  readonly #parts: Buffer[] = []
  length = 0

  #add(part: Buffer): void {
    this.#parts.push(part)
    this.length += part.length
  }

  u32(value: number): void {
    const part = Buffer.alloc(4)
    part.writeUInt32LE(value)
    this.#add(part)
  }

  i32(value: number): void {
    const part = Buffer.alloc(4)
    part.writeInt32LE(value)
    this.#add(part)
  }

  f32(value: number): void {
    const part = Buffer.alloc(4)
    part.writeFloatLE(value)
    this.#add(part)
  }

  u64(value: number): void {
    const part = Buffer.alloc(8)
    part.writeBigUInt64LE(BigInt(value))
    this.#add(part)
  }

  text(value: string): void {
    const bytes = Buffer.from(value, 'utf8')
    this.u64(bytes.length)
    this.#add(bytes)
  }

  bytes(part: Buffer): void {
    this.#add(part)
  }

  pad(): void {
    this.#add(Buffer.alloc(padded(this.length) - this.length))
  }

  whole(): Buffer {
    return Buffer.concat(this.#parts)
  }
}

function writeValue(out: Writer, given: KeyValue): void {
  out.text(given.key)
  switch (given.type) {
    case 'texts':
      out.u32(9)
      out.u32(8)
      out.u64(given.value.length)
      for (const text of given.value) out.text(text)
      return
    case 'f32s':
    case 'i32s':
      out.u32(9)
      out.u32(given.type === 'f32s' ? 6 : 5)
      out.u64(given.value.length)
      for (const value of given.value) out[given.type === 'f32s' ? 'f32' : 'i32'](value)
      return
    case 'bool':
      out.u32(typeNumbers.bool)
      return out.bytes(Buffer.from([given.value ? 1 : 0]))
    case 'text':
      out.u32(typeNumbers.text)
      return out.text(given.value)
    default:
      out.u32(typeNumbers[given.type])
      out[given.type](given.value)
  }
}

/** A GGUF file of version 3. */
export function writeGguf(values: readonly KeyValue[], tensors: readonly TensorData[]): Buffer {
  const out = new Writer()
  out.bytes(Buffer.from('GGUF'))
  out.u32(3)
  out.u64(tensors.length)
  out.u64(values.length)
  for (const value of values) writeValue(out, value)
  const data = tensors.map(({ type, values: numbers }) => encoders[type](numbers))
  let offset = 0
  for (const [i, { name, dims, type }] of tensors.entries()) {
    out.text(name)
    out.u32(dims.length)
    for (const dim of dims) out.u64(dim)
    out.u32(tensorNumbers[type])
    out.u64(offset)
    offset += padded(data[i]?.length ?? 0)
  }
  out.pad()
  for (const part of data) {
    out.bytes(part)
    out.pad()
  }
  return out.whole()
}
