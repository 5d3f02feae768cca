import fs from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openBench } from '../../test/kit/log-bench.ts'
import { createLinker, emptyLog, type LogState, leafOf } from '../domain/audit/chain.ts'
import { createTree, rootOf } from '../domain/audit/merkle.ts'
import { checkpointsFile, openCheckpoints, originOf } from './checkpoints.ts'
import { encodeFrame, type LoggedEntry, lineOf, noteText } from './frame.ts'
import { hashing } from './hashing.ts'
import { keyFile, loadKeys } from './keys.ts'
import { LogFiles } from './log-files.ts'
import { type Alarm, headFile, openHeadFile, readSignedHead } from './signed-head.ts'
import { takeIn, takeStock } from './take-stock.ts'
import { draft, frameAt, writeEntries } from './testing.ts'

// What a start makes of the files of a log, of what is sealed beside them, and of where the two differ.

type Statement = { readonly vault?: string }

/** A stopped service with five entries, each a group of its own; what was sealed is known as it was after each of them. */
const openStopped = async (vaults: readonly Statement[] = []) => {
  const bench = await openBench()
  onTestFinished(() => bench[Symbol.asyncDispose]())
  const file = (name: string) => path.join(bench.directory, name)
  const heads = [fs.readFileSync(file(headFile))]
  for (let i = 0; i < 5; i += 1) {
    await bench.log.append(draft({ arguments: { path: `notes/${i}.md` } }), vaults[i])
    heads.push(fs.readFileSync(file(headFile)))
  }
  await bench.close()
  const { directory } = bench
  const head = () => {
    const keys = loadKeys(directory)
    return readSignedHead(directory, keys, keys) ?? expect.fail('there is no head')
  }
  const known = head()
  const state: LogState = { size: known.size, head: known.head, peaks: known.peaks }
  return {
    ...{ bench, directory, known, state, head },
    ids: bench.entries().map(({ body }) => (JSON.parse(body) as { id: string }).id),
    remove: (name: string) => fs.rmSync(file(name)),
    /** Puts the signed head back to what it was after so many entries. */
    putHeadBack: (entries: number) => fs.writeFileSync(file(headFile), heads[entries] ?? ''),
    cut(from: number) {
      using files = new LogFiles(directory)
      files.cut(from)
    },
  }
}

type Stopped = Awaited<ReturnType<typeof openStopped>>

const stockOf = async (directory: string, start = emptyLog) => {
  const keys = loadKeys(directory)
  using checkpoints = openCheckpoints(directory, 'main', keys, null)
  using files = new LogFiles(directory)
  using head = openHeadFile(directory, keys)
  const [aside, warned]: [object[], unknown[][]] = [[], []]
  const stock = await takeStock({
    ...{ files, directory, start, chain: 'main', keys, checkpoints, head },
    setAside: (rows) => void aside.push(...rows),
    log: { warn: (...given) => void warned.push(given) },
  })
  return { ...stock, aside, warned, end: files.end }
}

/** Writes a frame behind the last one, as somebody does who has no key. */
const forge = ({ bench }: Stopped): void => {
  const [last, seq] = [bench.entries().at(-1) as LoggedEntry, bench.entries().length]
  const body = JSON.stringify({ ...(JSON.parse(last.body) as object), seq, id: 'aud-forged' })
  const hash = createLinker(hashing).link(last.hash, seq, body)
  const note = noteText({ stamps: [], agents: [], sessions: [], clockMs: 0, vault: null })
  const frame = encodeFrame(seq, 1, note + lineOf(hash, last.seal, body), Buffer.alloc(32))
  const { file, at, bytes } = frameAt(bench.directory, last.seq)
  write(file, frame, at + bytes)
}

const write = (file: string, bytes: Buffer, at: number): void => {
  fs.chmodSync(file, 0o600)
  const fd = fs.openSync(file, 'r+')
  fs.writeSync(fd, bytes, 0, bytes.length, at)
  fs.closeSync(fd)
}

/** Changes a letter of the entry, and nothing else. */
const damage = ({ directory }: Stopped, seq: number): void => {
  const { file } = frameAt(directory, seq)
  write(file, Buffer.from('X'), fs.readFileSync(file).indexOf(`notes/${seq}.md`))
}

const forged: unknown[] = [expect.objectContaining({ id: 'aud-forged' })]
const nothing = { aside: [], warned: [] }

test('a log that is as it was sealed is taken as it is', async () => {
  const { directory, known, state } = await openStopped()
  expect(await stockOf(directory)).toEqual({
    ...nothing,
    standing: { state, count: known.count, epoch: 0, alarm: null, baseline: null, vault: null },
    ...{ alarm: null, isSealed: true, end: 5 },
  })
})

test('groups behind the signed head that this service sealed are taken in, with what they say of the vault', async () => {
  const stopped = await openStopped([{}, { vault: 'first' }, {}, { vault: 'second' }, {}])
  for (const [entries, vault] of [
    [1, 'second'],
    [2, 'second'],
    [4, 'second'],
    [5, 'second'],
  ] as const) {
    stopped.putHeadBack(entries)
    const { count } = stopped.head()
    expect(await stockOf(stopped.directory)).toMatchObject({
      ...nothing,
      standing: { state: stopped.state, count, vault, alarm: null },
      ...{ alarm: null, isSealed: true },
    })
  }
  stopped.putHeadBack(2)
  stopped.cut(3)
  stopped.remove(checkpointsFile)
  expect(await stockOf(stopped.directory)).toMatchObject({
    ...{ alarm: null, standing: { vault: 'first', state: { size: 3 } } },
  })
})

test('an entry of somebody else behind the end is taken out, and the finding is sealed before it is gone', async () => {
  const stopped = await openStopped()
  const { directory, known, state, head } = stopped
  forge(stopped)
  const alarm = {
    ...{ kind: 'inserted', seq: 5, id: 'aud-forged' },
    detail: expect.stringContaining('entries from seq 5 on are not of this service') as string,
  }
  const count = known.count + 1
  expect(await stockOf(directory)).toEqual({
    ...{ aside: forged, warned: [], end: 5, alarm, isSealed: true },
    standing: { state, count, epoch: 0, alarm: null, baseline: null, vault: null },
  })
  expect(head()).toEqual({ ...known, count, alarm: head().alarm })
  expect(head().alarm).toEqual(alarm)
  // A finding that was there before stays the one that is sealed.
  forge(stopped)
  const again = await stockOf(directory)
  expect([again.end, again.alarm, again.standing.alarm]).toEqual([5, alarm, alarm])
  forge(stopped)
  const before: Alarm = { kind: 'modified', seq: 1, id: null, detail: 'found before' }
  {
    using file = openHeadFile(directory, loadKeys(directory))
    file.writeSynced({ ...head(), count: head().count + 1, alarm: before })
  }
  expect((await stockOf(directory)).standing.alarm).toEqual(before)
  expect(head()).toMatchObject({ count: known.count + 4, alarm: before })
})

test('a last write that was torn is moved out and told of, and is no finding', async () => {
  const stopped = await openStopped()
  const { directory, ids } = stopped
  const { file, at, bytes } = frameAt(directory, 4)
  write(file, Buffer.alloc(16), at + bytes - 16)
  stopped.putHeadBack(4)
  stopped.remove(checkpointsFile)
  const { count } = stopped.head()
  expect(await stockOf(directory)).toMatchObject({
    ...{ alarm: null, isSealed: true, end: 4, standing: { count, state: { size: 4 } } },
    aside: [{ seq: 4 }],
    warned: [
      [
        { seq: 4, id: ids[4] },
        expect.stringContaining('the last write of the audit log was not finished'),
      ],
    ],
  })
  expect(stopped.head()).toMatchObject({ count, alarm: null })
})

test('damage before a group of this service stays in the log, under an alarm, and what follows that group goes', async () => {
  const stopped = await openStopped()
  const { directory, state, ids } = stopped
  damage(stopped, 1)
  stopped.putHeadBack(1)
  const detail = 'what lies behind the signed head is damaged'
  const found = await stockOf(directory)
  expect(found).toMatchObject({
    ...{ ...nothing, end: 5, isSealed: true },
    alarm: { kind: 'modified', seq: 1, id: ids[1], detail },
    standing: { state: { size: 5, head: state.head } },
  })
  expect(found.standing.state.peaks).not.toEqual(state.peaks)
  forge(stopped)
  expect(await stockOf(directory)).toMatchObject({
    ...{ end: 5, aside: forged, alarm: { kind: 'modified', seq: 1 }, standing: found.standing },
  })
})

test('entries that the signed head names and the log lacks are a finding, and their numbers are not used again', async () => {
  const stopped = await openStopped()
  const { directory, known, state, ids } = stopped
  const standing = { state, count: known.count, epoch: 0 }
  stopped.cut(3)
  const detail = '2 entries are gone from seq 3 on'
  expect(await stockOf(directory)).toMatchObject({
    ...{ ...nothing, standing, isSealed: true },
    alarm: { kind: 'truncated', seq: 3, id: ids[2], detail },
  })
  stopped.cut(0)
  expect(await stockOf(directory)).toMatchObject({
    ...{ standing, alarm: { kind: 'truncated', seq: 0, id: null } },
  })
})

test('a last entry that is not the one that was sealed is a finding', async () => {
  const stopped = await openStopped()
  const { directory, bench, ids, state } = stopped
  const detail = 'the log does not hold the entry that the signed head was made over'
  bench.tamper((entries) => {
    entries[4] = { ...(entries[4] as LoggedEntry), hash: '0'.repeat(64) }
  })
  expect(await stockOf(directory)).toMatchObject({
    ...{ alarm: { kind: 'modified', seq: 4, id: ids[4], detail }, standing: { state } },
  })
  bench.tamper((entries) => {
    entries[4] = { ...(entries[4] as LoggedEntry), seq: 5 }
  })
  expect((await stockOf(directory)).alarm).toEqual({ kind: 'modified', seq: 4, id: null, detail })
})

test('a log that was put back together with its head is found by a checkpoint, and goes on as another tree', async () => {
  const stopped = await openStopped()
  const { directory, ids } = stopped
  stopped.putHeadBack(2)
  stopped.cut(2)
  const { count } = stopped.head()
  expect(await stockOf(directory)).toMatchObject({
    ...{ ...nothing, isSealed: true, standing: { count, epoch: 1, state: { size: 2 } } },
    alarm: {
      ...{ kind: 'truncated', seq: 2, id: ids[1] },
      detail: '3 entries are gone that checkpoint 5 was made over',
    },
  })
  stopped.putHeadBack(0)
  stopped.cut(0)
  expect(await stockOf(directory)).toMatchObject({
    ...{ standing: { epoch: 1, state: emptyLog }, alarm: { kind: 'truncated', seq: 0, id: null } },
  })
})

test('a log of another name is refused', async () => {
  await using bench = await openBench({ chain: 'other' })
  await bench.close()
  await expect(stockOf(bench.directory)).rejects.toMatchObject({
    type: 'InvalidConfiguration',
    message: expect.stringContaining(
      `${bench.directory}: this is the audit log of other, but node-id beside it says main`,
    ) as string,
    recovery: [{ action: 'restore the one that is wrong', description: expect.any(String) }],
  })
})

const unsealed = { count: 0, alarm: null, baseline: null, vault: null }

test('a first start begins where the log begins, with nothing sealed and no finding', async () => {
  const { state, bench } = await openStopped()
  const empty = path.join(bench.directory, 'empty')
  fs.mkdirSync(empty)
  for (const start of [emptyLog, state])
    expect(await stockOf(empty, start)).toEqual({
      ...{ ...nothing, alarm: null, isSealed: false, end: 0 },
      standing: { ...unsealed, state: start, epoch: 0 },
    })
})

test('without its signed head a log is under an alarm, and what nobody sealed is taken out of it', async () => {
  const stopped = await openStopped()
  const { directory, state, ids } = stopped
  forge(stopped)
  stopped.remove(headFile)
  const detail = 'there is no signed head beside the log'
  const expected = {
    ...{ warned: [], end: 5, isSealed: false },
    alarm: { kind: 'anchor_missing', seq: 4, id: ids[4], detail },
    standing: { ...unsealed, state, epoch: 0 },
  }
  expect(await stockOf(directory)).toEqual({ ...expected, aside: forged })
  expect(await stockOf(directory)).toEqual({ ...expected, aside: [] })
  // The newest tree that was signed goes on.
  {
    const keys = loadKeys(directory)
    using checkpoints = openCheckpoints(directory, 'main', keys, null)
    checkpoints.add(originOf('main', 1), 5, rootOf(hashing, state.peaks))
  }
  const { standing, alarm } = await stockOf(directory)
  expect([standing.epoch, alarm]).toEqual([1, expected.alarm])
})

test('without its signed head a damaged log is told by its checkpoints, and goes on as another tree', async () => {
  const stopped = await openStopped()
  const { directory, ids } = stopped
  damage(stopped, 1)
  stopped.remove(headFile)
  expect(await stockOf(directory)).toMatchObject({
    ...{ alarm: { kind: 'modified', seq: 1, id: ids[1] }, standing: { epoch: 1 } },
  })
  stopped.cut(1)
  expect(await stockOf(directory)).toMatchObject({
    alarm: { kind: 'truncated', seq: 1, id: ids[0], detail: '4 entries are gone from seq 1 on' },
    standing: { epoch: 1, state: { size: 1 } },
  })
  stopped.cut(0)
  expect(await stockOf(directory)).toMatchObject({
    ...{ alarm: { kind: 'truncated', seq: 0, id: null }, isSealed: false },
    standing: { epoch: 1, state: emptyLog },
  })
})

test('without its signed head a log is compared with each of its checkpoints, and each entry with its seal', async () => {
  const stopped = await openStopped()
  const { directory, bench } = stopped
  bench.tamper((entries) => {
    entries[2] = { ...(entries[2] as LoggedEntry), seal: '0'.repeat(16) }
  })
  stopped.remove(headFile)
  const seal = 'the seal of the entry is not of this service'
  expect((await stockOf(directory)).alarm).toMatchObject({ kind: 'modified', seq: 2, detail: seal })
  {
    using checkpoints = openCheckpoints(directory, 'main', loadKeys(directory), null)
    checkpoints.add(originOf('main', 0), 2, '0'.repeat(64))
  }
  const detail = 'entries 0 to 1 are not those that checkpoint 2 was made over'
  expect((await stockOf(directory)).alarm).toMatchObject({ kind: 'modified', seq: 0, detail })
})

test('without its signed head a log is read beyond its last checkpoint, too', async () => {
  const stopped = await openStopped()
  const { directory, bench, ids } = stopped
  await bench.reopen()
  await bench.log.append(draft({ arguments: { path: 'notes/5.md' } }))
  const checkpoints = fs.readFileSync(path.join(directory, checkpointsFile))
  await bench.close()
  fs.writeFileSync(path.join(directory, checkpointsFile), checkpoints)
  damage(stopped, 5)
  stopped.remove(headFile)
  expect(ids).toHaveLength(5)
  expect(await stockOf(directory)).toMatchObject({ alarm: { kind: 'modified', seq: 5 } })
})

test('without head and checkpoints a log of another key is under an alarm as a whole', async () => {
  const stopped = await openStopped()
  const { directory, state, ids } = stopped
  for (const name of [headFile, checkpointsFile, keyFile]) stopped.remove(name)
  expect(await stockOf(directory)).toMatchObject({
    ...{ ...nothing, end: 5, isSealed: false, standing: { state, epoch: 0 } },
    alarm: { kind: 'anchor_missing', seq: 4, id: ids[4] },
  })
  // Nor are the seals of another key a finding of their own where no checkpoint is of this one.
  stopped.cut(0)
  expect(await stockOf(directory)).toMatchObject({ alarm: null, standing: { state: emptyLog } })
})

test('every entry is taken in: one that is gone keeps its place, one that is there twice counts once', async () => {
  const { directory, state, bench } = await openStopped()
  const entries = bench.entries()
  const stateWith = (...all: readonly (LoggedEntry | undefined)[]): LogState => {
    writeEntries(directory, all as LoggedEntry[])
    using files = new LogFiles(directory)
    return takeIn(files)
  }
  const [a, b, c, d, e] = entries as [
    LoggedEntry,
    LoggedEntry,
    LoggedEntry,
    LoggedEntry,
    LoggedEntry,
  ]
  expect(stateWith(a, b, c, d, e)).toEqual(state)
  expect(stateWith(a, b, b, c, c, d, e)).toEqual(state)
  const linker = createLinker(hashing)
  const tree = createTree(hashing, emptyLog)
  for (const { seq, body } of [a, b, { seq: 2, body: '' }, { seq: 3, body: '' }, e])
    tree.push(leafOf(linker, seq, body))
  expect(stateWith(a, b, e)).toEqual({ size: 5, head: e.hash, peaks: tree.peaks() })
  expect(stateWith(a, b, c, d, { ...e, hash: 'g'.repeat(64) }).head).toBe(d.hash)
  expect(stateWith(a, b, c, d, e).head).toBe(e.hash)

  const start = stateWith(a, b)
  writeEntries(directory, entries)
  using files = new LogFiles(directory)
  expect(takeIn(files, start)).toEqual(state)
})
