import { expect, test } from 'vitest'
import { emptyLog, type LogState } from '../domain/audit/chain.ts'
import { createTree } from '../domain/audit/merkle.ts'
import { hashing } from './hashing.ts'
import { type PartVerifier, passSoundParts } from './sound-parts.ts'
import type { Anchor, ChainQuestion, Found } from './verify-chain.ts'

// Parts of a log that helpers verify: what each is asked, and up to where their answers are believed.

const leafAt = (seq: number): string => (seq + 1).toString(16).padStart(64, '0')

/** State after so many entries, with the root over them. */
const treeAt = (size: number) => {
  const tree = createTree(hashing)
  for (let seq = 0; seq < size; seq += 1) tree.push(leafAt(seq))
  return { root: tree.root(), peaks: tree.peaks() }
}
const stateAt = (size: number): LogState => ({
  ...{ size, head: `head of ${size}`, peaks: treeAt(size).peaks },
})
const endsAt = (...sizes: number[]): Anchor[] =>
  sizes.map((size) => ({ size, head: `head of ${size}`, source: 'a header' }))

const leavesOf = (from: number, to: number): Uint8Array =>
  Buffer.from(Array.from({ length: to - from }, (_, i) => leafAt(from + i)).join(''), 'hex')

/** Answer of a helper that finds its part sound. */
const soundly = ({ from, through = 0, leaves }: ChainQuestion): Found => ({
  fault: null,
  state: { size: through, head: `head of ${through}`, peaks: [] },
  // As a view into something larger, as messages of threads have them.
  ...(leaves
    ? {
        leaves: new Uint8Array(
          Buffer.concat([Buffer.alloc(8), leavesOf(from.size, through)]),
        ).subarray(8),
      }
    : {}),
})

type Asked = {
  readonly ends?: readonly Anchor[]
  readonly anchors?: readonly Anchor[]
  readonly tree?: boolean
  readonly start?: LogState
  readonly helpers?: number
  readonly answer?: (part: ChainQuestion) => Found | Promise<Found>
}

const passed = async ({
  ends = endsAt(2, 5, 6),
  anchors = [],
  tree = true,
  start = emptyLog,
  helpers = 2,
  answer = soundly,
}: Asked) => {
  const parts: ChainQuestion[] = []
  const helper: PartVerifier = async (part) => {
    parts.push(part)
    return await answer(part)
  }
  const question = { chain: 'main', from: emptyLog, tree, anchors: [] }
  const state = await passSoundParts(
    { question, start, ends, anchors },
    Array.from({ length: helpers }, () => helper),
  )
  return { state, parts }
}

const anchorsAt = (...sizes: number[]): Anchor[] =>
  sizes.map((size) => ({ size, root: treeAt(size).root, source: `checkpoint ${size}` }))

test('each part goes from one segment to the next, and has the anchors within', async () => {
  const anchors = anchorsAt(7, 5, 3, 2, 1, 6)
  const { state, parts } = await passed({ anchors })
  const [seventh, fifth, third, second, first, sixth] = anchors
  const part = { chain: 'main', tree: false, leaves: true }
  const from = (size: number) => ({ size, head: `head of ${size}`, peaks: [] })
  expect(parts).toEqual([
    { ...part, from: emptyLog, through: 2, anchors: [second, first] },
    { ...part, from: from(2), through: 5, anchors: [fifth, third] },
    { ...part, from: from(5), through: 6, anchors: [sixth] },
  ])
  expect(state).toEqual(stateAt(6))
  expect(seventh?.size).toBe(7)
  const headless = await passed({ ends: [{ size: 2, source: 'a header' }, ...endsAt(5)] })
  expect(headless.parts[1]?.from).toEqual({ size: 2, head: '', peaks: [] })
})

test('without roots no leaves are asked for, and the frontier stays that of the start', async () => {
  const start = { ...stateAt(1), peaks: ['a peak'] }
  const { state, parts } = await passed({ tree: false, start, anchors: anchorsAt(1, 2) })
  expect(parts.map(({ leaves, from }) => [leaves, from.size])).toEqual([
    [false, 1],
    [false, 2],
    [false, 5],
  ])
  expect(parts[0]?.anchors.map(({ size }) => size)).toEqual([2])
  expect(state).toEqual({ ...stateAt(6), peaks: ['a peak'] })
})

test('one helper, or one part, is no help', async () => {
  for (const asked of [{ helpers: 1 }, { helpers: 0 }, { ends: endsAt(6) }, { ends: [] }])
    expect(await passed(asked)).toEqual({ state: emptyLog, parts: [] })
  expect((await passed({ ends: endsAt(2, 6), helpers: 2 })).state).toEqual(stateAt(6))
})

const fault = { kind: 'modified', seq: 3, id: null, detail: 'a finding' } as const

const unsound: Readonly<Record<string, (part: ChainQuestion) => Found>> = {
  'has a finding': (part) => ({ ...soundly(part), fault }),
  'ends before its segment': (part) => ({ ...soundly(part), state: stateAt(4) }),
  'has no leaves': ({ leaves: _, ...part }) => soundly(part),
  'has a leaf less': (part) => ({ ...soundly(part), leaves: leavesOf(2, 4) }),
  'has a leaf more': (part) => ({ ...soundly(part), leaves: leavesOf(2, 6) }),
}

test.each(Object.keys(unsound))('a part that %s is left, with all behind it', async (what) => {
  const answer = (part: ChainQuestion) =>
    (part.from.size === 2 ? unsound[what] : soundly)?.(part) ?? expect.fail()
  expect((await passed({ answer })).state).toEqual(stateAt(2))
})

test('a part that ends before its segment is left where no roots are compared, too', async () => {
  const answer = (part: ChainQuestion) =>
    part.from.size === 2 ? { ...soundly(part), state: stateAt(4) } : soundly(part)
  expect((await passed({ answer, tree: false })).state).toEqual({ ...stateAt(2), peaks: [] })
})

test('a root that the leaves do not have is found in the part that it is in', async () => {
  const wrong = (size: number): Anchor => ({ size, root: '0'.repeat(64), source: 'checkpoint' })
  const endWith = async (...anchors: Anchor[]) => (await passed({ anchors })).state.size
  expect(await endWith(...anchorsAt(1, 2, 3, 4, 5, 6))).toBe(6)
  expect(await endWith(wrong(1))).toBe(0)
  expect(await endWith(wrong(2))).toBe(0)
  expect(await endWith(wrong(3))).toBe(2)
  expect(await endWith(...anchorsAt(1), wrong(3))).toBe(2)
  expect(await endWith(wrong(6), ...anchorsAt(5))).toBe(5)
  expect(await endWith(...anchorsAt(4, 3), wrong(4))).toBe(2)
  expect(await endWith(wrong(7), wrong(0))).toBe(6)
  expect(await endWith({ size: 3, head: 'head of 3', source: 'the signed head' })).toBe(6)
  const start = stateAt(1)
  expect((await passed({ start, anchors: [wrong(1)] })).state).toEqual(stateAt(6))
  expect((await passed({ start, anchors: [wrong(2)] })).state).toEqual(start)
})

test('helpers work at once, each on one part at a time, and results count in the order of the parts', async () => {
  const ends = endsAt(1, 2, 3, 4, 5)
  const open = new Map<number, () => void>()
  const busy = [0, 0]
  const taken: number[][] = [[], []]
  const helper =
    (which: number): PartVerifier =>
    async (part) => {
      busy[which] = (busy[which] ?? 0) + 1
      expect(busy[which]).toBe(1)
      taken[which]?.push(part.from.size)
      await new Promise<void>((resolve) => open.set(part.from.size, resolve))
      busy[which] = 0
      return soundly(part)
    }
  const question = { chain: 'main', from: emptyLog, tree: true, anchors: [] }
  const parted = { question, start: emptyLog, ends, anchors: [] }
  const done = passSoundParts(parted, [helper(0), helper(1)])
  await expect.poll(() => [...open.keys()]).toEqual([0, 1])
  // The second is done first, and waits for its turn.
  open.get(1)?.()
  await new Promise(setImmediate)
  expect([...open.keys()]).toEqual([0, 1])
  open.get(0)?.()
  await expect.poll(() => [...open.keys()]).toEqual([0, 1, 2, 3])
  for (const part of [3, 2]) open.get(part)?.()
  await expect.poll(() => open.has(4)).toBe(true)
  open.get(4)?.()
  expect(await done).toEqual(stateAt(5))
  expect(taken).toEqual([
    [0, 2, 4],
    [1, 3],
  ])
})

test('where a part is not sound, or a helper fails, no other is begun, and those that run are waited for', async () => {
  for (const isFailing of [false, true]) {
    let end = () => {}
    const answer = async (part: ChainQuestion): Promise<Found> => {
      if (part.from.size === 2) await new Promise<void>((resolve) => (end = resolve))
      else if (isFailing) throw new Error('a helper failed')
      return { ...soundly(part), fault }
    }
    let isDone = false
    const done = passed({ answer, ends: endsAt(2, 5, 6, 7) })
      .then(
        ({ state, parts }) => [state.size, parts.length],
        ({ message }: Error) => message,
      )
      .finally(() => {
        isDone = true
      })
    await new Promise(setImmediate)
    expect(isDone).toBe(false)
    end()
    // The helper of the first part was given the next one as it was taken.
    expect(await done).toEqual(isFailing ? 'a helper failed' : [0, 3])
  }
})
