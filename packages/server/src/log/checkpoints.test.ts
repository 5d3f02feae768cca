import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { sealsFile } from './checkpoint-seals.ts'
import { checkpointsFile, openCheckpoints, readCheckpointFile } from './checkpoints.ts'
import { type Keys, loadKeys } from './keys.ts'

const origin = 'gatehouse/audit/main'
const rootOf = (size: number): string => size.toString(16).padStart(64, '0')

/** Keys that count the signatures that are checked. */
const counting = (directory: string): Keys & { checked: number } => {
  const keys = loadKeys(directory)
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

/** A folder with so many checkpoints, over several starts. */
const folderWith = (count: number): string => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-checkpoints-'))
  onTestFinished(() => fs.rmSync(directory, { recursive: true }))
  const keys = loadKeys(directory)
  for (let size = 1; size <= count; ) {
    using checkpoints = openCheckpoints(directory, 'main', keys, null)
    for (const end = size + 250; size < end && size <= count; size += 1)
      checkpoints.add(origin, size, rootOf(size))
  }
  return directory
}

const read = (directory: string, keys: Keys) => readCheckpointFile(directory, keys, keys)

test('a start checks the signatures of the newest checkpoints alone, and has all of them', () => {
  const directory = folderWith(800)
  const keys = counting(directory)
  using checkpoints = openCheckpoints(directory, 'main', keys, null)
  expect(checkpoints.of(origin).map(({ size }) => size)).toEqual(
    Array.from({ length: 800 }, (_, i) => i + 1),
  )
  expect(checkpoints.alarm).toBeNull()
  // Those of a block that is not full yet.
  expect(keys.checked).toBeLessThan(400)
})

test('of many thousand checkpoints the newest are in memory, some of the others, and all in the file', () => {
  const directory = folderWith(6_000)
  const keys = counting(directory)
  const sizesOf = (found: readonly { readonly size: number }[]) => found.map(({ size }) => size)
  const upTo = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, i) => from + i)
  {
    using checkpoints = openCheckpoints(directory, 'main', keys, null)
    const known = sizesOf(checkpoints.of(origin))
    expect(known.length).toBeLessThan(5_900)
    expect(known.filter((size) => size > 1_000)).toEqual(upTo(1_001, 6_000))
    expect(known.filter((size) => size <= 400).length).toBeGreaterThan(0)
    expect(sizesOf(checkpoints.all(origin))).toEqual(upTo(1, 6_000))
    expect(keys.checked).toBeLessThan(800)
  }

  // Damage is cut out of the file, and nothing else is.
  const file = path.join(directory, checkpointsFile)
  const bytes = fs.readFileSync(file)
  bytes[bytes.indexOf('main\n51\n') + 20] = 0x21
  fs.writeFileSync(file, bytes)
  const left = upTo(1, 6_000).filter((size) => size !== 51)
  {
    using damaged = openCheckpoints(directory, 'main', keys, null)
    damaged.mend(() => undefined)
    expect(sizesOf(damaged.all(origin))).toEqual(left)
  }
  keys.checked = 0
  using mended = openCheckpoints(directory, 'main', keys, null)
  expect(mended.alarm).toBeNull()
  expect(keys.checked).toBeLessThan(400)
  expect(sizesOf(mended.all(origin))).toEqual(left)
})

test('a service that signs for long keeps no more of them in memory', () => {
  const directory = folderWith(0)
  using checkpoints = openCheckpoints(directory, 'main', loadKeys(directory), null)
  for (let size = 1; size <= 17_000; size += 1) checkpoints.add(origin, size, rootOf(size))
  const known = checkpoints.of(origin).map(({ size }) => size)
  expect(known.length).toBeLessThan(6_000)
  expect(known.slice(-4_096)).toEqual(Array.from({ length: 4_096 }, (_, i) => 12_905 + i))
  expect(known.filter((size) => size < 12_000).length).toBeGreaterThan(30)
})

test('a bit that changes in a checkpoint is found, also where its block was sealed', () => {
  const directory = folderWith(750)
  const keys = counting(directory)
  const file = path.join(directory, checkpointsFile)
  const bytes = fs.readFileSync(file)
  const before = JSON.stringify(
    read(directory, keys).checkpoints.map(({ size, root }) => [size, root]),
  )
  const step = Math.floor(bytes.length / 25)
  for (let at = 0; at < bytes.length; at += step) {
    const flipped = Buffer.from(bytes)
    flipped[at] = (flipped[at] as number) ^ (1 << (at % 8))
    fs.writeFileSync(file, flipped)
    keys.checked = 0
    const found = read(directory, keys)
    // It is told where it lies, in whichever block.
    for (const note of found.damaged)
      expect(flipped.toString('utf8').startsWith(note.text, note.at)).toBe(true)
    // Bits that base64 has no use for leave a checkpoint that says the same.
    if (found.damaged.length === 0)
      expect(JSON.stringify(found.checkpoints.map(({ size, root }) => [size, root]))).toBe(before)
    expect(keys.checked).toBeLessThan(740)
  }
})

test('seals that were changed, removed or moved cost a check and hide nothing', () => {
  const directory = folderWith(800)
  const keys = counting(directory)
  const file = path.join(directory, sealsFile)
  const [first = '', second = ''] = fs.readFileSync(file, 'utf8').split('\n')
  const [end = '', mac = ''] = first.split(' ')
  const changed = [
    '',
    'no seals',
    `${second}\n${first}\n`,
    `${end} ${second.split(' ')[1]}\n`,
    `${Number(end) - 1} ${mac}\n`,
    `999999999 ${mac}\n`,
  ]
  for (const seals of changed) {
    fs.writeFileSync(file, seals)
    keys.checked = 0
    {
      using checkpoints = openCheckpoints(directory, 'main', keys, null)
      expect([checkpoints.of(origin).length, checkpoints.alarm]).toEqual([800, null])
    }
    expect(keys.checked).toBeGreaterThan(300)
    keys.checked = 0
    using _again = openCheckpoints(directory, 'main', keys, null)
    expect(keys.checked).toBeLessThan(400)
  }
})

test('what is left of a file that was cut off is sealed anew, and what is added behind it', () => {
  const directory = folderWith(1_100)
  const keys = counting(directory)
  const file = path.join(directory, checkpointsFile)
  const bytes = fs.readFileSync(file)
  // In the middle of the second block, between two checkpoints.
  fs.writeFileSync(file, bytes.subarray(0, bytes.indexOf(`${origin}\n501\n`)))
  {
    using checkpoints = openCheckpoints(directory, 'main', keys, null)
    expect([checkpoints.of(origin).length, checkpoints.alarm]).toEqual([500, null])
    for (let size = 501; size <= 1_100; size += 1) checkpoints.add(origin, size, rootOf(size))
  }
  keys.checked = 0
  using again = openCheckpoints(directory, 'main', keys, null)
  expect([again.of(origin).length, again.alarm]).toEqual([1_100, null])
  expect(keys.checked).toBeLessThan(400)
})

test('damage is never sealed, however much is added behind it', () => {
  const directory = folderWith(100)
  const keys = counting(directory)
  const file = path.join(directory, checkpointsFile)
  const forged = fs.readFileSync(file, 'utf8').replace('main\n50\n', 'main\n51\n')
  fs.writeFileSync(file, forged)
  for (let start = 0; start < 3; start += 1) {
    using checkpoints = openCheckpoints(directory, 'main', keys, null)
    expect(checkpoints.alarm).toMatchObject({ kind: 'anchor_missing' })
    for (let i = 0; i < 400; i += 1) checkpoints.add(origin, 1_000 * (start + 1) + i, rootOf(i))
  }
  const kept: object[] = []
  {
    using checkpoints = openCheckpoints(directory, 'main', keys, null)
    checkpoints.mend((rows) => void kept.push(...rows))
  }
  expect(kept).toEqual([
    { file: checkpointsFile, at: expect.any(Number), text: expect.stringContaining('main\n51\n') },
  ])
  keys.checked = 0
  using checkpoints = openCheckpoints(directory, 'main', keys, null)
  expect(checkpoints.alarm).toBeNull()
  expect(checkpoints.of(origin)).toHaveLength(1_299)
  expect(keys.checked).toBeLessThan(400)
})
