import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { emptyLog } from '../domain/audit/chain.ts'
import { loadKeys, sealerBeside } from './keys.ts'
import { headFile, openHeadFile, readSignedHead, type SignedHead } from './signed-head.ts'

const slotBytes = 4096

const bench = () => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-head-'))
  onTestFinished(() => fs.rmSync(directory, { recursive: true }))
  const keys = loadKeys(directory)
  return { directory, keys, file: path.join(directory, headFile) }
}

const headOf = (count: number): SignedHead => ({
  ...emptyLog,
  chain: 'main',
  count,
  time: '2026-01-01T00:00:00.000Z',
  epoch: 0,
  alarm: null,
  baseline: null,
  vault: null,
})

test('comes back as it was written, the newer of two', () => {
  const { directory, keys } = bench()
  using head = openHeadFile(directory, keys)
  for (const count of [1, 2, 3]) {
    head.write(headOf(count))
    expect(readSignedHead(directory, keys, keys)).toEqual(headOf(count))
  }
})

test('survives a torn write of the next one', () => {
  const { directory, keys, file } = bench()
  const head = openHeadFile(directory, keys)
  head.write(headOf(1))
  head.write(headOf(2))
  head[Symbol.dispose]()
  const bytes = fs.readFileSync(file)
  bytes.fill('\n', 10, slotBytes)
  fs.writeFileSync(file, bytes)
  expect(readSignedHead(directory, keys, keys)?.count).toBe(1)
})

test('goes on over a restart', () => {
  const { directory, keys } = bench()
  openHeadFile(directory, keys)[Symbol.dispose]()
  {
    using head = openHeadFile(directory, keys)
    head.writeSynced(headOf(7))
  }
  // Nothing was written meanwhile: it stays as it was, also for who has the public key alone.
  openHeadFile(directory, keys)[Symbol.dispose]()
  expect(readSignedHead(directory, keys, null)?.count).toBe(7)
  using head = openHeadFile(directory, keys)
  expect(readSignedHead(directory, keys, keys)?.count).toBe(7)
  head.write(headOf(8))
  expect(readSignedHead(directory, keys, keys)?.count).toBe(8)
  expect(head.intact()).toBe(true)
})

test('is seen a moment later by who has the public key alone, and the last one when the file is closed', async () => {
  const { directory, keys } = bench()
  const head = openHeadFile(directory, keys)
  head.write(headOf(1))
  expect(readSignedHead(directory, keys, null)).toBeNull()
  await expect.poll(() => readSignedHead(directory, keys, null)?.count).toBe(1)
  head.write(headOf(2))
  head[Symbol.dispose]()
  expect(readSignedHead(directory, keys, null)?.count).toBe(2)
})

test('is believed only with a MAC or a signature of this key', () => {
  const { directory, keys, file } = bench()
  const head = openHeadFile(directory, keys)
  head.write(headOf(1))
  head[Symbol.dispose]()
  const stranger = loadKeys(bench().directory)
  expect(readSignedHead(directory, stranger, stranger)).toBeNull()
  expect(readSignedHead(directory, stranger, null)).toBeNull()
  const changed = fs.readFileSync(file, 'latin1').replaceAll('"count":1', '"count":7')
  fs.writeFileSync(file, changed, 'latin1')
  expect(readSignedHead(directory, keys, keys)).toBeNull()
  expect(readSignedHead(directory, keys, null)).toBeNull()
})

test('that is no head, or not there, is none; one that cannot be read is a fault', () => {
  const { directory, keys, file } = bench()
  expect(readSignedHead(directory, keys, keys)).toBeNull()
  const head = openHeadFile(directory, keys)
  head.write(headOf(2))
  head[Symbol.dispose]()
  const [text = '', seal = ''] = fs.readFileSync(file, 'latin1').split('\n')
  for (const other of [`${seal.slice(0, -8)}`, seal.replace('hmac', 'mach'), '']) {
    const slot = `${text}\n${other}\n`.padEnd(slotBytes, '\n')
    fs.writeFileSync(file, slot.repeat(3), 'latin1')
    expect(readSignedHead(directory, keys, keys)).toBeNull()
    expect(readSignedHead(directory, keys, null)).toBeNull()
  }
  fs.writeFileSync(file, text)
  expect(readSignedHead(directory, keys, keys)).toBeNull()
  fs.rmSync(file)
  fs.mkdirSync(file)
  expect(() => readSignedHead(directory, keys, keys)).toThrow('EISDIR')
})

test('that is longer than its place is not written in part', () => {
  const { directory, keys } = bench()
  using head = openHeadFile(directory, keys)
  head.write(headOf(1))
  expect(() => head.write({ ...headOf(2), vault: 'x'.repeat(slotBytes) })).toThrow(
    'the signed head does not fit its slot',
  )
  expect(readSignedHead(directory, keys, keys)?.count).toBe(1)
})

test('is checked with the key beside the log only where that belongs to the given public key', () => {
  const { directory, keys } = bench()
  using head = openHeadFile(directory, keys)
  head.write(headOf(1))
  expect(readSignedHead(directory, keys, sealerBeside(directory, keys))?.count).toBe(1)
  expect(sealerBeside(directory, loadKeys(bench().directory))).toBeNull()
  fs.rmSync(path.join(directory, 'audit.key'))
  expect(sealerBeside(directory, keys)).toBeNull()
})

test('that is signed does not stand in for those that somebody took away', () => {
  const { directory, keys, file } = bench()
  const head = openHeadFile(directory, keys)
  head.write(headOf(1))
  head[Symbol.dispose]()
  const bytes = fs.readFileSync(file)
  fs.writeFileSync(file, bytes.fill('\n', 0, 2 * slotBytes))
  expect(readSignedHead(directory, keys, null)?.count).toBe(1)
  expect(readSignedHead(directory, keys, keys)).toBeNull()
  bytes.copy(bytes, 0, 2 * slotBytes)
  fs.writeFileSync(file, bytes)
  expect(readSignedHead(directory, keys, keys)).toBeNull()
})

test('a MAC of a slot is no signature, and a signature no MAC', () => {
  const { directory, keys, file } = bench()
  const head = openHeadFile(directory, keys)
  head.write(headOf(1))
  head[Symbol.dispose]()
  const bytes = fs.readFileSync(file)
  bytes.copy(bytes, 2 * slotBytes, slotBytes, 2 * slotBytes)
  fs.writeFileSync(file, bytes)
  expect(readSignedHead(directory, keys, null)).toBeNull()
})

test('that somebody else changed, replaced or removed is not intact, and is made anew', () => {
  const { directory, keys, file } = bench()
  using head = openHeadFile(directory, keys)
  head.writeSynced(headOf(1))
  expect(head.intact()).toBe(true)
  const fd = fs.openSync(file, 'r+')
  fs.writeSync(fd, 'x', slotBytes * 3 - 1)
  fs.closeSync(fd)
  expect(head.intact()).toBe(false)
  head.restore()
  expect(head.intact()).toBe(true)
  fs.rmSync(file)
  expect(head.intact()).toBe(false)
  const open = fs.readdirSync('/proc/self/fd').length
  head.restore()
  expect(fs.readdirSync('/proc/self/fd').length).toBe(open)
  expect(readSignedHead(directory, keys, keys)?.count).toBe(1)
})
