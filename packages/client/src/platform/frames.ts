/** Opcodes of RFC 6455, those of control frames from 8 on. */
export const opcodes = { continuation: 0, text: 1, close: 8, ping: 9, pong: 10 } as const

export type Frame = {
  readonly final: boolean
  readonly opcode: number
  readonly payload: Buffer
}

/** Of a whole message: above what a gate answers with any sensible setting. */
const messageBytesMax = 256 * 1024 * 1024
const controlBytesMax = 125

const isControl = (opcode: number): boolean => opcode >= opcodes.close

const bytesMaxOf = (opcode: number): number =>
  isControl(opcode) ? controlBytesMax : messageBytesMax

/** One frame of a client: masked, as servers insist. */
export const encodeFrame = (opcode: number, payload: Buffer, mask: Buffer): Buffer => {
  const { length } = payload
  const extra = length < 126 ? 0 : length < 65_536 ? 2 : 8
  const frame = Buffer.allocUnsafe(6 + extra + length)
  frame[0] = 0x80 | opcode
  frame[1] = 0x80 | (extra === 0 ? length : extra === 2 ? 126 : 127)
  if (extra === 2) frame.writeUInt16BE(length, 2)
  if (extra === 8) frame.writeBigUInt64BE(BigInt(length), 2)
  mask.copy(frame, 2 + extra)
  const start = 6 + extra
  for (let i = 0; i < length; i += 1) frame[start + i] = (payload[i] ?? 0) ^ (mask[i & 3] ?? 0)
  return frame
}

/** Cuts what comes from a server into frames. */
export class FrameReader {
  #chunks: Buffer[] = []
  #length = 0

  add(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#length += chunk.length
  }

  /** The next frame; null until it is there. Raises for what no server sends. */
  next(): Frame | null {
    const head = this.#peek(10)
    if (head.length < 2) return null
    const [first = 0, second = 0] = head
    if ((first & 0x70) !== 0 || (second & 0x80) !== 0) throw new Error('no frame of a server')
    const short = second & 0x7f
    const start = short < 126 ? 2 : short === 126 ? 4 : 10
    if (head.length < start) return null
    const length =
      short < 126 ? short : short === 126 ? head.readUInt16BE(2) : Number(head.readBigUInt64BE(2))
    const [final, opcode] = [(first & 0x80) !== 0, first & 0x0f]
    if (length > bytesMaxOf(opcode)) throw new Error(`a frame of ${length} bytes`)
    if (!final && isControl(opcode)) throw new Error('a control frame in pieces')
    if (this.#length < start + length) return null
    const payload = this.#take(start + length).subarray(start)
    return { final, opcode, payload }
  }

  /** Up to so many bytes, which stay. */
  #peek(bytes: number): Buffer {
    while ((this.#chunks[0]?.length ?? bytes) < Math.min(bytes, this.#length)) {
      const [one, two, ...rest] = this.#chunks
      this.#chunks = [Buffer.concat([one, two].filter((chunk) => chunk !== undefined)), ...rest]
    }
    return (this.#chunks[0] ?? Buffer.alloc(0)).subarray(0, bytes)
  }

  #take(bytes: number): Buffer {
    const all = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks)
    const rest = (all ?? Buffer.alloc(0)).subarray(bytes)
    this.#chunks = rest.length > 0 ? [rest] : []
    this.#length -= bytes
    return (all ?? Buffer.alloc(0)).subarray(0, bytes)
  }
}

/** Puts frames together to texts. MCP has nothing else. */
export class MessageReader {
  #parts: Buffer[] = []
  #length = 0
  #isOpen = false

  /** The text that ends with this frame; null until then. Raises for what is no text. */
  add({ final, opcode, payload }: Frame): string | null {
    if (opcode !== (this.#isOpen ? opcodes.continuation : opcodes.text))
      throw new Error(`a frame of the kind ${opcode}`)
    this.#length += payload.length
    if (this.#length > messageBytesMax) throw new Error(`a frame beyond ${messageBytesMax} bytes`)
    this.#parts.push(payload)
    this.#isOpen = !final
    if (!final) return null
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(this.#parts))
    this.#parts = []
    this.#length = 0
    return text
  }
}
