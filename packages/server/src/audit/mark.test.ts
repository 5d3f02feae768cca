import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { canonical } from '../domain/audit/canonical.ts'
import { emptyLog } from '../domain/audit/chain.ts'
import { loadKeys, sealerBeside } from './keys.ts'
import {
  copyLogFolder,
  type Mark,
  markFile,
  openMark,
  readMark,
  readRecords,
  sealMark,
} from './mark.ts'

const bench = () => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-mark-'))
  onTestFinished(() => fs.rmSync(directory, { recursive: true }))
  const keys = loadKeys(directory)
  return { directory, keys, file: path.join(directory, markFile) }
}

const markOf = (count: number): Mark => ({
  ...emptyLog,
  chain: 'main',
  count,
  time: '2026-01-01T00:00:00.000Z',
  epoch: 0,
  alarm: null,
  baseline: null,
  stored: 0,
  vault: null,
})

const bytesOf = (text: string): Buffer => Buffer.from(text)

const first = { half: 0, fresh: true } as const
const next = { half: 0, fresh: false } as const
const other = { half: 1, fresh: true } as const

test('a mark and a record that it covers come back together', () => {
  const { directory, keys } = bench()
  using mark = openMark(directory, keys)
  expect(mark.writeWith(sealMark(markOf(1), keys), bytesOf('one'), first)).toBe(true)
  expect(mark.writeWith(sealMark(markOf(2), keys), bytesOf('zwei €'), next)).toBe(true)
  expect(mark.writeWith(sealMark(markOf(3), keys), bytesOf('three'), other)).toBe(true)
  expect(readMark(directory, keys, keys)?.count).toBe(3)
  expect(readRecords(directory)).toEqual(['one', 'zwei €', 'three'])
})

test('is synced after it is written and before the call returns', () => {
  const { directory, keys } = bench()
  using mark = openMark(directory, keys)
  const done: string[] = []
  const spies = (['writeSync', 'writevSync', 'fdatasyncSync'] as const).map((name) => {
    const real = fs[name] as (...args: unknown[]) => unknown
    return vi.spyOn(fs, name).mockImplementation(((...args: unknown[]) => {
      const result = real(...args)
      done.push(name)
      return result
    }) as never)
  })
  onTestFinished(() => spies.forEach((spy) => spy.mockRestore()))
  mark.write(sealMark(markOf(1), keys))
  expect(done.splice(0)).toEqual(['writeSync', 'fdatasyncSync'])
  mark.writeWith(sealMark(markOf(2), keys), bytesOf('one'), first)
  expect(done).toEqual(['writevSync', 'writeSync', 'fdatasyncSync'])
})

test('a record of which a part is missing is left out, and so is what follows it', () => {
  const { directory, keys, file } = bench()
  using mark = openMark(directory, keys)
  mark.writeWith(sealMark(markOf(1), keys), bytesOf('whole'), first)
  mark.writeWith(sealMark(markOf(2), keys), bytesOf('torn to pieces'), next)
  mark.writeWith(sealMark(markOf(3), keys), bytesOf('after'), next)
  const bytes = fs.readFileSync(file)
  bytes[bytes.indexOf('pieces')] = 0
  fs.writeFileSync(file, bytes)
  expect(readRecords(directory)).toEqual(['whole'])
})

test('a fresh half is filled from its start, over what it held', () => {
  const { directory, keys } = bench()
  using mark = openMark(directory, keys)
  mark.writeWith(sealMark(markOf(1), keys), bytesOf('a long record of long ago'), first)
  mark.writeWith(sealMark(markOf(2), keys), bytesOf('another'), next)
  mark.writeWith(sealMark(markOf(3), keys), bytesOf('new'), first)
  expect(readRecords(directory)).toEqual(['new'])
})

test('where there is no room nothing is written, not even the mark', () => {
  const { directory, keys } = bench()
  using mark = openMark(directory, keys)
  const large = 'x'.repeat(3_000_000)
  expect(mark.writeWith(sealMark(markOf(1), keys), bytesOf(large), first)).toBe(true)
  expect(mark.writeWith(sealMark(markOf(2), keys), bytesOf(large), next)).toBe(false)
  expect(readMark(directory, keys, keys)?.count).toBe(1)
  expect(mark.writeWith(sealMark(markOf(2), keys), bytesOf(large), other)).toBe(true)
  expect(readRecords(directory)).toHaveLength(2)
})

test('a file of before, with smaller halves, is read where its records are and then made longer', () => {
  const { directory, keys, file } = bench()
  const whole = openMark(directory, keys)
  whole.writeWith(sealMark(markOf(1), keys), bytesOf('one'), first)
  whole.writeWith(sealMark(markOf(2), keys), bytesOf('two'), other)
  whole[Symbol.dispose]()
  const bytes = fs.readFileSync(file)
  const [halves, mebibyte] = [2 * 4096, 1024 * 1024]
  const half = (bytes.length - 3 * 4096) / 2
  fs.writeFileSync(
    file,
    Buffer.concat([
      bytes.subarray(0, halves + mebibyte),
      bytes.subarray(halves + half, halves + half + mebibyte),
      bytes.subarray(-4096),
    ]),
  )
  expect(readRecords(directory)).toEqual(['one', 'two'])
  expect(readMark(directory, keys, keys)?.count).toBe(2)
  expect(readMark(directory, keys, null)?.count).toBe(2)

  using mark = openMark(directory, keys)
  expect(fs.statSync(file).size).toBe(bytes.length)
  expect(readMark(directory, keys, null)?.count).toBe(2)
  expect(mark.writeWith(sealMark(markOf(3), keys), bytesOf('three'), first)).toBe(true)
  expect(mark.intact()).toBe(true)
  expect(readRecords(directory)).toEqual(['three'])
})

test('a file whose end somebody cut off is read where its records are', () => {
  const { directory, keys, file } = bench()
  using mark = openMark(directory, keys)
  mark.writeWith(sealMark(markOf(1), keys), bytesOf('one'), first)
  mark.writeWith(sealMark(markOf(2), keys), bytesOf('two'), other)
  fs.truncateSync(file, fs.statSync(file).size - 10_000)
  expect(readRecords(directory)).toEqual(['one', 'two'])
  expect(readMark(directory, keys, keys)?.count).toBe(2)
  expect(mark.intact()).toBe(false)
})

test('a copy of the folder has keys and marks, and no records', () => {
  const { directory, keys, file } = bench()
  const mark = openMark(directory, keys)
  mark.writeWith(sealMark(markOf(1), keys), bytesOf('one'), first)
  mark[Symbol.dispose]()
  const copy = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-mark-'))
  onTestFinished(() => fs.rmSync(copy, { recursive: true }))
  copyLogFolder(directory, copy)
  expect(fs.readdirSync(copy).sort()).toEqual(fs.readdirSync(directory).sort())
  expect(fs.statSync(path.join(copy, markFile)).size).toBeLessThan(16_384)
  expect(readRecords(copy)).toEqual([])
  expect(readMark(copy, keys, keys)?.count).toBe(1)
  expect(readMark(copy, keys, null)?.count).toBe(1)
  using again = openMark(copy, loadKeys(copy))
  again.write(sealMark(markOf(2), keys))
  expect(fs.statSync(path.join(copy, markFile)).size).toBe(fs.statSync(file).size)
})

test('a directory without a mark holds no records', () => {
  expect(readRecords(bench().directory)).toEqual([])
})

test('who has the public key alone sees a mark a moment later, and the last one when the file is closed', async () => {
  const { directory, keys } = bench()
  const mark = openMark(directory, keys)
  mark.write(sealMark(markOf(1), keys))
  expect(readMark(directory, keys, null)).toBeNull()
  await expect.poll(() => readMark(directory, keys, null)?.count).toBe(1)
  mark.write(sealMark(markOf(2), keys))
  expect(readMark(directory, keys, keys)?.count).toBe(2)
  mark[Symbol.dispose]()
  expect(readMark(directory, keys, null)?.count).toBe(2)
})

test('a mark is believed only with a MAC or a signature of this key', () => {
  const { directory, keys, file } = bench()
  const mark = openMark(directory, keys)
  mark.write(sealMark(markOf(1), keys))
  const stranger = loadKeys(bench().directory)
  expect(readMark(directory, stranger, stranger)).toBeNull()
  mark[Symbol.dispose]()
  expect(readMark(directory, stranger, stranger)).toBeNull()
  const changed = fs.readFileSync(file, 'latin1').replaceAll('"count":1', '"count":7')
  fs.writeFileSync(file, changed, 'latin1')
  expect(readMark(directory, keys, keys)).toBeNull()
})

test('MACs are checked with the key beside the log only where it belongs to the given public key', () => {
  const { directory, keys } = bench()
  using mark = openMark(directory, keys)
  mark.write(sealMark(markOf(1), keys))
  const sealer = sealerBeside(directory, keys)
  expect(readMark(directory, keys, sealer)?.count).toBe(1)
  expect(sealerBeside(directory, loadKeys(bench().directory))).toBeNull()
  fs.rmSync(path.join(directory, 'audit.key'))
  expect(sealerBeside(directory, keys)).toBeNull()
})

test('a mark of before, signed in its slot, is read, and the next one goes on from it', () => {
  const { directory, keys, file } = bench()
  const text = canonical(markOf(4))
  const signature = keys.sign(Buffer.from(`gatehouse-mark-v1\n${text}`)).toString('base64')
  fs.writeFileSync(file, `${text}\n${signature}\n`.padEnd(2 * 4096, '\n'))
  expect(readMark(directory, keys, keys)?.count).toBe(4)
  const mark = openMark(directory, keys)
  expect(readMark(directory, keys, keys)?.count).toBe(4)
  mark.write(sealMark(markOf(5), keys))
  mark[Symbol.dispose]()
  expect(readMark(directory, keys, keys)?.count).toBe(5)
  expect(readMark(directory, keys, null)?.count).toBe(5)
})

test('a signed mark does not stand in for those that somebody took away', () => {
  const { directory, keys, file } = bench()
  const mark = openMark(directory, keys)
  mark.write(sealMark(markOf(1), keys))
  mark[Symbol.dispose]()
  const bytes = fs.readFileSync(file)
  fs.writeFileSync(file, bytes.fill('\n', 0, 2 * 4096))
  expect(readMark(directory, keys, null)?.count).toBe(1)
  expect(readMark(directory, keys, keys)).toBeNull()
  bytes.copy(bytes, 0, bytes.length - 4096)
  fs.writeFileSync(file, bytes)
  expect(readMark(directory, keys, keys)).toBeNull()
})

test('somebody else changes the signed mark: the file is not intact', () => {
  const { directory, keys, file } = bench()
  using mark = openMark(directory, keys)
  mark.write(sealMark(markOf(1), keys))
  expect(mark.intact()).toBe(true)
  const fd = fs.openSync(file, 'r+')
  fs.writeSync(fd, 'x', fs.fstatSync(fd).size - 1)
  fs.closeSync(fd)
  expect(mark.intact()).toBe(false)
  mark.restore()
  expect(mark.intact()).toBe(true)
})
