import fs from 'node:fs'
import path from 'node:path'
import { makeTemporaryFolder } from '@gatehouse/testkit/temporary-folder'
import { expect, test } from 'vitest'
import type { CheckpointCopy } from './checkpoint-copy.ts'
import {
  checkpointAlarm,
  checkpointsFile,
  largestOf,
  openCheckpoints,
  originOf,
  readCheckpointFile,
} from './checkpoints.ts'
import { loadKeys } from './keys.ts'
import { type Checkpoint, type DamagedNote, signCheckpoint } from './note.ts'

// The file of checkpoints and its copy: what counts of each, what is damage, and what becomes of that.

const origin = originOf('main', 0)
const rootOf = (size: number): string => size.toString(16).padStart(64, '0')
const sizesOf = (all: readonly Checkpoint[]) => all.map(({ size }) => size)

/** Folder with keys, and how its checkpoints are opened; the copy is a text that a test writes. */
const openFolder = (copied: string | null = null) => {
  const directory = makeTemporaryFolder()
  const file = path.join(directory, checkpointsFile)
  const keys = loadKeys(directory)
  const [added, cut]: [string[], (readonly DamagedNote[])[]] = [[], []]
  let copy = copied
  const copies = (): CheckpointCopy => ({
    file: '/elsewhere/copy.log',
    read: () => Buffer.from(copy ?? ''),
    add: (note) => void added.push(note),
    cutOut: (parts) => void cut.push(parts),
    failure: () => null,
    [Symbol.asyncDispose]: async () => {},
  })
  return {
    ...{ directory, file, keys, added, cut },
    open: () => openCheckpoints(directory, 'main', keys, copy === null ? null : copies()),
    note: (size: number, of = origin, by = keys) =>
      `${signCheckpoint({ origin: of, size, root: rootOf(size) }, by).note}\n`,
    write: (text: string) => fs.writeFileSync(file, text),
    writeCopy: (text: string) => (copy = text),
    text: () => fs.readFileSync(file, 'utf8'),
  }
}

test('a checkpoint is stored and found again, by the tree that it is of', () => {
  const { open, keys, text, note, added, directory, file } = openFolder('')
  {
    using checkpoints = open()
    expect([checkpoints.of(origin), checkpoints.all(origin), checkpoints.alarm]).toEqual([
      ...[[], [], null],
    ])
    const expected = signCheckpoint({ origin, size: 4, root: rootOf(4) }, keys)
    expect(checkpoints.add(origin, 4, rootOf(4))).toEqual(expected)
    expect(text()).toBe(note(4))
    expect(added).toEqual([expected.note])
    checkpoints.add(originOf('main', 1), 2, rootOf(2))
    checkpoints.add(origin, 9, rootOf(9))
    expect(sizesOf(checkpoints.of(origin))).toEqual([4, 9])
  }
  expect([originOf('main', 0), originOf('main', 1), originOf('main', 12)]).toEqual([
    ...['gatehouse/audit/main', 'gatehouse/audit/main/1', 'gatehouse/audit/main/12'],
  ])
  using again = open()
  for (const of of [again.of, again.all]) {
    expect(sizesOf(of(origin))).toEqual([4, 9])
    expect(sizesOf(of(originOf('main', 1)))).toEqual([2])
  }
  expect(sizesOf(readCheckpointFile(directory, keys, null).checkpoints)).toEqual([4, 2, 9])
  expect(readCheckpointFile(makeTemporaryFolder(), keys, keys).checkpoints).toEqual([])
  expect(fs.statSync(file).mode & 0o777).toBe(0o644)
})

test('checkpoints are in the order of their sizes, those that only the copy has among them and each once', () => {
  const { open, write, writeCopy, note, file } = openFolder()
  write(note(9) + note(4))
  {
    using alone = open()
    for (const of of [alone.of, alone.all]) expect(sizesOf(of(origin))).toEqual([4, 9])
  }
  writeCopy(note(7) + note(4) + note(12))
  {
    using both = open()
    for (const of of [both.of, both.all]) expect(sizesOf(of(origin))).toEqual([4, 7, 9, 12])
  }
  fs.rmSync(file)
  using copied = open()
  for (const of of [copied.of, copied.all]) expect(sizesOf(of(origin))).toEqual([4, 7, 12])
})

test('a note that a crash tore is no damage, and the next one stands on a line of its own', () => {
  const { open, write, note, text } = openFolder()
  const torn = note(9).slice(0, 30)
  write(note(4) + torn)
  {
    using checkpoints = open()
    expect([checkpoints.alarm, sizesOf(checkpoints.of(origin))]).toEqual([null, [4]])
    checkpoints.add(origin, 9, rootOf(9))
  }
  expect(text()).toBe(`${note(4)}${torn}\n\n${note(9)}`)
  using again = open()
  expect([again.alarm, sizesOf(again.of(origin))]).toEqual([null, [4, 9]])
  expect(text()).toBe(`${note(4)}${torn}\n\n${note(9)}`)
})

test('damage is a finding of the last entry that a checkpoint is over, and is moved out of the file', () => {
  const { open, write, note, text } = openFolder()
  const stranger = note(7, origin, loadKeys(makeTemporaryFolder()))
  write(note(4) + stranger + note(9))
  const rows: object[] = []
  {
    using checkpoints = open()
    expect(checkpoints.alarm).toEqual({
      ...{ kind: 'anchor_missing', seq: 8, id: null },
      detail: `checkpoints.log is damaged: from character ${note(4).length} on it has something else than a checkpoint of this log`,
    })
    expect(sizesOf(checkpoints.of(origin))).toEqual([4, 9])
    checkpoints.mend((found) => void rows.push(...found))
    expect(text()).toBe(note(4) + note(9))
    checkpoints.add(origin, 12, rootOf(12))
  }
  expect(rows).toEqual([{ file: checkpointsFile, at: note(4).length, text: stranger.trimEnd() }])
  expect(text()).toBe(note(4) + note(9) + note(12))
  using again = open()
  expect(again.alarm).toBeNull()
  again.mend(() => expect.fail('nothing is damaged'))
})

test('damage in the copy is a finding with the name of that file, and what other logs have there is none', () => {
  const { open, write, writeCopy, note, cut, text } = openFolder()
  const others = note(50, originOf('other', 0), loadKeys(makeTemporaryFolder()))
  const copy = note(4) + others + note(12)
  write(note(4))
  writeCopy(copy)
  {
    using checkpoints = open()
    expect(checkpoints.alarm).toBeNull()
    checkpoints.mend(() => expect.fail('nothing is damaged'))
  }
  writeCopy(`${copy}somebody was here`)
  const rows: object[] = []
  {
    using checkpoints = open()
    expect(checkpoints.alarm).toMatchObject({
      ...{ kind: 'anchor_missing', seq: 11, id: null },
      detail: expect.stringContaining(
        `/elsewhere/copy.log is damaged: from character ${copy.length} on`,
      ) as string,
    })
    checkpoints.mend((found) => void rows.push(...found))
  }
  const damage = { at: copy.length, text: 'somebody was here' }
  expect(rows).toEqual([{ file: '/elsewhere/copy.log', ...damage }])
  expect([cut, text()]).toEqual([[[damage]], note(4)])
})

test('where the file is damaged the copy is read as a whole, and the finding is about the file', () => {
  const { open, write, writeCopy, note } = openFolder()
  write(`${note(4)}somebody was here`)
  writeCopy(`${note(4)}${note(9)}somebody was there`)
  using checkpoints = open()
  expect(checkpoints.alarm).toMatchObject({
    ...{ seq: 3, detail: expect.stringMatching(/^checkpoints\.log is damaged/) as string },
  })
  expect(sizesOf(checkpoints.of(origin))).toEqual([4, 9])
})

test('an alarm names the first damage, and an entry even where no checkpoint is left', () => {
  const damaged = [
    { at: 7, text: 'x' },
    { at: 90, text: 'y' },
  ]
  expect(checkpointAlarm({ checkpoints: [], damaged }, 'a file')).toMatchObject({
    ...{ seq: 0, detail: expect.stringContaining('from character 7 on') as string },
  })
  expect(checkpointAlarm({ checkpoints: [], damaged: [] }, 'a file')).toBeNull()
  expect(largestOf([])).toBe(0)
  const checkpoint = (size: number) => ({ origin, size, root: '', note: '' })
  expect(largestOf([checkpoint(4), checkpoint(9), checkpoint(7)])).toBe(9)
})
