import { createHash, createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { createLinker, emptyLog, type LogState } from '../domain/audit/chain.ts'
import { createTree, rootOf } from '../domain/audit/merkle.ts'
import type { LoggedEntry } from './frame.ts'
import { hashing } from './hashing.ts'
import type { Sealer } from './keys.ts'
import {
  type Anchor,
  type ChainFiles,
  cutOff,
  digestLog,
  peakAnchors,
  verifyChain,
} from './verify-chain.ts'

const keyed = (text: string) => createHmac('sha256', 'key').update(text).digest('hex')
const sealer = { seal: (hash: string) => keyed(hash).slice(0, 16) } as unknown as Sealer

/** A sound chain of so many entries; `change` says what another one has in its bodies. */
const chainOf = (count: number, change: (seq: number) => string = () => '') => {
  const linker = createLinker(hashing)
  const tree = createTree(hashing)
  const states: LogState[] = [emptyLog]
  const leaves: string[] = []
  let head = emptyLog.head
  const all: LoggedEntry[] = Array.from({ length: count }, (_, seq) => {
    const body = `{"id":"e${seq}","seq":${seq},"said":"${change(seq)}"}`
    head = linker.link(head, seq, body)
    leaves.push(linker.leaf())
    tree.push(linker.leaf())
    states.push({ size: seq + 1, head, peaks: tree.peaks() })
    return { seq, body, hash: head, seal: sealer.seal(head) }
  })
  const state = (size: number) => states[size] ?? expect.fail('no such state')
  return { all, state, leaves }
}

const groupsOf = (all: readonly LoggedEntry[], size = 4) => {
  const asked: number[] = []
  const entries = function* (_chain: string, from: number) {
    asked.push(from)
    const rest = all.filter(({ seq }) => seq >= from)
    for (let at = 0; at < rest.length; at += size) yield rest.slice(at, at + size)
  }
  return { entries, asked }
}

const sound = chainOf(20)
const plain = { chain: 'main', from: emptyLog, tree: true, anchors: [] }
const anchor = (size: number, of: Partial<Anchor> = {}): Anchor => ({
  ...{ size, root: rootOf(hashing, sound.state(size).peaks), head: sound.state(size).head },
  source: `checkpoint ${size}`,
  ...of,
})
const verify = (
  all: readonly LoggedEntry[],
  more: Partial<Parameters<typeof verifyChain>[0]> = {},
) => verifyChain({ ...plain, entries: groupsOf(all).entries, ...more })

test('a sound chain is sound from its beginning and from any state, whatever its groups', async () => {
  for (const from of [0, 1, 7, 20]) {
    const found = await verify(sound.all, { from: sound.state(from), through: 20 })
    expect(found).toEqual({ fault: null, state: sound.state(20) })
  }
  const { leaves } = await verify(sound.all, { leaves: true })
  expect(Buffer.from(leaves ?? []).toString('hex')).toBe(sound.leaves.join(''))
  expect((await verify([])).state).toEqual(emptyLog)
})

test('more leaves than there was room for are all there', async () => {
  const long = chainOf(2_100)
  const found = await verify(long.all, { leaves: true })
  expect(Buffer.from(found.leaves ?? []).toString('hex')).toBe(long.leaves.join(''))
})

test('a walk goes as far as it is asked to, and wants all that is expected', async () => {
  expect((await verify(sound.all, { through: 6 })).state).toEqual(sound.state(6))
  const short = sound.all.slice(0, 18)
  const gone = { kind: 'truncated', seq: 18, id: 'e17' }
  for (const more of [{ through: 19 }, { atLeast: 19 }, { anchors: [anchor(19)] }])
    expect((await verify(short, more)).fault).toEqual({
      ...{ ...gone, detail: '1 entry is gone from seq 18 on' },
    })
  expect((await verify(short, { through: 20 })).fault?.detail).toBe(
    '2 entries are gone from seq 18 on',
  )
  expect((await verify(sound.all, { atLeast: 18 })).fault).toBeNull()
  // Nothing was walked: the entry before is looked up.
  const from = sound.state(18)
  expect((await verify(short, { from, through: 20 })).fault).toMatchObject(gone)
  expect((await verify([], { through: 2 })).fault).toMatchObject({ seq: 0, id: null })
  expect(cutOff(3, 5, undefined)).toMatchObject({ kind: 'truncated', seq: 3, id: null })
})

test('anchors are compared by head and by root, in their order, as far as there is a tree', async () => {
  const anchors = [anchor(12), anchor(4), anchor(20), anchor(12)]
  expect((await verify(sound.all, { anchors })).fault).toBeNull()
  const other = { root: 'f'.repeat(64) }
  const wrong = (size: number, of: Partial<Anchor>) => [anchor(4), anchor(size, of), anchor(16)]
  for (const of of [other, { head: 'f'.repeat(64) }])
    expect((await verify(sound.all, { anchors: wrong(9, of) })).fault).toEqual({
      kind: 'modified',
      seq: 4,
      id: 'e4',
      detail: 'entries 4 to 8 are not those that checkpoint 9 was made over',
    })
  // However they are given: one that is passed over would be compared with nothing.
  const unsorted = [anchor(12), anchor(4, other), anchor(20)]
  expect((await verify(sound.all, { anchors: unsorted })).fault).toMatchObject({
    ...{ seq: 0, detail: expect.stringContaining('checkpoint 4 ') as string },
  })
  const withoutTree = { tree: false, anchors: wrong(9, other) }
  expect((await verify(sound.all, withoutTree)).fault).toBeNull()
  const { root } = anchor(9)
  const rootOnly: Anchor = { size: 9, root: 'f'.repeat(64), source: 'a root' }
  expect((await verify(sound.all, { tree: false, anchors: [rootOnly] })).fault).toBeNull()
  expect((await verify(sound.all, { anchors: [rootOnly] })).fault).not.toBeNull()
  const right = { ...rootOnly, root: root ?? '' }
  expect((await verify(sound.all, { anchors: [right] })).fault).toBeNull()
  const { head = '' } = anchor(9)
  const headOnly: Anchor = { size: 9, head, source: 'a head' }
  expect((await verify(sound.all, { anchors: [headOnly] })).fault).toBeNull()
  // What lies before the start was compared before, and hides nothing that lies behind it.
  const from = sound.state(9)
  expect((await verify(sound.all, { from, anchors: wrong(9, other) })).fault).toBeNull()
  const behind = { from, anchors: [anchor(4), anchor(12, other)] }
  expect((await verify(sound.all, behind)).fault).toMatchObject({ seq: 9 })
})

test('of entries that somebody recomputed the first one without our seal is named', async () => {
  const forged = chainOf(20, (seq) => (seq < 6 ? '' : 'forged'))
  const own = sound.all.map(({ seal }) => seal)
  const unsealed = forged.all.map((entry, seq) => ({ ...entry, seal: own[seq] ?? '' }))
  expect((await verify(unsealed, { sealer })).fault).toEqual({
    kind: 'modified',
    seq: 6,
    id: 'e6',
    detail: 'the seal of the entry is not of this service',
  })
  expect((await verify(unsealed)).fault).toBeNull()
  const copies = forged.all.map((entry) => ({ ...entry, seal: '' }))
  expect((await verify(copies, { sealer })).fault).toBeNull()
  const anchors = [anchor(4), anchor(12)]
  expect((await verify(copies, { anchors })).fault).toMatchObject({ seq: 4, id: 'e4' })
  expect((await verify(copies, { anchors, sealer })).fault).toMatchObject({ seq: 4, id: 'e4' })
  const some = copies.map((entry, seq) => (seq < 6 ? (sound.all[seq] ?? entry) : entry))
  expect((await verify(some, { anchors, sealer })).fault).toMatchObject({
    ...{ kind: 'modified', seq: 6, id: 'e6' },
  })
  // A seal behind the checkpoint that differs says nothing of what lies before it.
  const late = sound.all.map((entry, seq) => (seq === 14 ? { ...entry, seal: 'x' } : entry))
  const differing = [anchor(4), anchor(12, { root: 'f'.repeat(64) })]
  expect((await verify(late, { anchors: differing, sealer })).fault).toMatchObject({ seq: 4 })
})

test('a changed entry is named, and the state is the one before it', async () => {
  const changed = sound.all.map((entry, seq) =>
    seq === 9 ? { ...entry, body: entry.body.replace('said', 'sayd') } : entry,
  )
  const { fault, state } = await verify(changed, { sealer, anchors: [anchor(9), anchor(20)] })
  expect(fault).toMatchObject({ kind: 'modified', seq: 9, id: 'e9' })
  expect(state.size).toBeLessThanOrEqual(9)
})

test('damage that was acknowledged is passed over only while it is the same', async () => {
  const changed = sound.all.map((entry, seq) => (seq === 3 ? { ...entry, body: '{}' } : entry))
  const { entries } = groupsOf(changed)
  const { all: digest } = await digestLog({ entries }, 'main', 5)
  const said = changed.slice(0, 5).map(({ seq, hash, body }) => `${seq} ${hash} ${body}\n`)
  expect(digest).toBe(createHash('sha256').update(said.join('')).digest('hex'))
  const baseline = { ...sound.state(5), digest }
  expect((await verify(changed, { baseline })).fault).toBeNull()
  expect((await verify(changed)).fault).toMatchObject({ seq: 3 })
  const again = changed.map((entry, seq) => (seq === 4 ? { ...entry, body: '[]' } : entry))
  expect((await verify(again, { baseline })).fault).toMatchObject({ seq: 3 })
  // Who begins behind it needs none.
  const { entries: counted, asked } = groupsOf(changed)
  await verifyChain({ ...plain, entries: counted, from: sound.state(5), baseline })
  expect(asked).toEqual([5])
})

test('what lies between acknowledged entries is part of what was acknowledged', async () => {
  const { entries } = groupsOf(sound.all)
  const digest = (...flaws: readonly ReturnType<typeof flaw>[]) =>
    digestLog({ entries, files: filesOf(...flaws).files }, 'main', 5)
  const plainly = await digestLog({ entries }, 'main', 5)
  expect(plainly.all).toBe(plainly.entries)
  expect(await digest()).toEqual(plainly)
  expect(await digest(flaw(5))).toEqual(plainly)
  const first = await digest(flaw(4))
  expect(first.all).not.toBe(plainly.all)
  // An export has nothing between entries.
  expect(first.entries).toBe(plainly.entries)
  for (const more of [{ at: 78 }, { what: 'others' }, { file: '/a/b/1.log' }])
    expect((await digest(flaw(4, more))).all).not.toBe(first.all)
})

const flaw = (seq: number, more: object = {}) => ({
  ...{ file: '/a/b/0.log', at: 77, seq, what: 'bytes belong to no frame', ...more },
})
const filesOf = (...flaws: readonly ReturnType<typeof flaw>[]) => {
  const asked: unknown[] = []
  const files: ChainFiles = {
    flaws: (...args) => {
      asked.push(args)
      return flaws
    },
    headers: () => [],
  }
  return { files, asked }
}

test('what lies beside the entries is a fault too, named with its file and the entry there', async () => {
  const { files, asked } = filesOf(flaw(6))
  expect((await verify(sound.all, { files, through: 20 })).fault).toEqual({
    kind: 'modified',
    seq: 6,
    id: 'e6',
    detail: '0.log, byte 77: bytes belong to no frame',
  })
  await verify(sound.all, { files, from: sound.state(4), atLeast: 19 })
  await verify(sound.all, { files })
  expect(asked).toEqual([
    ['main', 0, 20],
    ['main', 4, 19],
    ['main', 0, Number.POSITIVE_INFINITY],
  ])
  expect((await verify(sound.all, { files: filesOf(flaw(99)).files })).fault).toMatchObject({
    ...{ seq: 99, id: null },
  })
})

test('of two findings the first one counts, and of a frame the entry in it', async () => {
  const changed = sound.all.map((entry, seq) => (seq === 9 ? { ...entry, body: '{}' } : entry))
  const kinds = async (...flaws: readonly ReturnType<typeof flaw>[]) => {
    const { files, asked } = filesOf(...flaws)
    const { fault } = await verify(changed, { files })
    expect(asked).toEqual([['main', 0, 9]])
    return fault?.detail.includes('byte 77') ? fault.seq : `entry ${fault?.seq}`
  }
  expect(await kinds(flaw(6))).toBe(6)
  expect(await kinds(flaw(8, { through: 9 }))).toBe(8)
  expect(await kinds(flaw(8, { through: 10 }))).toBe('entry 9')
  expect(await kinds(flaw(8, { through: 10 }), flaw(8, { through: 9 }))).toBe(8)
})

test('headers of segments are anchors, as far as the walk goes', async () => {
  const begins = (first: number, head: string): ReturnType<ChainFiles['headers']>[number] => ({
    file: '/a/8.log',
    header: { format: 'gatehouse-log-v1', chain: 'main', first, head, root: '' },
  })
  const filesWith = (size: number, head: string): ChainFiles => ({
    flaws: () => [],
    headers: (from) => (from < size ? [begins(size, head)] : []),
  })
  const tree = false
  const right = filesWith(8, sound.state(8).head)
  expect((await verify(sound.all, { files: right, tree })).fault).toBeNull()
  const wrong = filesWith(8, 'f'.repeat(64))
  expect((await verify(sound.all, { files: wrong, tree, through: 8 })).fault).toMatchObject({
    seq: 0,
    detail: expect.stringContaining('the header of 8.log') as string,
  })
  for (const more of [{ through: 7 }, { atLeast: 7 }, { from: sound.state(8) }])
    expect((await verify(sound.all, { files: wrong, tree, ...more })).fault).toBeNull()
})

test('a walk goes on from the parts that others found sound', async () => {
  const { entries, asked } = groupsOf(sound.all)
  const handed: unknown[] = []
  const found = await verifyChain({
    ...{ ...plain, entries, anchors: [anchor(20)] },
    passParts: async ({ start, ends, anchors }) => {
      handed.push(start, ends, anchors)
      return sound.state(16)
    },
  })
  expect(found).toEqual({ fault: null, state: sound.state(20) })
  expect([handed, asked]).toEqual([[emptyLog, [], [anchor(20)]], [16]])
})

test('a long walk lets others work in between, and ends when it is told to', async () => {
  const long = chainOf(1_100)
  const ending = new AbortController()
  let given = 0
  const entries = function* () {
    for (let at = 0; at < long.all.length; at += 100) {
      given += 1
      yield long.all.slice(at, at + 100)
    }
  }
  setImmediate(() => ending.abort(new Error('enough')))
  const walking = verifyChain({ ...plain, entries, signal: ending.signal })
  await expect(walking).rejects.toThrow('enough')
  expect(given).toBe(6)
})

test('the peaks of a state give the roots of smaller trees', () => {
  for (const size of [1, 2, 7, 12, 16, 19]) {
    const anchors = peakAnchors(sound.state(size))
    expect(anchors.at(-1)?.size).toBe(size)
    for (const one of anchors)
      expect(one).toEqual({
        ...{ size: one.size, source: 'the signed head' },
        root: rootOf(hashing, sound.state(one.size).peaks),
      })
  }
  expect(peakAnchors(sound.state(19)).map((one) => one.size)).toEqual([16, 18, 19])
  expect(peakAnchors(emptyLog)).toEqual([])
})
