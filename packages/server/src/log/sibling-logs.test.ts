import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { encodeFrame, lineOf, noteText } from './frame.ts'
import { encodeHeader } from './segment.ts'
import { gateFolders, IdleLogs, otherFolders, SiblingLogs } from './sibling-logs.ts'

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-siblings-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('folders of gate processes are those with a number, in their order', () => {
  const dataDir = newFolder()
  expect(gateFolders(dataDir)).toEqual([])
  for (const name of ['10', '2', 'notes'])
    mkdirSync(join(dataDir, 'gates', name), { recursive: true })
  const [two, ten] = ['2', '10'].map((name) => join(dataDir, 'gates', name)) as [string, string]
  expect(gateFolders(dataDir)).toEqual([two, ten])
  expect(otherFolders(dataDir, two)).toEqual([dataDir, ten])
})

test('whatever changes in a log that nobody writes any more was somebody else', async () => {
  const folder = newFolder()
  const segments = join(folder, 'audit', 'segments')
  mkdirSync(segments, { recursive: true })
  const file = join(segments, '0000000000000000.log')
  writeFileSync(file, 'x')
  const logs = new IdleLogs(() => [folder])
  expect([await logs.takeForeign(), await logs.takeForeign()]).toEqual([false, false])
  appendFileSync(file, 'y')
  expect([await logs.takeForeign(), await logs.takeForeign()]).toEqual([true, false])
  rmSync(file)
  expect(await logs.takeForeign()).toBe(true)
})

const hash = '0'.repeat(64)

/** Folder of a process whose log has so many entries, and how it gets one more. */
const openWritten = (chain: string, count: number) => {
  const folder = newFolder()
  const segments = join(folder, 'audit', 'segments')
  mkdirSync(segments, { recursive: true })
  const file = join(segments, '0000000000000000.log')
  writeFileSync(
    file,
    encodeHeader({ format: 'gatehouse-log-v1', chain, first: 0, head: hash, root: '' }),
  )
  let next = 0
  const append = (): void => {
    const note = noteText({ stamps: [], agents: [], sessions: [], clockMs: 0, vault: null })
    const text = note + lineOf(hash, '0'.repeat(16), `{"seq":${next}}`)
    appendFileSync(file, encodeFrame(next, 1, text, Buffer.alloc(32)))
    next += 1
  }
  for (let i = 0; i < count; i += 1) append()
  return { folder, append }
}

test('one log is read without a look at all others, and as it is by now', async () => {
  const names = Array.from({ length: 9 }, (_, i) => `node.${i}`)
  const written = names.map((chain, i) => openWritten(chain, i + 1))
  let looks = 0
  const logs = new SiblingLogs(() => {
    looks += 1
    return written.map(({ folder }) => folder)
  })
  expect(await logs.ends()).toEqual(names.map((chain, i) => ({ chain, next: i + 1 })))
  for (const { append } of written) append()
  for (const [i, chain] of names.entries()) {
    expect(await logs.read(chain, i + 1, 9)).toEqual([
      { seq: i + 1, hash, body: `{"seq":${i + 1}}` },
    ])
    expect(await logs.checkpoint(chain)).toBeNull()
  }
  expect(looks).toBe(1)
  const late = openWritten('node.9', 1)
  written.push(late)
  expect(await logs.read('node.9', 0, 9)).toHaveLength(1)
})
