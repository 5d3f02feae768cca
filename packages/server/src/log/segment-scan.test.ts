import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { encodeFrame, headBytes, lineOf, macBytes, noteText } from './frame.ts'
import { dataAt, encodeHeader, readAt, readHeader, Segment, scan } from './segment.ts'

const note = noteText({ stamps: [], agents: [], sessions: [], clockMs: 0, vault: null })
const lines = (count: number, body = '{}') =>
  lineOf('a'.repeat(64), 'b'.repeat(16), body).repeat(count)
const mac = Buffer.alloc(macBytes, 7)
const frame = (first: number, count = 1, body = '{}') =>
  encodeFrame(first, count, note + lines(count, body), mac)
const header = {
  format: 'gatehouse-log-v1',
  chain: 'main',
  first: 0,
  head: 'h',
  root: 'r',
} as const
const segment = (...parts: readonly Buffer[]) => Buffer.concat([encodeHeader(header), ...parts])
const firsts = (bytes: Buffer) => scan(bytes).frames.map(({ first }) => first)
const size = frame(0).length

test('frames are found one behind the other, with their places', () => {
  const bytes = segment(frame(0), frame(1, 3), frame(4), Buffer.alloc(100))
  expect(scan(bytes)).toMatchObject({
    frames: [
      { first: 0, count: 1, at: dataAt, bytes: size },
      { first: 1, count: 3, at: dataAt + size },
      { first: 4, count: 1 },
    ],
    flaws: [],
  })
  expect(scan(segment())).toEqual({ frames: [], flaws: [] })
  expect(scan(bytes, dataAt + size).frames.map(({ first }) => first)).toEqual([1, 4])
})

test('what lies between frames is a flaw, zeros too, and so is what lies before the first', () => {
  const between = (what: Buffer) => scan(segment(frame(0), what, frame(1)))
  for (const junk of [Buffer.from('junk!'), Buffer.alloc(5), Buffer.from('GHF1\0')])
    expect(between(junk)).toMatchObject({
      frames: [{ first: 0 }, { first: 1, at: dataAt + size + 5 }],
      flaws: [{ at: dataAt + size, seq: 1, what: '5 bytes belong to no frame' }],
    })
  expect(scan(segment(Buffer.from('x'), frame(0)))).toMatchObject({
    frames: [{ first: 0, at: dataAt + 1 }],
    flaws: [{ at: dataAt, seq: 0, what: '1 bytes belong to no frame' }],
  })
})

test('a last frame that a crash cut off is none, and no flaw', () => {
  const cut = (by: number) => segment(frame(0), frame(1).subarray(0, size - by))
  for (const by of [1, macBytes, size - headBytes])
    expect(scan(cut(by))).toMatchObject({ frames: [{ first: 0 }], flaws: [] })
  expect(firsts(cut(0))).toEqual([0, 1])
  // Its last bytes are still zeros, as they were allocated.
  const unwritten = Buffer.from(frame(1)).fill(0, size - macBytes)
  expect(scan(segment(frame(0), unwritten))).toMatchObject({ frames: [{ first: 0 }], flaws: [] })
})

test('a frame that only looks cut off stays one', () => {
  const unwritten = Buffer.from(frame(1)).fill(0, size - macBytes)
  const changed = {
    at: dataAt + size,
    seq: 1,
    through: 2,
    what: 'the frame is not as it was written',
  }
  expect(scan(segment(frame(0), unwritten, frame(2)))).toMatchObject({
    frames: [{ first: 0 }, { first: 1 }, { first: 2 }],
    flaws: [changed],
  })
  const half = Buffer.from(frame(1)).fill(0, size - macBytes, size - 1)
  expect(scan(segment(frame(0), half)).flaws).toEqual([changed])
  const sealedWithZeros = encodeFrame(1, 1, note + lines(1), Buffer.alloc(macBytes))
  expect(scan(segment(frame(0), sealedWithZeros))).toMatchObject({
    frames: [{ first: 0 }, { first: 1 }],
    flaws: [],
  })
})

test('a frame has as many entries as it says', () => {
  const what = 'the frame has other entries than it says'
  for (const [says, has] of [
    [2, 1],
    [1, 2],
    [0, 0],
    [0, 1],
    [1, 0],
  ] as const)
    expect(scan(segment(encodeFrame(5, says, note + lines(has), mac))).flaws).toEqual([
      { at: dataAt, seq: 5, through: 5 + says, what },
    ])
  const newlines = Buffer.alloc(macBytes, '\n')
  expect(scan(segment(encodeFrame(5, 1, note + lines(1), newlines))).flaws).toEqual([])
})

test('a header is read only as it is written, to the last byte', () => {
  const bytes = encodeHeader(header)
  expect(bytes).toHaveLength(dataAt)
  expect(readHeader(segment(frame(0)))).toEqual(header)
  expect(readHeader(bytes.subarray(0, dataAt - 1))).toBeNull()
  for (const at of [1, JSON.stringify(header).length, dataAt - 1]) {
    const changed = Buffer.from(bytes)
    changed[at] = (changed[at] as number) ^ 1
    expect(readHeader(changed)).toBeNull()
  }
  expect(readHeader(encodeHeader({ ...header, more: 1 } as never))).toBeNull()
  expect(readHeader(Buffer.alloc(dataAt))).toBeNull()
})

const file = (...parts: readonly Buffer[]): string => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-segment-'))
  onTestFinished(() => fs.rmSync(folder, { recursive: true }))
  const name = path.join(folder, 'a.log')
  fs.writeFileSync(name, segment(...parts))
  return name
}

test('bytes of a file are read as far as they go, and none of a file that is not there', () => {
  const name = file(Buffer.from('abc'))
  expect(readAt(name, dataAt, 2).toString()).toBe('ab')
  expect(readAt(name, dataAt + 1, 100).toString()).toBe('bc')
  expect(readAt(name, dataAt + 100, 100)).toHaveLength(0)
  expect(readAt(`${name}.none`, 0, 100)).toHaveLength(0)
  expect(() => readAt(path.dirname(name), 0, 100)).toThrow('EISDIR')
  expect(() => readAt(`${name}/a`, 0, 100)).toThrow('ENOTDIR')
})

test('what is left behind the last frame is kept as far as it matters', () => {
  const end = dataAt + size
  const residueOf = (...rest: readonly Buffer[]) => new Segment(file(frame(0), ...rest), 0).residue
  expect(residueOf()).toBeNull()
  expect(residueOf(Buffer.alloc(200_000))).toBeNull()
  expect(residueOf(Buffer.from('ab\0c\0\0'))).toEqual({
    at: end,
    length: 4,
    bytes: Buffer.from('ab\0c'),
  })
  const far = residueOf(
    Buffer.alloc(70_000),
    Buffer.from('x'),
    Buffer.alloc(140_000),
    Buffer.from('y\0'),
  )
  expect([far?.at, far?.length, far?.bytes.length]).toEqual([end + 70_000, 140_002, 65_536])
  const one = new Segment(file(frame(0), Buffer.from('x')), 0)
  expect(one.residue?.length).toBe(1)
  one.forgetResidue()
  expect(one.residue).toBeNull()
})

test('a segment tells its frames, its flaws and where an entry is', () => {
  const name = file(frame(0, 2), Buffer.from('x'), frame(2), frame(3, 4))
  const read = new Segment(name, 0)
  expect(read.flaws).toEqual([
    { file: name, at: dataAt + frame(0, 2).length, seq: 2, what: '1 bytes belong to no frame' },
  ])
  expect(read.header).toEqual(header)
  expect(read.end).toBe(fs.statSync(name).size)
  expect([0, 1, 2, 3, 6, 7].map((seq) => read.indexOf(seq))).toEqual([0, 0, 1, 2, 2, 3])
  const empty = new Segment(file(), 0)
  expect([empty.end, empty.indexOf(0), empty.flaws]).toEqual([dataAt, 0, []])
  empty.add({ first: 0, count: 1, bytes: size, crc: 0, at: dataAt })
  expect(empty.end).toBe(dataAt + size)
  empty.forget()
  expect(empty.end).toBe(dataAt)
})

test('a segment grows by the frames that are all there, large ones too', () => {
  const name = file(frame(0))
  const read = new Segment(name, 0)
  const grown = () => {
    read.grow()
    return read.frames.map(({ first }) => first)
  }
  expect(grown()).toEqual([0])
  fs.appendFileSync(name, frame(1))
  const large = frame(2, 1, `"${'x'.repeat(150_000)}"`)
  fs.appendFileSync(name, large)
  fs.appendFileSync(name, frame(3))
  expect(grown()).toEqual([0, 1, 2, 3])
  const next = frame(4)
  fs.appendFileSync(name, next.subarray(0, 40))
  expect(grown()).toEqual([0, 1, 2, 3])
  fs.appendFileSync(name, next.subarray(40))
  expect(grown()).toEqual([0, 1, 2, 3, 4])
  const damaged = Buffer.from(frame(5))
  damaged[headBytes] = 0
  fs.appendFileSync(name, damaged)
  expect(grown()).toEqual([0, 1, 2, 3, 4])
  expect(read.end).toBe(fs.statSync(name).size - damaged.length)
})
