import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { checkpointsFile } from './checkpoints.ts'
import { encodeFrame, lineOf, noteText } from './frame.ts'
import { loadKeys, publicKeyFile } from './keys.ts'
import { signCheckpoint } from './note.ts'
import { addRemoval } from './removals.ts'
import { encodeHeader } from './segment.ts'
import { gateFolders, IdleLogs, otherFolders, removalIn, SiblingLogs } from './sibling-logs.ts'

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-siblings-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('folders of gate processes are those with a number, in their order', () => {
  const dataDir = newFolder()
  expect(gateFolders(dataDir)).toEqual([])
  for (const name of ['10', '2', 'notes', '3x', 'x3'])
    mkdirSync(join(dataDir, 'gates', name), { recursive: true })
  const [two, ten] = ['2', '10'].map((name) => join(dataDir, 'gates', name)) as [string, string]
  expect(gateFolders(dataDir)).toEqual([two, ten])
  expect(otherFolders(dataDir, two)).toEqual([dataDir, ten])
  const strange = newFolder()
  writeFileSync(join(strange, 'gates'), '')
  expect(() => gateFolders(strange)).toThrow('ENOTDIR')
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

/** Folder of a process whose log has so many entries, and how it gets one more, or another segment. */
const openWritten = (chain: string, count: number) => {
  const folder = newFolder()
  const audit = join(folder, 'audit')
  const segments = join(audit, 'segments')
  mkdirSync(segments, { recursive: true })
  let file = ''
  let next = 0
  const begin = (): void => {
    file = join(segments, `${String(next).padStart(16, '0')}.log`)
    const header = { format: 'gatehouse-log-v1', chain, first: next, head: hash, root: '' } as const
    writeFileSync(file, encodeHeader(header))
  }
  begin()
  const append = (): void => {
    const note = noteText({ stamps: [], agents: [], sessions: [], clockMs: 0, vault: null })
    const text = note + lineOf(hash, '0'.repeat(16), `{"seq":${next}}`)
    appendFileSync(file, encodeFrame(next, 1, text, Buffer.alloc(32)))
    next += 1
  }
  for (let i = 0; i < count; i += 1) append()
  return { folder, audit, segments, append, begin }
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

const bodiesIn = async (logs: SiblingLogs, chain: string, from = 0, limit = 9) =>
  (await logs.read(chain, from, limit)).map(({ body }) => body)
const bodies = (...all: number[]) => all.map((seq) => `{"seq":${seq}}`)

test('a log is read over its segments as they are by now, from any entry and as many as are wanted', async () => {
  const { folder, append, begin } = openWritten('node.1', 2)
  const logs = new SiblingLogs(() => [folder])
  expect(await bodiesIn(logs, 'node.1')).toEqual(bodies(0, 1))
  append()
  begin()
  expect(await logs.ends()).toEqual([{ chain: 'node.1', next: 3 }])
  for (let i = 0; i < 2; i += 1) append()
  expect(await bodiesIn(logs, 'node.1')).toEqual(bodies(0, 1, 2, 3, 4))
  expect(await bodiesIn(logs, 'node.1', 1, 3)).toEqual(bodies(1, 2, 3))
  expect(await bodiesIn(logs, 'node.1', 1, 0)).toEqual([])
  expect(await bodiesIn(logs, 'node.2')).toEqual([])
  expect(await logs.ends()).toEqual([{ chain: 'node.1', next: 5 }])
  expect(await logs.roots()).toEqual([])
})

test('a process without a log, or with one that has no entry, ends nowhere and tells nothing', async () => {
  const begun = openWritten('node.2', 0)
  loadKeys(begun.audit)
  const bare = newFolder()
  mkdirSync(join(bare, 'audit'))
  loadKeys(join(bare, 'audit'))
  const folders = [newFolder(), bare, begun.folder]
  const logs = new SiblingLogs(() => folders)
  expect(await logs.ends()).toEqual([])
  expect((await logs.keys()).map(({ chain }) => chain)).toEqual(['node.2'])
  expect(await logs.removals()).toEqual([])
  expect(await logs.checkpoint('node.2')).toBeNull()
  expect(await logs.checkpoint('node.3')).toBeNull()
})

test('of two folders that have a log of one name the first that was seen is read', async () => {
  const [one, two] = [openWritten('node.1', 1), openWritten('node.1', 3)]
  const logs = new SiblingLogs(() => [one.folder, two.folder])
  expect(await bodiesIn(logs, 'node.1')).toEqual(bodies(0))
  await logs.ends()
  expect(await bodiesIn(logs, 'node.1')).toEqual(bodies(0))
})

test('of each process its key is read, its newest checkpoint, and what retention took out of its log', async () => {
  const [one, keyless] = [openWritten('node.1', 1), openWritten('node.2', 1)]
  const keys = loadKeys(one.audit)
  const { pem: public_key } = keys
  const logs = new SiblingLogs(() => [one.folder, keyless.folder])
  expect(await logs.keys()).toEqual([{ chain: 'node.1', public_key }])

  const notes = Array.from({ length: 100 }, (_, i) => {
    const tree = { origin: 'gatehouse/audit/node.1', size: i + 1, root: hash }
    return signCheckpoint(tree, keys).note
  })
  for (const { audit } of [one, keyless])
    writeFileSync(join(audit, checkpointsFile), notes.map((note) => `${note}\n`).join(''))
  expect(await logs.checkpoint('node.1')).toBe(notes.at(-1))
  expect(await logs.checkpoint('node.2')).toBeNull()
  writeFileSync(join(one.audit, checkpointsFile), 'nothing of a checkpoint')
  expect(await logs.checkpoint('node.1')).toBeNull()

  const remove = (size: number, chain = 'node.1') =>
    addRemoval(one.audit, keys, {
      ...{ chain, size, head: hash, peaks: [hash], root: hash, from: 0, entry: 'aud-1' },
      ...{ removed_at: '', reason: 'age', segments: [], exported_to: [] },
    }).signed
  expect([await logs.removals(), removalIn(one.folder, 'node.1')]).toEqual([[], []])
  for (const size of [4, 8]) {
    const expected = { chain: 'node.1', ...remove(size), public_key }
    const found = await logs.removals()
    expect(found).toEqual([expected])
    expect(removalIn(one.folder, 'node.1')).toEqual([expected])
    // Signatures are checked once for as long as the files stay as they are.
    expect((await logs.removals())[0]).toBe(found[0])
  }
  expect(removalIn(one.folder, 'node.2')).toEqual([])
  expect(removalIn(keyless.folder, 'node.2')).toEqual([])
  rmSync(join(one.audit, publicKeyFile))
  expect([await logs.keys(), await logs.removals()]).toEqual([[], []])
})

test('a log that nobody writes any more is read anew when somebody changed it', async () => {
  const [before, after] = [openWritten('node.1', 2), openWritten('node.2', 3)]
  const logs = new IdleLogs(() => [before.folder])
  expect(await logs.takeForeign()).toBe(false)
  expect(await bodiesIn(logs, 'node.1')).toEqual(bodies(0, 1))
  cpSync(after.segments, before.segments, { recursive: true })
  expect(await logs.takeForeign()).toBe(true)
  expect(await bodiesIn(logs, 'node.2')).toEqual(bodies(0, 1, 2))
  expect(await bodiesIn(logs, 'node.1')).toEqual([])
  expect(await logs.ends()).toEqual([{ chain: 'node.2', next: 3 }])
})

test('a change in any log, and a log more, are seen where nobody writes them', async () => {
  const written = [openWritten('node.1', 1), openWritten('node.2', 1)]
  const folders = written.map(({ folder }) => folder)
  const logs = new IdleLogs(() => folders)
  await logs.takeForeign()
  for (const { append } of written) {
    append()
    expect([await logs.takeForeign(), await logs.takeForeign()]).toEqual([true, false])
  }
  folders.push(openWritten('node.3', 1).folder)
  expect([await logs.takeForeign(), await logs.takeForeign()]).toEqual([true, false])
})
