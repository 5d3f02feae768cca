import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import {
  CheckpointSealer,
  readCopiedNotes,
  readSealedNotes,
  sealsFile,
} from './checkpoint-seals.ts'
import { loadKeys } from './keys.ts'
import { signCheckpoint } from './note.ts'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-seals-'))
afterAll(() => fs.rmSync(folder, { recursive: true }))
const keys = loadKeys(folder)
const blockBytes = 64 * 1024

/** Notes one after the other, as a service writes them: with some 190 bytes each, 1,000 are three blocks. */
const notes = Array.from({ length: 1_000 }, (_, i) => {
  const size = i + 1
  const root = size.toString(16).padStart(64, '0')
  return `${signCheckpoint({ origin: 'gatehouse/audit/main', size, root }, keys).note}\n`
})
const bytesOf = (...parts: readonly string[]): Buffer => Buffer.from(parts.join(''))
const all = bytesOf(...notes)
const upTo = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

const counting = () => {
  const counted = {
    ...keys,
    checked: 0,
    verify(message: Uint8Array, signature: Uint8Array) {
      counted.checked += 1
      return keys.verify(message, signature)
    },
  }
  return counted
}

const newFolder = (): string => {
  const made = fs.mkdtempSync(path.join(folder, 'log-'))
  onTestFinished(() => fs.rmSync(made, { recursive: true, force: true }))
  return made
}
const sealsIn = (directory: string): string[] =>
  fs.existsSync(path.join(directory, sealsFile))
    ? fs.readFileSync(path.join(directory, sealsFile), 'latin1').trim().split('\n')
    : []

const read = (directory: string, bytes = all, by = counting()) =>
  readSealedNotes(bytes, directory, by, by, 'all')
const sizesOf = ({ checkpoints }: { checkpoints: readonly { readonly size: number }[] }) =>
  checkpoints.map(({ size }) => size)

/** A folder whose blocks are sealed, as far as they are full. */
const sealed = (bytes = all) => {
  const directory = newFolder()
  const sealer = new CheckpointSealer(directory, keys)
  sealer.begin(read(directory, bytes))
  return { directory, sealer }
}

test('what is written is sealed block by block, over starts, and a sealed block is not checked again', () => {
  const { directory } = sealed()
  const lines = sealsIn(directory)
  const ends = lines.map((line) => Number(line.split(' ')[0]))
  expect(ends.length).toBeGreaterThan(1)
  for (const [i, end] of ends.entries()) {
    // A block ends with a note, and is no shorter than a block.
    expect(end - (ends[i - 1] ?? 0)).toBeGreaterThanOrEqual(blockBytes)
    expect(all.subarray(end, end + 16).toString()).toBe('gatehouse/audit/')
  }
  const by = counting()
  const found = read(directory, all, by)
  expect(sizesOf(found)).toEqual(upTo(1, 1_000))
  expect(found.damaged).toEqual([])
  expect(found.seals.map(({ end }) => end)).toEqual(ends)
  expect(found.rest).toEqual(all.subarray(ends.at(-1)))
  const rest = all.subarray(ends.at(-1)).toString().split('gatehouse/audit/main\n').length - 1
  expect(by.checked).toBe(rest)

  // Note by note it comes to the same seals.
  const { directory: slowly, sealer } = sealed(Buffer.alloc(0))
  for (const note of notes) sealer.add(Buffer.from(note))
  expect(sealsIn(slowly).every((line) => line.length > 40)).toBe(true)
  const again = counting()
  expect(sizesOf(read(slowly, all, again))).toEqual(upTo(1, 1_000))
  expect(again.checked).toBeLessThan(350)
  // A further start goes on behind them, and writes the file only where it is another one.
  const before = fs.statSync(path.join(slowly, sealsFile)).ino
  new CheckpointSealer(slowly, keys).begin(read(slowly))
  expect(fs.statSync(path.join(slowly, sealsFile)).ino).toBe(before)
  fs.appendFileSync(path.join(slowly, sealsFile), 'something else\n')
  new CheckpointSealer(slowly, keys).begin(read(slowly))
  expect(sealsIn(slowly)).not.toContain('something else')
})

test('without the key each signature is checked, and nothing is sealed', () => {
  const { directory } = sealed()
  const by = counting()
  const found = readSealedNotes(all, directory, by, null, 'all')
  expect(sizesOf(found)).toEqual(upTo(1, 1_000))
  expect([by.checked, found.seals]).toEqual([1_000, []])
})

test('a block that is not as it was sealed is checked note by note, and from it on nothing is sealed', () => {
  const { directory } = sealed()
  const [first = 0, second = 0] = sealsIn(directory).map((line) => Number(line.split(' ')[0]))
  const changed = Buffer.from(all)
  changed.write('!', changed.indexOf('main\n400\n') + 12)
  const found = read(directory, changed)
  expect(sizesOf(found)).toEqual(upTo(1, 1_000).filter((size) => size !== 400))
  expect(found.damaged).toHaveLength(1)
  const [{ at, text } = { at: 0, text: '' }] = found.damaged
  expect(changed.toString('utf8').slice(at, at + text.length)).toBe(text)
  expect(text).toContain('main\n400\n')
  expect(first).toBeLessThan(second)
  expect(found.seals.map(({ end }) => end)).toEqual([first])
  expect(found.rest.length).toBe(changed.length - first)

  const kept = sealsIn(directory)
  const sealer = new CheckpointSealer(directory, keys)
  sealer.begin(found)
  sealer.add(all)
  expect(sealsIn(directory)).toEqual(kept)
  sealer.forget()
  expect(sealsIn(directory)).toEqual([])
  sealer.forget()
})

test('a checkpoint that was changed into another is damage, and so is one under the seal of another block', () => {
  const { directory } = sealed()
  const changed = Buffer.from(all)
  changed.write('5', changed.indexOf('main\n400\n') + 5)
  const found = read(directory, changed)
  expect(sizesOf(found)).toEqual(upTo(1, 1_000).filter((size) => size !== 400))
  expect(found.damaged).toHaveLength(1)
  const lines = sealsIn(directory)
  const [mac = '', other = ''] = lines.map((line) => line.split(' ')[1])
  const swapped = lines.join('\n').replace(mac, other)
  fs.writeFileSync(path.join(directory, sealsFile), `${swapped}\n`)
  const by = counting()
  expect(sizesOf(read(directory, all, by))).toEqual(upTo(1, 1_000))
  // The first block, and what lies behind the last one.
  expect(by.checked).toBeGreaterThan(300)
})

test('a file that ends with a sealed block is not checked at all, and is sealed on from there', () => {
  const { directory } = sealed()
  const ends = sealsIn(directory).map((line) => Number(line.split(' ')[0]))
  const by = counting()
  const found = read(directory, all.subarray(0, ends.at(-1)), by)
  expect([by.checked, found.rest.length]).toEqual([0, 0])
  expect(found.seals.map(({ end }) => end)).toEqual(ends)
})

test('older blocks give their last checkpoint alone where the newest are enough', () => {
  // Some twenty blocks, of which the newest sixteen are given whole.
  const many = Array.from({ length: 7 }, () => notes).flat()
  const bytes = bytesOf(...many)
  const { directory, sealer } = sealed(Buffer.alloc(0))
  for (const note of many) sealer.add(Buffer.from(note))
  const ends = sealsIn(directory).map((line) => Number(line.split(' ')[0]))
  const older = ends.slice(0, -16)
  expect(older.length).toBeGreaterThan(2)
  const spread = readSealedNotes(bytes, directory, keys, keys, 'spread')
  const every = many.map((_, i) => (i % 1_000) + 1)
  expect(sizesOf(read(directory, bytes))).toEqual(every)
  const before = (end: number) => bytes.subarray(0, end).toString().split('main\n').length - 1
  const from = before(older.at(-1) ?? 0)
  // That of the sixteenth from the end is whole.
  const lasts = older.map((end) => every[before(end) - 1])
  expect(sizesOf(spread)).toEqual([...lasts, ...every.slice(from)])
  expect(spread.seals.map(({ end }) => end)).toEqual(ends)
  // A further start seals on from the last of them.
  const next = new CheckpointSealer(directory, keys)
  next.begin(spread)
  next.add(all)
  const by = counting()
  expect(sizesOf(read(directory, Buffer.concat([bytes, all]), by))).toHaveLength(8_000)
  expect(by.checked).toBe(0)
  expect(sealsIn(directory)).toHaveLength(ends.length + 1)
})

test('nothing is sealed before the sealer has begun; a block of just its size is; and others cannot read it', () => {
  const directory = newFolder()
  const sealer = new CheckpointSealer(directory, keys)
  sealer.add(all)
  expect(sealsIn(directory)).toEqual([])
  sealer.begin(read(directory, Buffer.alloc(0)))
  sealer.add(Buffer.alloc(blockBytes - 1, '\n'))
  expect(sealsIn(directory)).toEqual([])
  sealer.add(Buffer.from('\n'))
  expect(sealsIn(directory)).toHaveLength(1)
  expect(fs.statSync(path.join(directory, sealsFile)).mode & 0o777).toBe(0o600)
})

test('seals that end before the last one, or behind the file, are none', () => {
  const { directory } = sealed()
  const [first = '', ...more] = sealsIn(directory)
  for (const lines of [
    [first, first, ...more],
    [first.replace(/^\d+/, '0'), ...more],
    [first.replace(/^\d+/, String(all.length + 1)), ...more],
  ]) {
    fs.writeFileSync(path.join(directory, sealsFile), `${lines.join('\n')}\n`)
    const found = read(directory)
    expect(sizesOf(found)).toEqual(upTo(1, 1_000))
    const ends = found.seals.map(({ end }) => end)
    expect(new Set(ends).size).toBe(ends.length)
  }
  fs.writeFileSync(path.join(directory, sealsFile), `${[first, ...more].join('\n')}\n`)
  const short = all.subarray(0, blockBytes / 2)
  expect(read(directory, short).seals).toEqual([])
})

test('a seal that cannot be written costs a check at the next start, and no checkpoint', () => {
  const { directory, sealer } = sealed(Buffer.alloc(0))
  fs.rmSync(directory, { recursive: true })
  expect(() => sealer.add(all)).not.toThrow()
  fs.mkdirSync(directory)
  expect(sizesOf(read(directory))).toEqual(upTo(1, 1_000))
})

test('of a copy the blocks that the file has are not read, wherever they lie there', () => {
  const copied = (copy: Buffer, file: Buffer | null) => {
    const by = counting()
    const found = readCopiedNotes(copy, file, by)
    return { sizes: sizesOf(found), damaged: found.damaged, checked: by.checked }
  }
  const none = { sizes: [], damaged: [], checked: 0 }
  expect(copied(all, all)).toEqual(none)
  expect(copied(all, null)).toEqual({ sizes: upTo(1, 1_000), damaged: [], checked: 1_000 })
  // Something was put in before, or taken out, by a file that was mended.
  expect(copied(all, Buffer.concat([bytesOf(notes[0] ?? ''), all]))).toEqual(none)
  const gap = bytesOf(...notes.slice(0, 400), ...notes.slice(401))
  const { sizes, checked } = copied(all, gap)
  expect(sizes).toContain(400)
  expect(sizes.length).toBeLessThan(700)
  expect(checked).toBe(sizes.length)
  // The copy goes on where the file was put back.
  const behind = copied(all, bytesOf(...notes.slice(0, 100)))
  expect(behind.sizes).toEqual(upTo(1, 1_000))
  const half = all.indexOf('\n\ngatehouse/audit/', blockBytes) + 2
  expect(copied(all, all.subarray(0, half)).sizes.at(-1)).toBe(1_000)
  expect(copied(all, all.subarray(0, half)).sizes.length).toBeLessThan(700)

  const strange = Buffer.concat([all, Buffer.from('somebody was here')])
  const { damaged } = copied(strange, all.subarray(0, half))
  expect(damaged).toEqual([
    { at: strange.toString('utf8').indexOf('somebody'), text: 'somebody was here' },
  ])
})
