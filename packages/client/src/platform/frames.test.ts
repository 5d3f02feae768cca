import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeFrame, FrameReader, MessageReader, opcodes } from './frames.ts'

/** As a server sends it: unmasked. */
const serverFrame = (payload: Buffer, final = true, opcode: number = opcodes.text): Buffer => {
  const masked = encodeFrame(opcode, payload, Buffer.alloc(4))
  const head = masked.length - payload.length - 4
  const frame = Buffer.concat([masked.subarray(0, head), masked.subarray(head + 4)])
  frame[0] = (final ? 0x80 : 0) | opcode
  frame[1] = (frame[1] ?? 0) & 0x7f
  return frame
}

const framesIn = (reader: FrameReader): Buffer[] => {
  const payloads: Buffer[] = []
  for (let frame = reader.next(); frame; frame = reader.next()) payloads.push(frame.payload)
  return payloads
}

test('reads the same frames however the network cuts them', () => {
  const sizes = fc.oneof(
    fc.integer({ min: 0, max: 300 }),
    fc.constantFrom(125, 126, 65_535, 65_536),
  )
  fc.assert(
    fc.property(
      fc.array(sizes, { maxLength: 4 }),
      fc.array(fc.constantFrom(1, 2, 9, 1_000, 70_000), { minLength: 3, maxLength: 6 }),
      (lengths, cuts) => {
        const sent = lengths.map((length, i) => Buffer.alloc(length, 65 + i))
        const bytes = Buffer.concat(sent.map((payload) => serverFrame(payload)))
        const reader = new FrameReader()
        const read: Buffer[] = []
        for (let at = 0, i = 0; at < bytes.length; i += 1) {
          const end = at + (cuts[i % cuts.length] ?? 1)
          reader.add(bytes.subarray(at, end))
          read.push(...framesIn(reader))
          at = end
        }
        expect(read.map((one) => one.toString('latin1'))).toEqual(
          sent.map((one) => one.toString('latin1')),
        )
      },
    ),
    { numRuns: 50 },
  )
})

test('masks what it sends', () => {
  const mask = Buffer.from([1, 2, 3, 4])
  const frame = encodeFrame(opcodes.text, Buffer.from('hello'), mask)
  expect([...frame.subarray(0, 6)]).toEqual([0x81, 0x85, 1, 2, 3, 4])
  expect([...frame.subarray(6)].map((byte, i) => byte ^ (mask[i & 3] ?? 0))).toEqual([
    ...Buffer.from('hello'),
  ])
})

test.each([
  ['a masked frame', [0x81, 0x81, 0, 0, 0, 0, 65]],
  ['bits of an extension', [0xc1, 0x01, 65]],
  ['a control frame in pieces', [0x09, 0x01, 65]],
  ['a control frame that is too long', [0x89, 0x7e, 0, 126]],
  ['a length beyond all reason', [0x81, 0x7f, 1, 0, 0, 0, 0, 0, 0, 0]],
])('refuses %s', (_name, bytes) => {
  const reader = new FrameReader()
  reader.add(Buffer.from(bytes))
  expect(() => reader.next()).toThrow(/frame/)
})

const text = (part: string, final: boolean, opcode: number = opcodes.text) => ({
  final,
  opcode,
  payload: Buffer.from(part, 'latin1'),
})

test('puts a text together, and the next one after it', () => {
  const reader = new MessageReader()
  // The two bytes of one letter, in two frames.
  expect(reader.add(text('a\xc3', false))).toBeNull()
  expect(reader.add(text('', false, opcodes.continuation))).toBeNull()
  expect(reader.add(text('\xa4', true, opcodes.continuation))).toBe('aä')
  expect(reader.add(text('b', true))).toBe('b')
})

test.each([
  ['a frame of bytes', [text('a', true, 2)]],
  ['a frame of an unknown kind', [text('a', true, 3)]],
  ['the middle of no text', [text('a', true, opcodes.continuation)]],
  ['a text within another', [text('a', false), text('b', true)]],
  ['what is no UTF-8', [text('\xc3', true)]],
])('takes %s for no text', (_name, frames) => {
  const reader = new MessageReader()
  expect(() => frames.map((frame) => reader.add(frame))).toThrow()
})

test('refuses a text that has no end', () => {
  const reader = new MessageReader()
  const payload = Buffer.alloc(64 * 1024 * 1024)
  reader.add({ final: false, opcode: opcodes.text, payload })
  const more = () => reader.add({ final: false, opcode: opcodes.continuation, payload })
  for (let i = 0; i < 3; i += 1) more()
  expect(more).toThrow(/bytes/)
})
