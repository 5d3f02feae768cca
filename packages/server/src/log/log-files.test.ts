import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { encodeFrame, lineOf, noteText } from './frame.ts'
import { LogFiles, LogReader, segmentsFolder } from './log-files.ts'
import { frameAt } from './testing.ts'

const newFolder = (): string => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-log-'))
  onTestFinished(() => fs.rmSync(folder, { recursive: true }))
  return folder
}

const note = noteText({ stamps: [], agents: [], sessions: [], clockMs: 7, vault: null })
const header = () => ({
  format: 'gatehouse-log-v1' as const,
  chain: 'main',
  first: 0,
  head: '',
  root: '',
})
const hashOf = (seq: number): string => String(seq).padStart(64, '0')

const frameOf = (first: number, count: number, text = 'body'): Buffer => {
  const lines = Array.from({ length: count }, (_, i) =>
    lineOf(hashOf(first + i), '0'.repeat(16), `${text} ${first + i}`),
  )
  return encodeFrame(first, count, note + lines.join(''), Buffer.alloc(32, 1))
}

const append = (files: LogFiles, first: number, count: number, text?: string) =>
  files.append(frameOf(first, count, text), { first, count }, header)

const seqsIn = (files: LogReader, from = 0): number[] =>
  [...files.entries(from)].flat().map(({ seq }) => seq)

const upTo = (end: number): number[] => Array.from({ length: end }, (_, i) => i)

const segmentsIn = (folder: string): string[] =>
  fs
    .readdirSync(path.join(folder, segmentsFolder))
    .filter((name) => name.endsWith('.log'))
    .sort()

test('gives back what was appended, as a whole, from any place, and one by one', () => {
  const folder = newFolder()
  using files = new LogFiles(folder)
  append(files, 0, 3, 'größer 🙂')
  append(files, 3, 1)
  append(files, 4, 2)
  for (const read of [files, new LogReader(folder)]) {
    expect(read.end).toBe(6)
    expect(seqsIn(read)).toEqual(upTo(6))
    expect(seqsIn(read, 2)).toEqual([2, 3, 4, 5])
    expect(seqsIn(read, 6)).toEqual([])
    expect(read.entry(2)).toEqual({
      seq: 2,
      hash: hashOf(2),
      seal: '0'.repeat(16),
      body: 'größer 🙂 2',
    })
    expect(read.entry(6)).toBeNull()
    expect([...read.frames(3)].map(({ first, note }) => [first, note.clockMs])).toEqual([
      [3, 7],
      [4, 7],
    ])
  }
})

test('goes on in new segments when one is full, which is then for reading only', () => {
  const folder = newFolder()
  using files = new LogFiles(folder)
  const text = 'x'.repeat(20_000)
  for (let first = 0; first < 60; first += 2) append(files, first, 2, text)
  append(files, 60, 1, 'y'.repeat(1_000_000))
  const names = segmentsIn(folder)
  expect(names.length).toBeGreaterThan(2)
  for (const name of names.slice(0, -1)) {
    const { mode } = fs.statSync(path.join(folder, segmentsFolder, name))
    expect(mode & 0o777).toBe(0o400)
  }
  expect(seqsIn(new LogReader(folder))).toEqual(upTo(61))
  expect(new LogReader(folder).entry(31)?.body).toContain('31')
  expect(
    JSON.parse(
      fs
        .readFileSync(path.join(folder, segmentsFolder, names[1] as string), 'utf8')
        .split('\n')[0] ?? '',
    ),
  ).toMatchObject({ format: 'gatehouse-log-v1', chain: 'main' })
})

test('goes on where it ended after it was closed or killed', () => {
  const folder = newFolder()
  {
    using files = new LogFiles(folder)
    append(files, 0, 2)
  }
  using files = new LogFiles(folder)
  append(files, 2, 2)
  expect(seqsIn(new LogReader(folder))).toEqual(upTo(4))
  expect(segmentsIn(folder)).toHaveLength(1)
})

test('a write that a kill cut off anywhere is not there, and the next one takes its place', () => {
  const cutAt = [0, 3, 8, 31, 32, 33, 100, 150]
  for (const kept of cutAt) {
    const folder = newFolder()
    const files = new LogFiles(folder)
    append(files, 0, 2)
    append(files, 2, 2, 'cut off')
    files[Symbol.dispose]()
    const { file, at, bytes } = frameAt(folder, 2)
    const content = fs.readFileSync(file)
    content.fill(0, at + Math.min(kept, bytes - 1), at + bytes)
    fs.writeFileSync(file, content)
    using again = new LogFiles(folder)
    expect(seqsIn(again), `${kept} bytes`).toEqual([0, 1])
    append(again, 2, 1, 'new')
    expect([...new LogReader(folder).entries(2)].flat().map(({ body }) => body)).toEqual(['new 2'])
  }
})

test('a write that fails leaves the log as it was', () => {
  const folder = newFolder()
  using files = new LogFiles(folder)
  append(files, 0, 2)
  const spy = vi.spyOn(fs, 'writeSync').mockImplementationOnce(() => {
    throw new Error('ENOSPC')
  })
  onTestFinished(() => spy.mockRestore())
  expect(() => append(files, 2, 2)).toThrow('ENOSPC')
  append(files, 2, 1)
  expect(seqsIn(new LogReader(folder))).toEqual(upTo(3))
})

test('a write of which the disk took a part fails, and leaves the log as it was', () => {
  const folder = newFolder()
  using files = new LogFiles(folder)
  append(files, 0, 2)
  const spy = vi.spyOn(fs, 'writeSync').mockImplementationOnce(() => 40)
  onTestFinished(() => spy.mockRestore())
  expect(() => append(files, 2, 2)).toThrow(expect.objectContaining({ code: 'ENOSPC' }))
  append(files, 2, 1)
  expect(seqsIn(new LogReader(folder))).toEqual(upTo(3))
})

test('a segment that the disk has no room for leaves nothing that could be taken for one', () => {
  const folder = newFolder()
  using files = new LogFiles(folder)
  const { writeSync } = fs
  // Each write on the way to the first entry fails once: pieces of the segment, and its header at last.
  for (let failing = 0; failing < 5; failing += 1) {
    let writes = 0
    const spy = vi.spyOn(fs, 'writeSync').mockImplementation((...args) => {
      writes += 1
      if (writes > failing) throw Object.assign(new Error('full'), { code: 'ENOSPC' })
      return Reflect.apply(writeSync, fs, args) as number
    })
    onTestFinished(() => spy.mockRestore())
    expect(() => append(files, 0, 2)).toThrow('full')
    spy.mockRestore()
    files.reload()
    expect(segmentsIn(folder)).toEqual([])
  }
  append(files, 0, 2)
  const reader = new LogReader(folder)
  expect(seqsIn(reader)).toEqual(upTo(2))
  expect(reader.flaws(header().chain)).toEqual([])
})

test('damage in the middle hides no entry behind it', () => {
  const folder = newFolder()
  const files = new LogFiles(folder)
  append(files, 0, 2)
  append(files, 2, 2)
  append(files, 4, 2)
  files[Symbol.dispose]()
  const { file, at, bytes } = frameAt(folder, 2)
  const content = fs.readFileSync(file)
  content.fill(9, at, at + bytes)
  fs.writeFileSync(file, content)
  expect(seqsIn(new LogReader(folder))).toEqual([0, 1, 4, 5])
  content.fill(0, at, at + bytes)
  fs.writeFileSync(file, content)
  expect(seqsIn(new LogReader(folder))).toEqual([0, 1, 4, 5])
})

test('a flipped bit in an entry leaves the entry where it is', () => {
  const folder = newFolder()
  const files = new LogFiles(folder)
  append(files, 0, 2)
  append(files, 2, 1, 'whole')
  files[Symbol.dispose]()
  const { file, at, bytes } = frameAt(folder, 2)
  const content = fs.readFileSync(file)
  const changed = content.indexOf('whole', at)
  expect(changed).toBeLessThan(at + bytes)
  content[changed] = (content[changed] as number) ^ 1
  fs.writeFileSync(file, content)
  append(new LogFiles(folder), 3, 1)
  expect(seqsIn(new LogReader(folder))).toEqual(upTo(4))
})

test('lines that damage put into an entry take no number of a later one', () => {
  const folder = newFolder()
  const files = new LogFiles(folder)
  append(files, 0, 2, 'whole')
  append(files, 2, 2)
  files[Symbol.dispose]()
  const { file, at } = frameAt(folder, 0)
  const content = fs.readFileSync(file)
  const last = content.indexOf('whole 1', at)
  fs.writeFileSync(file, content.fill('\n', last, last + 5))
  expect(seqsIn(new LogReader(folder))).toEqual(upTo(4))
  expect(new LogReader(folder).entry(1)?.body).toBe('\n\n\n\n\n 1')
})

test('says once that somebody else changed a file, added or removed one, and not that it did itself', () => {
  const folder = newFolder()
  using files = new LogFiles(folder)
  for (let first = 0; first < 40; first += 1) append(files, first, 1, 'z'.repeat(20_000))
  expect(files.takeForeign()).toBe(false)
  const names = segmentsIn(folder)
  expect(names.length).toBeGreaterThan(1)
  const file = path.join(folder, segmentsFolder, names[0] as string)
  fs.chmodSync(file, 0o600)
  expect(files.takeForeign()).toBe(true)
  expect(files.takeForeign()).toBe(false)
  fs.writeFileSync(path.join(folder, segmentsFolder, `${'9'.repeat(16)}.log`), '')
  expect(files.takeForeign()).toBe(true)
  fs.rmSync(path.join(folder, segmentsFolder, `${'9'.repeat(16)}.log`))
  expect(files.takeForeign()).toBe(true)
  append(files, 40, 1)
  expect(files.takeForeign()).toBe(false)
})

test('takes out what lies behind a number, across segments', () => {
  const folder = newFolder()
  using files = new LogFiles(folder)
  for (let first = 0; first < 40; first += 1) append(files, first, 1, 'z'.repeat(20_000))
  files.cut(3)
  expect(seqsIn(files)).toEqual(upTo(3))
  expect(segmentsIn(folder)).toHaveLength(1)
  append(files, 3, 1)
  expect(seqsIn(new LogReader(folder))).toEqual(upTo(4))
})

test('goes on from its start, or with a frame larger than what was allocated for the same number', () => {
  const folder = newFolder()
  using files = new LogFiles(folder)
  append(files, 0, 2)
  files.cut(0)
  expect(files.isEmpty).toBe(true)
  append(files, 0, 1, 'new')
  expect(segmentsIn(folder)).toHaveLength(1)
  files.assertRoom(1, header)
  for (let first = 1; first < 20; first += 1) append(files, first, 1, 'z'.repeat(20_000))
  files.cut(8)
  files.reload()
  files.assertRoom(8, header)
  append(files, 8, 1, 'y'.repeat(5_000_000))
  append(files, 9, 1)
  expect(seqsIn(files)).toEqual(upTo(10))
  expect(seqsIn(new LogReader(folder))).toEqual(upTo(10))
})

test('a copy is the log of one moment', () => {
  const folder = newFolder()
  using files = new LogFiles(folder)
  for (let first = 0; first < 40; first += 1) append(files, first, 1, 'z'.repeat(20_000))
  const copy = newFolder()
  files.copyTo(copy)
  append(files, 40, 1)
  expect(seqsIn(new LogReader(copy))).toEqual(upTo(40))
  using there = new LogFiles(copy)
  append(there, 40, 1, 'elsewhere')
  expect(files.entry(40)?.body).toBe('body 40')
})
