import { createHmac } from 'node:crypto'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  decodeEntry,
  decodeFrame,
  encodeFrame,
  type Frame,
  headBytes,
  isIntact,
  lineOf,
  macBytes,
  nextHead,
  noteText,
  readHead,
} from './frame.ts'
import type { Sealer } from './keys.ts'
import { groupMac, isGenuine } from './seal-group.ts'

const plain = { stamps: [], agents: [], sessions: [], clockMs: 0, vault: null }
const note = noteText(plain)

const bodies = fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 5 })

test('an entry read by itself is that of its frame, whatever damage did to the lines', () => {
  fc.assert(
    fc.property(bodies, fc.nat(400), fc.constantFrom('\n', 'x', '\n\n\n'), (texts, at, damage) => {
      const first = 7
      const lines = texts.map((text, i) =>
        lineOf(String(i).padStart(64, '0'), '0'.repeat(16), JSON.stringify(text)),
      )
      const bytes = encodeFrame(first, lines.length, note + lines.join(''), Buffer.alloc(32, 1))
      const head = readHead(bytes, 0)
      if (!head) throw new Error('no head')
      if (32 + at + 40 < bytes.length) bytes.write(damage, 32 + at)
      const { entries } = decodeFrame(bytes, head)
      for (let seq = first; seq < first + lines.length; seq += 1)
        expect(decodeEntry(bytes, head, seq)).toEqual(entries[seq - first] ?? null)
    }),
  )
})

const [one, two] = ['1', '2'].map((digit) => ({
  hash: digit.repeat(64),
  seal: digit.repeat(16),
  body: `{"n":"${digit}ü"}`,
})) as [Entry, Entry]
type Entry = { readonly hash: string; readonly seal: string; readonly body: string }
const line = ({ hash, seal, body }: Entry) => lineOf(hash, seal, body)
const text = note + line(one) + line(two)
const mac = Buffer.alloc(macBytes, 9)
const frame = () => encodeFrame(300, 2, text, mac)
const headIn = (bytes: Buffer) => readHead(bytes, 0) ?? expect.fail('no head')

test('a frame is laid out byte by byte as every node reads it', () => {
  const bytes = frame()
  const body = Buffer.from(text)
  expect(bytes.toString('latin1', 0, 4)).toBe('GHF1')
  expect([4, 8, 12].map((at) => bytes.readUInt32LE(at))).toEqual([
    headBytes + body.length + macBytes,
    2,
    crc32(Buffer.concat([body, mac])),
  ])
  expect(bytes.readDoubleLE(16)).toBe(300)
  expect(bytes.subarray(24, headBytes)).toEqual(Buffer.alloc(8))
  expect(bytes.subarray(headBytes)).toEqual(Buffer.concat([body, mac]))
})

test('a frame is read as it was written', () => {
  const bytes = frame()
  const read = decodeFrame(bytes, headIn(bytes))
  expect(read).toMatchObject({ first: 300, note: plain, mac, intact: true })
  expect(read.entries).toEqual([
    { seq: 300, ...one },
    { seq: 301, ...two },
  ])
  expect(decodeEntry(bytes, headIn(bytes), 302)).toBeNull()
  bytes.fill(0)
  expect(read.mac).toEqual(mac)
})

test('each changed byte behind the head is noticed', () => {
  const whole = frame()
  for (const at of [headBytes, headBytes + 40, whole.length - macBytes, whole.length - 1]) {
    const bytes = frame()
    bytes[at] = (bytes[at] as number) ^ 1
    expect(isIntact(bytes, headIn(bytes))).toBe(false)
    expect(decodeFrame(bytes, headIn(bytes)).intact).toBe(false)
  }
})

test('lines beyond the last entry belong to it, and a note that cannot be read counts nothing', () => {
  const bytes = encodeFrame(5, 1, `{broken${line(one)}${line(two)}`, mac)
  const read = decodeFrame(bytes, headIn(bytes))
  expect(read.note).toEqual(plain)
  expect(read.entries).toEqual([{ seq: 5, ...one, body: one.body + line(two) }])
  const none = encodeFrame(5, 0, note + line(one), mac)
  expect(decodeFrame(none, headIn(none)).entries).toEqual([{ seq: 5, ...one }])
})

test('a line break in the seal of a frame begins no entry', () => {
  const bytes = encodeFrame(300, 3, text, Buffer.alloc(macBytes, '\n'))
  expect(decodeEntry(bytes, headIn(bytes), 301)).toEqual({ seq: 301, ...two })
  expect(decodeEntry(bytes, headIn(bytes), 302)).toBeNull()
})

const headWith = (change: (bytes: Buffer) => void, length = headBytes) => {
  const bytes = frame()
  change(bytes)
  return readHead(bytes.subarray(0, length), 0)
}

test('what cannot be the head of a frame is none', () => {
  expect(headWith(() => {})).toMatchObject({ first: 300, count: 2 })
  expect(headWith(() => {}, headBytes - 1)).toBeNull()
  expect(headWith((bytes) => bytes.write('GHF2'))).toBeNull()
  const size = (bytes: number) => headWith((frame) => frame.writeUInt32LE(bytes, 4))
  expect(size(headBytes + macBytes)?.bytes).toBe(64)
  expect(size(headBytes + macBytes - 1)).toBeNull()
  expect(size(256 * 1024 * 1024)?.bytes).toBe(268_435_456)
  expect(size(256 * 1024 * 1024 + 1)).toBeNull()
  const first = (seq: number) => headWith((frame) => frame.writeDoubleLE(seq, 16))
  expect(first(0)?.first).toBe(0)
  for (const seq of [-1, 0.5, Number.NaN, 2 ** 53]) expect(first(seq)).toBeNull()
})

test('the next frame is found behind bytes that only begin like one', () => {
  const bytes = Buffer.concat([Buffer.from('..GHF1..'), frame(), frame()])
  const { length } = frame()
  expect(nextHead(bytes, 0)).toBe(8)
  expect(nextHead(bytes, 8)).toBe(8)
  expect(nextHead(bytes, 9)).toBe(8 + length)
  expect(nextHead(bytes, 9 + length)).toBe(-1)
})

const sealer = {
  mac: (said: string) => createHmac('sha256', 'a key').update(said).digest(),
} as unknown as Sealer
const group = { chain: 'main', size: 302, head: two.hash, note }

test('a group is sealed over its chain, its size, its head and its note', () => {
  expect(groupMac(sealer, group)).toEqual(
    sealer.mac(`gatehouse-group-v1\nmain\n302\n${two.hash}\n${note}`),
  )
})

test('a frame is genuine only with the seal of exactly what it holds', () => {
  const framed = (change: Partial<Frame> = {}): Frame => {
    const bytes = encodeFrame(300, 2, text, groupMac(sealer, group))
    const { entries, mac: sealed } = decodeFrame(bytes, headIn(bytes))
    return { first: 300, note: plain, entries, mac: sealed, intact: true, ...change }
  }
  const { entries, mac: sealed } = framed()
  const [first, last] = entries as [(typeof entries)[0], (typeof entries)[0]]
  expect(isGenuine(sealer, 'main', framed())).toBe(true)
  expect(isGenuine(sealer, 'other', framed())).toBe(false)
  const alone = { ...group, size: 301, head: one.hash }
  const single = framed({ entries: [first], mac: groupMac(sealer, alone) })
  expect(isGenuine(sealer, 'main', single)).toBe(true)
  const others: Partial<Frame>[] = [
    { entries: [] },
    { entries: [first] },
    { entries: [first, { ...last, seq: 302 }] },
    { entries: [first, { ...last, hash: one.hash }] },
    { note: { ...plain, clockMs: 1 } },
    { mac: Buffer.alloc(macBytes) },
    { mac: sealed.subarray(1) },
  ]
  for (const change of others) expect(isGenuine(sealer, 'main', framed(change))).toBe(false)
})
