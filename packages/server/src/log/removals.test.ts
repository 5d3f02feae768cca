import fs from 'node:fs'
import path from 'node:path'
import { makeTemporaryFolder } from '@gatehouse/testkit/temporary-folder'
import { expect, test } from 'vitest'
import { emptyLog } from '../domain/audit/chain.ts'
import { loadKeys } from './keys.ts'
import {
  addRemoval,
  logBegin,
  type Removal,
  readRemoval,
  readStart,
  removalsFile,
  removedOf,
} from './removals.ts'

const [keys, others] = [loadKeys(makeTemporaryFolder()), loadKeys(makeTemporaryFolder())]
const hash = (digit: string) => digit.repeat(64)

const removalOf = (size: number, change: Partial<Removal> = {}): Removal => ({
  ...{ chain: 'main', size, head: hash('a'), peaks: [hash('b')], root: hash('b'), from: 0 },
  ...{ removed_at: '2026-01-01T00:00:00.000Z', reason: 'age', exported_to: ['archive'] },
  ...{ segments: [{ first: 0, entries: size, bytes: 9, sha256: hash('c') }], entry: 'aud-7' },
  ...change,
})

const linesIn = (directory: string): string[] =>
  fs.readFileSync(path.join(directory, removalsFile), 'utf8').split('\n')

test('a log begins behind the last removal that is signed, as it was written', () => {
  const directory = makeTemporaryFolder()
  expect(readStart(directory, keys, 'main')).toEqual({
    ...{ state: emptyLog, removal: null, signed: null },
  })
  for (const size of [4, 8]) {
    const removal = removalOf(size)
    const added = addRemoval(directory, keys, removal)
    const { head, peaks } = removal
    expect(added).toEqual({
      ...{ state: { size, head, peaks }, removal },
      signed: { record: JSON.stringify(removal), signature: added.signed?.signature },
    })
    expect(readStart(directory, keys, 'main')).toEqual(added)
    expect(readRemoval(added.signed, keys)).toEqual(added)
  }
  expect(linesIn(directory)).toHaveLength(3)
  expect(fs.statSync(path.join(directory, removalsFile)).mode & 0o777).toBe(0o600)
})

test('removals of another chain or key, and those that end earlier, do not move the beginning', () => {
  const directory = makeTemporaryFolder()
  const last = addRemoval(directory, keys, removalOf(4))
  addRemoval(directory, keys, removalOf(8, { chain: 'other' }))
  addRemoval(directory, others, removalOf(8))
  addRemoval(directory, keys, removalOf(2, { from: 9 }))
  addRemoval(directory, keys, removalOf(4, { entry: 'aud-9' }))
  expect(readStart(directory, keys, 'main')).toEqual(last)
  expect(readStart(directory, keys, 'other').state.size).toBe(8)
  expect(readStart(directory, keys, 'third')).toBe(logBegin)
})

test('a line that is no signed removal is passed over', () => {
  const directory = makeTemporaryFolder()
  const { signed } = addRemoval(directory, keys, removalOf(4))
  if (!signed) throw new Error('nothing is signed')
  const { record, signature } = signed
  const changed = record.replace('"size":4', '"size":8')
  expect(changed).not.toBe(record)
  const lines: unknown[] = [
    { record: changed, signature },
    { record, signature: '' },
    { record },
    { signature },
    { record: 7, signature },
    { record, signature: 7 },
    null,
    7,
  ]
  for (const line of lines) expect(readRemoval(line as never, keys)).toBeNull()
  expect(readRemoval(signed, others)).toBeNull()
  fs.writeFileSync(
    path.join(directory, removalsFile),
    `no line\n${lines.map((line) => JSON.stringify(line)).join('\n')}\n`,
  )
  expect(readStart(directory, keys, 'main')).toBe(logBegin)
})

test('a removal whose frontier is not that of its size is none, whoever signed it', () => {
  const directory = makeTemporaryFolder()
  const { signed } = addRemoval(directory, keys, removalOf(5))
  expect(readRemoval(signed, keys)).toBeNull()
  expect(readStart(directory, keys, 'main')).toBe(logBegin)
})

test('a removal is a line of its own, also behind one that a crash tore', () => {
  const directory = makeTemporaryFolder()
  fs.writeFileSync(path.join(directory, removalsFile), '{"record":"{')
  const added = addRemoval(directory, keys, removalOf(4))
  expect(readStart(directory, keys, 'main')).toEqual(added)
  const next = addRemoval(directory, keys, removalOf(8))
  expect(readStart(directory, keys, 'main')).toEqual(next)
  expect(linesIn(directory).map((line) => line !== '')).toEqual([true, true, true, false])
})

test('an answer about a log says what was removed from it, and nothing where nothing was', () => {
  const start = addRemoval(makeTemporaryFolder(), keys, removalOf(4))
  expect(removedOf(start)).toEqual({
    removed: {
      ...{ entries: 4, removed_at: '2026-01-01T00:00:00.000Z', reason: 'age' },
      ...{ head: `sha256:${hash('a')}`, entry: 'aud-7' },
    },
  })
  expect(removedOf(logBegin)).toEqual({})
})
