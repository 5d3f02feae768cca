import fs from 'node:fs'
import path from 'node:path'
import { crc32 } from 'node:zlib'
import { openQuickStore } from '@gatehouse/testkit/quick-store'
import { replacing } from '@gatehouse/testkit/replacing'
import { makeTemporaryFolder } from '@gatehouse/testkit/temporary-folder'
import { expect, onTestFinished, test } from 'vitest'
import { createLinker, emptyLog, genesis, type LogState } from '../domain/audit/chain.ts'
import { createTree, rootOf } from '../domain/audit/merkle.ts'
import type { CopiedEntry } from '../ports/audit-rows.ts'
import { hashing } from './hashing.ts'
import { loadKeys } from './keys.ts'
import { LogFiles } from './log-files.ts'
import { oldHeadFile } from './old-signed-head.ts'
import { isGenuine } from './seal-group.ts'
import { headFile } from './signed-head.ts'
import { takeOver } from './take-over.ts'
import { takeIn } from './take-stock.ts'
import { digestLog } from './verify-chain.ts'

// What becomes of a log whose entries lay in the database, by what was sealed over them.

const rows = (() => {
  const linker = createLinker(hashing)
  let head = genesis
  return Array.from({ length: 6 }, (_, seq): CopiedEntry => {
    const body = JSON.stringify({ id: `aud-${seq}`, seq })
    head = linker.link(head, seq, body)
    return { seq, hash: head, body }
  })
})()

const stateAt = (size: number, all = rows): LogState => {
  const [linker, tree] = [createLinker(hashing), createTree(hashing)]
  for (const { seq, body } of all.slice(0, size)) {
    linker.link(genesis, seq, body)
    tree.push(linker.leaf())
  }
  return { size, head: all[size - 1]?.hash ?? genesis, peaks: tree.peaks() }
}

/** A database with these entries, and what was sealed beside it. */
const openOld = async (all: readonly CopiedEntry[] = rows, isNetworked = false) => {
  const store = await openQuickStore()
  onTestFinished(() => store[Symbol.asyncDispose]())
  const directory = makeTemporaryFolder()
  const keys = loadKeys(directory)
  const files = new LogFiles(directory)
  onTestFinished(() => files[Symbol.dispose]())
  const dropped: string[] = []
  const copies = replacing(store.copies, {
    read: async (chain, from, limit) =>
      chain === 'main' ? all.filter(({ seq }) => seq >= from).slice(0, limit) : [],
    drop: async (chain) => void dropped.push(chain),
  })
  const storage = replacing(store, { copies, isNetworked })
  const sealed = (state: LogState, more: object = {}): string => {
    const head = { chain: 'main', count: 7, time: '', epoch: 2, alarm: null, baseline: null }
    const text = JSON.stringify({ ...head, ...state, ...more })
    return `${text}\nhmac-sha256:${keys.mac(`gatehouse-mark-v1\n${text}`).toString('base64')}\n`
  }
  const at = (name: string) => path.join(directory, name)
  return {
    ...{ directory, keys, files, dropped, at, meta: store.meta },
    /** Seals a state beside the database, with groups that this may not have got. */
    seal(state: LogState, more: object = {}, groups: readonly (readonly CopiedEntry[])[] = []) {
      const half = 1024 * 1024
      const bytes = Buffer.alloc(8_192 + 2 * half + 4_096)
      bytes.write(sealed(state, more))
      let end = 8_192
      for (const entries of groups) {
        const about = JSON.stringify([[{ key: 'k', at_ms: 1 }], [['bot', 2]], [['ses', 3]], 77])
        const text = [about, ...entries.map(({ hash, body }) => `${hash}${body}`)].join('\n')
        end = bytes.writeUInt32LE(Buffer.byteLength(text), end)
        end = bytes.writeUInt32LE(crc32(text), end)
        end += bytes.write(text, end)
      }
      fs.writeFileSync(at(oldHeadFile), bytes)
    },
    sealInDatabase: (state: LogState, more: object = {}) =>
      store.meta.set('audit.sealed.main', sealed(state, more)),
    take: () => takeOver({ files, storage, directory, chain: 'main', keys }),
    entries: () => [...files.entries(0)].flat(),
  }
}

const moved = (entries: number, head: string | null) => ({
  ...{ capability: 'audit.moved', actor: 'system', request_id: '', kind: 'act' },
  detail: { from: 'database', entries, head: head === null ? null : `sha256:${head}` },
})

test('a log that was sealed is moved as it was hashed, and goes on from what was sealed', async () => {
  const old = await openOld()
  const state = stateAt(6)
  old.seal(state, { vault: 'locked' })
  expect(await old.take()).toEqual({
    ...{ alarm: null, isSealed: true, entry: expect.objectContaining(moved(6, state.head)) },
    standing: { state, count: 7, epoch: 2, alarm: null, baseline: null, vault: 'locked' },
  })
  expect(old.entries()).toEqual(rows.map((row) => ({ ...row, seal: old.keys.seal(row.hash) })))
  const frames = [...old.files.frames()]
  expect(frames.map((frame) => isGenuine(old.keys, 'main', frame))).toEqual([true])
  expect(frames[0]?.note).toEqual({ stamps: [], agents: [], sessions: [], clockMs: 0, vault: null })
  expect(old.files.flaws('main')).toEqual([])
  const header = { format: 'gatehouse-log-v1', chain: 'main', first: 0, head: genesis }
  expect(old.files.headers(-1)).toMatchObject([
    { header: { ...header, root: rootOf(hashing, []) } },
  ])
  expect(old.dropped).toEqual(['main'])
  expect(fs.existsSync(old.at(oldHeadFile))).toBe(false)
  expect(fs.existsSync(old.at(`${oldHeadFile}.before-log-files`))).toBe(true)
})

test('nothing is moved where there is nothing, or where the log lies in files already', async () => {
  expect(await (await openOld([])).take()).toBeNull()
  const old = await openOld()
  fs.writeFileSync(old.at(headFile), '')
  expect([await old.take(), old.entries(), old.dropped]).toEqual([null, [], []])
})

test('a log without entries that was sealed goes on at its begin', async () => {
  const old = await openOld([])
  old.seal(emptyLog)
  expect(await old.take()).toMatchObject({
    ...{ alarm: null, isSealed: true, standing: { state: emptyLog }, entry: moved(0, genesis) },
  })
})

test('entries behind what was sealed are left out, and none before them', async () => {
  const old = await openOld()
  old.seal(stateAt(4))
  expect(await old.take()).toMatchObject({ alarm: null, standing: { state: stateAt(4) } })
  expect(old.entries().map(({ seq }) => seq)).toEqual([0, 1, 2, 3])
  const groups = await openOld(rows.slice(0, 2))
  groups.seal(stateAt(4), {}, [rows.slice(2)])
  expect(await groups.take()).toMatchObject({ alarm: null, standing: { state: stateAt(4) } })
  expect(groups.entries().map(({ seq }) => seq)).toEqual([0, 1, 2, 3])
  const none = await openOld()
  none.seal(emptyLog)
  expect([(await none.take())?.alarm, none.entries()]).toEqual([null, []])
})

test('of what was sealed beside the database and in it the longer one counts, of this log alone', async () => {
  for (const [beside, within, size] of [
    [4, 6, 6],
    [6, 4, 6],
    [null, 5, 5],
    [5, null, 5],
  ] as const) {
    const old = await openOld()
    if (beside !== null) old.seal(stateAt(beside))
    if (within !== null) await old.sealInDatabase(stateAt(within))
    expect(await old.take()).toMatchObject({ alarm: null, standing: { state: stateAt(size) } })
    expect(old.files.end).toBe(size)
  }
  const equal = await openOld()
  equal.seal(stateAt(6), { count: 8 })
  await equal.sealInDatabase(stateAt(6), { count: 9 })
  expect(await equal.take()).toMatchObject({ standing: { count: 8 } })
  const other = await openOld()
  await other.sealInDatabase(stateAt(6), { chain: 'other' })
  expect(await other.take()).toMatchObject({ isSealed: false })
})

test('entries that nothing was sealed over are taken in, under an alarm and as another tree', async () => {
  const old = await openOld()
  await old.meta.set('audit.sealed.main', 'nothing sealed')
  expect(await old.take()).toEqual({
    alarm: {
      ...{ kind: 'anchor_missing', seq: 5, id: 'aud-5' },
      detail: 'nothing was sealed over the entries in the database',
    },
    ...{ isSealed: false, entry: expect.objectContaining(moved(6, null)) },
    standing: {
      ...{ state: stateAt(6), count: 0, epoch: 1, alarm: null, baseline: null, vault: null },
    },
  })
  expect(old.dropped).toEqual(['main'])
})

test('copies that other nodes read stay in the database', async () => {
  const old = await openOld(rows, true)
  old.seal(stateAt(6))
  expect([(await old.take())?.alarm, old.dropped]).toEqual([null, []])
})

test('a move that was cut off begins anew', async () => {
  const old = await openOld()
  old.seal(stateAt(6))
  await old.take()
  old.seal(stateAt(6))
  expect(await old.take()).toMatchObject({ alarm: null, standing: { state: stateAt(6) } })
  expect(old.entries()).toHaveLength(6)
})

test('groups that the database did not get are written behind its entries, with what followed from them', async () => {
  const old = await openOld(rows.slice(0, 3))
  old.seal(stateAt(6), {}, [rows.slice(1, 2), rows.slice(2, 5), rows.slice(5)])
  expect(await old.take()).toMatchObject({ alarm: null, standing: { state: stateAt(6) } })
  const frames = [...old.files.frames()]
  expect(frames.map(({ entries }) => entries.map(({ seq }) => seq))).toEqual([
    [0, 1, 2],
    [3, 4],
    [5],
  ])
  expect(frames.every((frame) => isGenuine(old.keys, 'main', frame))).toBe(true)
  const note = { stamps: [{ key: 'k', at_ms: 1 }], agents: [['bot', 2]], clockMs: 77 }
  expect(frames.map((frame) => frame.note)).toMatchObject([{ clockMs: 0 }, note, note])
  // Behind a gap nothing is written: it is not known what was there.
  const gap = await openOld(rows.slice(0, 3))
  gap.seal(stateAt(6), {}, [rows.slice(4)])
  expect(await gap.take()).toMatchObject({
    alarm: { kind: 'truncated', seq: 3, id: 'aud-2', detail: '3 entries are gone from seq 3 on' },
  })
  expect(gap.entries()).toHaveLength(3)
})

test('what differs from what was sealed is a finding, and the log goes on from what was sealed', async () => {
  const state = stateAt(6)
  const foundIn = async (all: readonly CopiedEntry[], known = state, more: object = {}) => {
    const old = await openOld(all)
    old.seal(known, more)
    const taken = await old.take()
    expect(taken).toMatchObject({ isSealed: true, standing: { state: known, alarm: null } })
    return taken?.alarm
  }
  const changed = rows.map((row) =>
    row.seq === 2 ? { ...row, body: row.body.replace('aud-2', 'aud-x') } : row,
  )
  expect(await foundIn(changed)).toMatchObject({ kind: 'modified', seq: 2, id: 'aud-x' })
  expect(await foundIn([])).toMatchObject({ kind: 'truncated', seq: 0, id: null })
  expect(await foundIn(rows.filter(({ seq }) => seq !== 2))).toMatchObject({
    kind: 'missing',
    seq: 2,
  })
  const head = '0'.repeat(64)
  expect(await foundIn(rows, { ...state, head })).toMatchObject({
    ...{ kind: 'modified', seq: 0 },
    detail: 'entries 0 to 5 are not those that the signed head of the old log was made over',
  })
  expect(await foundIn(rows, { ...state, peaks: [head, head] })).toEqual({
    ...{ kind: 'modified', seq: 0, id: null, detail: 'the tree is not the one that was sealed' },
  })
  const alarm = { kind: 'inserted', seq: 1, id: null, detail: 'found before' }
  expect(await foundIn(rows, state, { alarm })).toEqual(alarm)
  expect(await foundIn(changed, state, { alarm })).toEqual(alarm)
})

test('entries that were acknowledged as damaged stay so, and those behind them are compared', async () => {
  const changed = rows.map((row) => (row.seq === 1 ? { ...row, body: '{}' } : row))
  const state = stateAt(6, changed)
  const baseline = { ...stateAt(3, changed), digest: 'as it was in the database' }
  const old = await openOld(changed)
  old.seal(state, { baseline })
  const taken = await old.take()
  const entries = () => [old.entries()]
  const { all: digest } = await digestLog({ entries, files: old.files }, 'main', 3)
  expect(taken).toMatchObject({
    alarm: null,
    standing: { baseline: { ...baseline, digest }, state },
  })
  const later = await openOld(changed.map((row) => (row.seq === 4 ? { ...row, body: '{}' } : row)))
  later.seal(state, { baseline })
  expect(await later.take()).toMatchObject({ alarm: { kind: 'modified', seq: 4 } })
})

test('entries between gaps are taken in under their numbers', async () => {
  const old = await openOld(rows.filter(({ seq }) => seq !== 2 && seq !== 3))
  expect(await old.take()).toMatchObject({ alarm: { kind: 'anchor_missing', seq: 5, id: 'aud-5' } })
  expect(old.entries().map(({ seq }) => seq)).toEqual([0, 1, 4, 5])
  expect([...old.files.frames()].map(({ first }) => first)).toEqual([0, 4])
  expect(takeIn(old.files).size).toBe(6)
})
