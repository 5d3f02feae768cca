import { expect, test } from 'vitest'
import { createLinker, emptyLog, genesis } from '../domain/audit/chain.ts'
import { createTree } from '../domain/audit/merkle.ts'
import { Acceptances, acceptanceAct, acceptedText } from './acceptances.ts'
import type { LoggedEntry } from './frame.ts'
import { hashing } from './hashing.ts'
import type { RecordedRoot } from './recorded-root.ts'
import { digestLog } from './verify-chain.ts'

// What an entry about an acceptance has to say so that a verification goes on behind the damage, and what it is taken for.

type Fields = Readonly<Record<string, unknown>>

const minute = (n: number) => `2026-01-01T00:${String(n).padStart(2, '0')}:00.000Z`

/** Log with an entry for each of these. */
const logOf = (chain: string, all: readonly Fields[]): LoggedEntry[] => {
  const linker = createLinker(hashing)
  let head = genesis
  return all.map((own, seq) => {
    const body = JSON.stringify({
      ...{ actor: 'user:ann', agent: '', arguments: {}, capability: 'files.read', chain },
      ...{ detail: null, id: `aud-${chain}-${seq}`, kind: 'act', request_id: 'req-1' },
      ...{ result: 'success', seq, timestamp: minute(seq), ...own },
    })
    head = linker.link(head, seq, body)
    return { seq, hash: head, seal: '', body }
  })
}

const damage = (log: LoggedEntry[], seq: number): void => {
  const entry = log[seq] as LoggedEntry
  log[seq] = { ...entry, body: entry.body.replace('files.read', 'files.move') }
}

const digestOf = async (log: readonly LoggedEntry[], size: number): Promise<string> =>
  (await digestLog({ entries: () => [log] }, '', size)).entries

/** State of the log as its own service has it, which knows no damage. */
const stateOf = (log: readonly LoggedEntry[], size: number) => {
  const [linker, tree] = [createLinker(hashing), createTree(hashing, emptyLog)]
  let head = genesis
  for (const { seq, hash, body } of log.slice(0, size)) {
    linker.link(head, seq, body)
    tree.push(linker.leaf())
    head = hash
  }
  return { head, peaks: tree.peaks() }
}

const accepts = (argument: Fields, detail: Fields, more: Fields = {}): Fields => ({
  ...{ capability: acceptanceAct, arguments: { reason: 'the disk was old', ...argument } },
  ...{ detail, ...more },
})

/** Verification of the log `left`, of six entries or more, where the log `main` has these. */
const verified = async (left: LoggedEntry[], main: readonly Fields[], tree = false) => {
  const logs = new Map([
    ['left', left],
    ['main', logOf('main', main)],
  ])
  const entries = (chain: string, from: number) => [
    (logs.get(chain) ?? []).filter(({ seq }) => seq >= from),
  ]
  const acceptances = new Acceptances({ entries, chains: [...logs.keys()] })
  const question = { chain: 'left', from: emptyLog, tree, anchors: [], entries }
  const { fault, state } = await acceptances.verify(question)
  return { acceptances, fault: fault?.seq ?? null, size: state.size, state }
}

const six = () =>
  logOf(
    'left',
    Array.from({ length: 6 }, () => ({})),
  )

test('a log is verified from where its damage was accepted on, and the acceptance is told', async () => {
  const left = six()
  damage(left, 3)
  const digest = await digestOf(left, 5)
  const found = await verified(left, [{}, accepts({ log: 'left' }, { entries: 5, digest })])
  expect(found).toMatchObject({ fault: null, size: 6 })
  const acceptance = {
    ...{ log: 'left', by: 'user:ann', at: minute(1), reason: 'the disk was old' },
    ...{ entry: 'aud-main-1', chain: 'main', seq: 1, size: 5, digest, state: null, key: null },
    roots_through: minute(1),
  }
  expect(found.acceptances.used).toEqual([acceptance])
  expect(found.acceptances.partOf('left')).toEqual({ fault: 3, end: 5 })
  expect(found.acceptances.partOf('main')).toBeNull()
  expect(found.acceptances.used.map(acceptedText)).toEqual([
    `the log of left is as damaged as user:ann accepted it at ${minute(1)} (aud-main-1: the disk was old)`,
  ])
  damage(left, 5)
  expect(await verified(left, [accepts({ log: 'left' }, { entries: 5, digest })])).toMatchObject({
    fault: 5,
  })
})

test('a log without damage needs no acceptance', async () => {
  const left = six()
  const digest = await digestOf(left, 6)
  const found = await verified(left, [accepts({ log: 'left' }, { entries: 6, digest })])
  expect([found.fault, found.acceptances.used]).toEqual([null, []])
  expect(found.acceptances.partOf('left')).toBeNull()
})

test('the acceptance of the longest part counts, in whatever order they were written', async () => {
  const left = six()
  damage(left, 1)
  const first = accepts({ log: 'left' }, { entries: 2, digest: await digestOf(left, 2) })
  damage(left, 3)
  const second = accepts({ log: 'left' }, { entries: 4, digest: await digestOf(left, 4) })
  for (const main of [
    [first, second],
    [second, first],
  ]) {
    const { fault, acceptances } = await verified(left, main)
    expect([fault, acceptances.partOf('left')]).toEqual([null, { fault: 1, end: 4 }])
    expect(acceptances.used).toHaveLength(1)
  }
  // What came after it is a finding, and an older one does not make up for that.
  damage(left, 5)
  expect(await verified(left, [first, second])).toMatchObject({ fault: 5 })
})

test('another process knows no state from which a log goes on, and no reason that is none', async () => {
  const left = six()
  damage(left, 3)
  const detail = { entries: 6, digest: await digestOf(left, 6), ...stateOf(left, 6) }
  const main = [accepts({ log: 'left', reason: 7 }, detail)]
  expect(await verified(left, main, true)).toMatchObject({ fault: 3 })
  const { acceptances } = await verified(left, main)
  expect(acceptances.used).toMatchObject([{ state: null, reason: '' }])
})

const detailOf = async (left: readonly LoggedEntry[], entries = 6) => ({
  entries,
  digest: await digestOf(left, entries),
})

const acceptNothing: Readonly<Record<string, (left: LoggedEntry[]) => Promise<Fields>>> = {
  'another log': async (left) => accepts({ log: 'lost' }, await detailOf(left)),
  'a log without a name': async (left) => accepts({ log: 7 }, await detailOf(left)),
  'another act': async (left) =>
    accepts({ log: 'left', note: acceptanceAct }, await detailOf(left), {
      capability: 'files.read',
    }),
  'no digest': async () => accepts({ log: 'left' }, { entries: 6 }),
  'a digest that is none': async (left) => {
    const { entries, digest } = await detailOf(left)
    return accepts({ log: 'left' }, { entries, digest: `${digest}0` })
  },
  'a digest that is none, at its begin': async (left) => {
    const { entries, digest } = await detailOf(left)
    return accepts({ log: 'left' }, { entries, digest: `0${digest}` })
  },
  'the digest of something else': async () => accepts({ log: 'left' }, await detailOf(six())),
  'the digest of another field': async (left) => {
    const { entries, digest } = await detailOf(left)
    return accepts({ log: 'left' }, { entries, exported: digest })
  },
  'a number that is a text': async (left) =>
    accepts({ log: 'left' }, { ...(await detailOf(left)), entries: '6' }),
  'a number that is none': async (left) =>
    accepts({ log: 'left' }, { ...(await detailOf(left)), entries: 6.5 }),
  'entries before the damage alone': async (left) =>
    accepts({ log: 'left' }, await detailOf(left, 3)),
  'nothing at all': async () => accepts({}, {}, { arguments: null, detail: null }),
  'the entry of another log': async (left) =>
    accepts({ log: 'left' }, await detailOf(left), { chain: 'other' }),
}

test.each(Object.keys(acceptNothing))('an entry accepts nothing that names %s', async (what) => {
  const left = six()
  damage(left, 3)
  const entry = await acceptNothing[what]?.(left)
  const found = await verified(left, [entry ?? {}])
  expect([found.fault, found.acceptances.used]).toEqual([3, []])
})

test('entries that cannot be read are passed over where acceptances are looked for', async () => {
  const left = six()
  damage(left, 3)
  const entry = left[4] as LoggedEntry
  left[4] = { ...entry, body: `"${acceptanceAct}"` }
  const found = await verified(left, [accepts({ log: 'left' }, await detailOf(left))])
  expect(found).toMatchObject({ fault: null, size: 6 })
})

/** Log whose own service took the acceptance of its first six entries into it. */
const ownLog = async (change: (detail: Fields) => Fields = (detail) => detail) => {
  const before = six()
  damage(before, 3)
  const state = stateOf(before, 6)
  const detail = change({ entries: 6, exported: await digestOf(before, 6), ...state })
  const all = [...Array.from({ length: 6 }, () => ({})), accepts({}, detail), {}]
  const left = logOf('left', all)
  left.splice(0, 6, ...before)
  return { left, state }
}

test('a service that accepted its own log says from which state it went on, and roots can be made of that', async () => {
  const { left, state } = await ownLog()
  const found = await verified(left, [], true)
  expect(found.fault).toBeNull()
  expect(found.state).toEqual({ size: 8, ...stateOf(left, 8) })
  expect(found.acceptances.used).toMatchObject([
    { log: 'left', chain: 'left', seq: 6, size: 6, state: { size: 6, ...state } },
  ])
})

const states: Readonly<Record<string, (detail: Fields) => Fields>> = {
  'no head': ({ head: _head, ...rest }) => rest,
  'a head that is none': (detail) => ({ ...detail, head: 'none' }),
  'no frontier': ({ peaks: _peaks, ...rest }) => rest,
  'a frontier of another size': (detail) => ({ ...detail, peaks: [genesis] }),
  'a frontier of something else': (detail) => ({ ...detail, peaks: ['none', genesis] }),
}

test.each(Object.keys(states))(
  '%s: no root can be made, but the entries are verified',
  async (what) => {
    const { left } = await ownLog(states[what])
    expect(await verified(left, [], true)).toMatchObject({ fault: 3 })
    const found = await verified(left, [])
    expect(found).toMatchObject({ fault: null, size: 8 })
    expect(found.acceptances.used).toMatchObject([{ state: null }])
  },
)

const rootOf = (timestamp: string, key = ''): RecordedRoot => ({
  ...{ chain: 'main', seq: 9, timestamp, store: 's', root: '', note: '' },
  id: 'aud-root' as RecordedRoot['id'],
  heads: [
    { chain: 'main', size: 9, head: genesis, key: 'of main' },
    { chain: 'left', size: 9, head: genesis, key },
  ],
})

test('a root that was made before a log was accepted is compared with the log as it was accepted', async () => {
  const left = six()
  const detail = await detailOf(left, 4)
  const head = left[3]?.hash
  const since = async (timestamp: string, more: Fields = {}, key = '') => {
    const main = [{}, accepts({ log: 'left' }, { ...detail, ...more })]
    const { acceptances } = await verified(left, main)
    const root = rootOf(timestamp, key)
    return { found: await acceptances.headSince('left', root), acceptances, root }
  }
  const { found, acceptances, root } = await since(minute(1), {}, 'of left')
  expect(found).toEqual({ chain: 'left', size: 4, head, key: 'of left' })
  expect(acceptances.used).toHaveLength(1)
  expect(acceptances.partOf('left')).toEqual({ fault: 0, end: 4 })
  expect(await acceptances.headSince('main', root)).toBeNull()
  // The key that the log had when it was accepted counts.
  expect((await since(minute(1), { key: 'as told' }, 'of left')).found?.key).toBe('as told')
  expect((await since(minute(1), { key: 7 })).found?.key).toBe('')
  // Clocks of nodes differ: the entry may say for how long roots were still made of the log as it was.
  expect((await since(minute(2))).found).toBeNull()
  expect((await since(minute(2), { roots_through: minute(2) })).found).toMatchObject({ size: 4 })
  expect((await since(minute(1), { roots_through: minute(0) })).found).toMatchObject({ size: 4 })
  expect((await since(minute(1), { roots_through: 7 })).found).toMatchObject({ size: 4 })
  damage(left, 2)
  const changed = await since(minute(1))
  expect([changed.found, changed.acceptances.used]).toEqual([null, []])
})

test('a log that was accepted as empty begins as any log does', async () => {
  const main = [accepts({ log: 'left' }, await detailOf([], 0))]
  const { acceptances } = await verified([], main)
  const root = rootOf(minute(0))
  expect(await acceptances.headSince('left', root)).toEqual({
    ...{ chain: 'left', size: 0, head: genesis, key: '' },
  })
})

test('an acceptance that no signature is over is a finding, with the damage that it was about', async () => {
  const left = six()
  damage(left, 3)
  const main = [accepts({ log: 'left' }, await detailOf(left))]
  const { acceptances } = await verified(left, main)
  const asked: unknown[] = []
  const isVouchedFor = async (answer: boolean, { chain, seq }: { chain: string; seq: number }) => {
    asked.push([chain, seq])
    return answer
  }
  expect(await acceptances.findUnsigned((place) => isVouchedFor(true, place))).toBeNull()
  expect(await acceptances.findUnsigned((place) => isVouchedFor(false, place))).toMatchObject({
    ...{ kind: 'modified', seq: 3, id: 'aud-left-3' },
    detail: expect.stringMatching(
      /.; no signature covers aud-main-0, by which it was accepted$/,
    ) as string,
  })
  expect(asked).toEqual([
    ['main', 0],
    ['main', 0],
  ])
  // The damage is known already where a root is compared, too.
  const root = rootOf(minute(0))
  expect(await acceptances.headSince('left', root)).toMatchObject({ size: 6 })
  expect(acceptances.partOf('left')).toEqual({ fault: 3, end: 6 })
})

test('an acceptance without a signature is a finding, too, where only a root speaks against the log', async () => {
  const left = six()
  const { acceptances } = await verified(left, [accepts({ log: 'left' }, await detailOf(left, 4))])
  const root = rootOf(minute(0))
  await acceptances.headSince('left', root)
  expect(await acceptances.findUnsigned(async () => false)).toEqual({
    ...{ kind: 'modified', seq: 4, id: null },
    detail:
      'the log of left is another than under the newest root; no signature covers aud-main-0, by which it was accepted',
  })
})
