import { openQuickStore } from '@gatehouse/testkit/quick-store'
import { makeTemporaryFolder } from '@gatehouse/testkit/temporary-folder'
import { expect, onTestFinished, test } from 'vitest'
import { createLinker, emptyLog, genesis, type LogState } from '../domain/audit/chain.ts'
import { entryOf } from '../domain/audit/entry.ts'
import { proveHead } from '../domain/audit/heads-root.ts'
import type { AuditDraft } from '../ports/audit.ts'
import type { AuditRow, ChainPlace, ChainRemoval, ReadableChains } from '../ports/audit-rows.ts'
import type { AcceptedLog } from './accepted-logs.ts'
import { ChainStarts } from './chain-starts.ts'
import type { LoggedEntry } from './frame.ts'
import { hashing } from './hashing.ts'
import { type Keys, loadKeys } from './keys.ts'
import { rowOfEntry } from './read-groups.ts'
import { headsAct, keyPrint, recordRoot } from './recorded-root.ts'
import { addRemoval } from './removals.ts'
import { noRoots, SignedRoots } from './signed-roots.ts'

// When a root over all logs is made, by whom, over what, and what it is compared with later.

type Settings = { readonly isNetworked?: boolean; readonly chains?: readonly string[] }

/** Logs of several processes, in memory, and the roots that `first` makes over them. */
const openLogs = async ({ isNetworked = false, chains = ['gate'] }: Settings = {}) => {
  const { meta } = await openStore()
  const linker = createLinker(hashing)
  const logs = new Map<string, LoggedEntry[]>()
  const keys = new Map<string, Keys>()
  const told = {
    store: 'store-1',
    nowMs: 1_000_000,
    /** Keys and ends in the place of those that the logs have. */
    keys: new Map<string, string>(),
    ends: new Map<string, number>(),
    roots: [] as ChainPlace[],
    removals: [] as ChainRemoval[],
    /** Answers about removals before those. */
    removalsBefore: [] as ChainRemoval[][],
    keptRoots: [] as ChainPlace[],
    accepted: new Map<string, AcceptedLog>(),
    used: [] as AcceptedLog[],
    start: emptyLog as LogState,
  }
  let minutes = 0
  const add = (chain: string, fields: object = {}): LoggedEntry => {
    const log = logs.get(chain) ?? []
    logs.set(chain, log)
    const seq = log.length
    minutes += 1
    const timestamp = new Date(minutes * 60_000).toISOString()
    const body = JSON.stringify({
      ...{ actor: 'system', agent: '', arguments: {}, capability: 'files.read', chain },
      ...{ detail: null, id: `aud-${chain}-${seq}`, kind: 'act', request_id: '' },
      ...{ result: 'success', seq, timestamp, ...fields },
    })
    const entry = { seq, hash: linker.link(log.at(-1)?.hash ?? genesis, seq, body), seal: '', body }
    log.push(entry)
    return entry
  }
  const rowOf = (entry: LoggedEntry): AuditRow => rowOfEntry(entry) ?? expect.fail('no row')
  for (const chain of ['first', ...chains]) {
    keys.set(chain, loadKeys(makeTemporaryFolder()))
    logs.set(chain, [])
  }
  const keyOf = (chain: string): Keys => keys.get(chain) ?? expect.fail(`no key of ${chain}`)
  const others: ReadableChains = {
    read: async (chain, from, limit) =>
      ((chain !== 'first' && logs.get(chain)) || [])
        .filter(({ seq }) => seq >= from)
        .slice(0, limit),
    ends: async () =>
      [...logs].map(([chain, { length }]) => ({ chain, next: told.ends.get(chain) ?? length })),
    keys: async () =>
      chains.map((chain) => ({ chain, public_key: told.keys.get(chain) ?? keyOf(chain).pem })),
    roots: async () => told.roots,
    removals: async () => told.removalsBefore.shift() ?? told.removals,
    checkpoint: async () => null,
  }
  const own = () => logs.get('first') ?? []
  const storage = {
    ...{ isNetworked, meta },
    get id() {
      return told.store
    },
    wallMs: async () => told.nowMs,
    copies: { keepRoot: async (place: ChainPlace) => void told.keptRoots.push(place) },
  }
  const begin = () =>
    new SignedRoots({
      ...{ chain: 'first', keys: keyOf('first'), storage, others, start: () => told.start },
      rows: {
        newestOwn: async (capability, limit) =>
          own()
            .map(rowOf)
            .filter((row) => row.capability === capability)
            .toReversed()
            .slice(0, limit),
      },
      writer: {
        append: async (draft: AuditDraft) => entryOf(rowOf(add('first', draft))),
        get standing() {
          const state = { size: own().length, head: own().at(-1)?.hash ?? genesis, peaks: [] }
          return { ...{ state, count: 0, epoch: 0, alarm: null, baseline: null, vault: null } }
        },
      },
      files: { entry: (seq) => own()[seq] ?? null },
      starts: new ChainStarts(others),
      accepted: {
        find: async (chain) => told.accepted.get(chain) ?? null,
        use: (accepted) => void told.used.push(accepted),
      },
    })
  const headOf = (chain: string) => {
    const log = logs.get(chain) ?? []
    const head = log.at(-1)?.hash ?? genesis
    return { chain, size: log.length, head, key: keyPrint(keyOf(chain).raw) }
  }
  return {
    ...{ told, logs, add, begin, headOf, keyOf, meta, roots: begin() },
    grow: (chain: string, count: number) => {
      for (let i = 0; i < count; i += 1) add(chain)
    },
    /** Takes the entries from this one on away. */
    cut: (chain: string, size: number) => void logs.get(chain)?.splice(size),
    /** Root that another process signs and records. */
    recordElsewhere(chain: string, over: readonly string[], store = told.store) {
      const said = recordRoot({ chain, store, heads: over.map(headOf) }, keyOf(chain))
      const { seq } = add(chain, said)
      told.roots.push({ chain, seq })
      return rowOf(logs.get(chain)?.[seq] ?? expect.fail('no entry'))
    },
    /** Heads under each root that `first` recorded. */
    made: () =>
      own()
        .map((entry) => entryOf(rowOf(entry)))
        .filter(({ capability }) => capability === headsAct),
  }
}

const openStore = async () => {
  const storage = await openQuickStore()
  onTestFinished(() => storage[Symbol.asyncDispose]())
  return storage
}

const acceptedOf = (chain: string, size: number, head: string): AcceptedLog => ({
  ...{ chain, size, head, peaks: [], digest: '', key: '', accepted_at: '', entry: 'aud-1' },
  roots_through: new Date(0).toISOString(),
})

test('a root is made where another log has something new, and not for what is in the own one', async () => {
  const { roots, grow, made, headOf, told } = await openLogs()
  grow('first', 3)
  await roots.record()
  expect([made(), await roots.findOwn(), await roots.check()]).toEqual([[], null, null])
  expect([roots.confirmed, await roots.newestAt(), await roots.prove('gate')]).toEqual([
    ...[null, '', null],
  ])
  grow('gate', 2)
  const [first, gate] = [headOf('first'), headOf('gate')]
  await roots.record()
  const told0 = ({ size, head, key }: typeof first) => ({
    ...{ size, head: `sha256:${head}`, key: `sha256:${key}` },
  })
  const [entry] = made()
  expect(entry).toMatchObject({
    ...{ actor: 'system', arguments: { first: told0(first), gate: told0(gate) } },
    detail: { store: 'store-1' },
  })
  expect(await roots.check()).toBeNull()
  expect(roots.confirmed).toEqual({
    ...{ root: entry?.detail?.['root'], logs: 2, chain: 'first' },
    ...{ entry: entry?.id, signed_at: entry?.timestamp },
  })
  expect(await roots.newestAt()).toBe(entry?.timestamp)
  expect(await roots.findOwn()).toMatchObject({ seq: 3, heads: [first, gate] })
  grow('first', 2)
  await roots.record()
  expect(made()).toHaveLength(1)
  grow('gate', 1)
  await Promise.all([roots.record(), roots.record()])
  expect(made()).toHaveLength(2)
  expect([roots.failure, told.keptRoots]).toEqual([null, []])
})

test('a start goes on from the root that was made before it, and makes one where there is reason to', async () => {
  const { begin, roots, grow, made } = await openLogs()
  grow('gate', 2)
  await roots.begin()
  expect(made()).toHaveLength(1)
  const next = begin()
  await next.begin()
  expect(made()).toHaveLength(1)
  expect(await next.findOwn()).toMatchObject({ seq: 0 })
  grow('gate', 1)
  await begin().begin()
  expect(made()).toHaveLength(2)
  const networked = await openLogs({ isNetworked: true })
  networked.grow('gate', 2)
  await networked.roots.begin()
  expect(networked.made()).toEqual([])
})

const cutText =
  'the log of gate is gone, up to the head of 4 entries under the root that first signed'

test('a log that was cut short is found, and no root is made over it until a person accepts that', async () => {
  const { roots, grow, cut, made, told, headOf } = await openLogs()
  grow('gate', 4)
  await roots.record()
  expect(await roots.check()).toBeNull()
  cut('gate', 2)
  const misfit = { kind: 'truncated', seq: 3, id: null, detail: cutText, log: 'gate' }
  expect([await roots.check(), roots.confirmed]).toEqual([misfit, null])
  for (const make of [() => roots.record(), () => roots.repeat()]) await make()
  expect(made()).toHaveLength(1)
  const accepted = acceptedOf('gate', 2, headOf('gate').head)
  told.accepted.set('gate', accepted)
  expect(await roots.check()).toEqual(misfit)
  const later = { ...accepted, roots_through: made()[0]?.timestamp ?? '' }
  told.accepted.set('gate', later)
  expect([await roots.check(), told.used]).toEqual([null, [later]])
  told.accepted.delete('gate')
  await roots.renew()
  expect(made()).toHaveLength(2)
  expect(await roots.check()).toBeNull()
})

test('a root is made again where this process made one, and after an acceptance where there is more than one log', async () => {
  const { roots, grow, made } = await openLogs()
  for (const make of [() => roots.repeat(), () => roots.renew()]) await make()
  expect(made()).toEqual([])
  grow('gate', 1)
  await roots.repeat()
  expect(made()).toEqual([])
  await roots.renew()
  expect(made()).toHaveLength(1)
  await roots.repeat()
  expect(made()).toHaveLength(2)
  await roots.renew()
  expect(made()).toHaveLength(3)
})

test('logs that end nowhere, or whose last entry is not there, are under no root', async () => {
  const { roots, grow, told, made, logs } = await openLogs({ chains: ['gate', 'hole', 'empty'] })
  for (const chain of ['first', 'gate', 'hole']) grow(chain, 3)
  logs.get('hole')?.splice(2, 1, { ...(logs.get('hole')?.[2] as LoggedEntry), seq: 5 })
  told.ends.set('first', 1)
  told.keys.set('gate', 'no key')
  await roots.record()
  expect(Object.keys(made()[0]?.arguments ?? {})).toEqual(['first', 'gate'])
  expect(made()[0]?.arguments).toMatchObject({ first: { size: 3 }, gate: { size: 3, key: null } })
  // A head whose key was not known proves nothing.
  expect(await roots.prove('gate')).toBeNull()
})

test('over more than 256 logs no root is made, and it is said why until there are fewer', async () => {
  const { roots, grow, made, logs } = await openLogs()
  grow('gate', 1)
  const more = Array.from({ length: 255 }, (_, i) => `more-${i}`)
  for (const chain of more) grow(chain, 1)
  for (const make of [() => roots.record(), () => roots.renew()]) {
    await make()
    expect(roots.failure).toMatch(
      /^there are 257 audit logs, and no new root over all is made, as one is over 256 at most/,
    )
  }
  expect(made()).toEqual([])
  logs.delete('more-0')
  await roots.record()
  expect([roots.failure, made().length]).toEqual([null, 1])
})

test('a store with other logs gets a root of its own, and roots of another store are not compared', async () => {
  const { roots, begin, grow, cut, made, told } = await openLogs()
  grow('gate', 4)
  await roots.record()
  told.store = 'store-2'
  cut('gate', 2)
  const next = begin()
  expect([await next.findOwn(), await next.check(), await next.newestAt()]).toEqual([
    ...[null, null, ''],
  ])
  await next.record()
  expect(made()).toHaveLength(2)
  expect(await next.findOwn()).toMatchObject({ store: 'store-2' })
  await next.record()
  expect(made()).toHaveLength(2)
})

test('a store that logs were moved to gets a root where nothing is new in them, too', async () => {
  const { roots, begin, grow, made, told } = await openLogs()
  grow('gate', 4)
  await roots.record()
  told.store = 'store-2'
  await begin().record()
  expect(made()).toHaveLength(2)
})

test('a root that is signed counts in damage that a person accepted, too', async () => {
  const { roots, grow, cut, told, recordElsewhere } = await openLogs({
    ...{ isNetworked: true, chains: ['node', 'gate'] },
  })
  for (const chain of ['node', 'gate']) grow(chain, 4)
  recordElsewhere('node', ['node', 'gate'])
  told.accepted.set('node', acceptedOf('node', 9, ''))
  expect(await roots.check()).toBeNull()
  cut('gate', 2)
  expect(await roots.check()).toMatchObject({ kind: 'truncated', log: 'gate' })
})

test('nodes of a network take turns, tell their roots, and compare with the newest of all', async () => {
  const { roots, grow, cut, made, told, recordElsewhere, meta } = await openLogs({
    ...{ isNetworked: true, chains: ['node', 'gate'] },
  })
  for (const chain of ['first', 'node', 'gate']) grow(chain, 4)
  await meta.lease('audit.heads', 'node', told.nowMs, told.nowMs + 90_000)
  await roots.record()
  expect([made(), told.keptRoots]).toEqual([[], []])
  const theirs = recordElsewhere('node', ['first', 'node', 'gate'])
  expect(await roots.check()).toBeNull()
  expect(roots.confirmed).toMatchObject({ chain: 'node', entry: theirs.id, logs: 3 })
  expect(await roots.newestAt()).toBe(theirs.timestamp)
  told.nowMs += 90_000
  // The entry about their root is nothing new, and neither is what grew here.
  grow('first', 1)
  await roots.record()
  expect(made()).toEqual([])
  grow('gate', 1)
  await roots.record()
  expect(made()).toHaveLength(1)
  expect(told.keptRoots).toEqual([{ chain: 'first', seq: 5 }])
  expect(await roots.check()).toBeNull()
  expect(roots.confirmed).toMatchObject({ chain: 'first', entry: made()[0]?.id })
  expect(await meta.lease('audit.heads', 'node', told.nowMs + 89_999, told.nowMs)).toBe(false)
  // Both the newest and the own one are compared: what is only under the own one is found, too.
  const after = recordElsewhere('node', ['first', 'node'])
  expect(await roots.check()).toBeNull()
  expect(roots.confirmed).toMatchObject({ entry: after.id })
  cut('gate', 4)
  expect(await roots.check()).toMatchObject({ kind: 'truncated', log: 'gate' })
})

test('what others tell of their roots counts where it is signed, of this store and of their own log', async () => {
  const { roots, add, grow, told, recordElsewhere, headOf, keyOf } = await openLogs({
    ...{ isNetworked: true, chains: ['node', 'gate'] },
  })
  for (const chain of ['node', 'gate']) grow(chain, 2)
  const sound = recordElsewhere('node', ['node', 'gate'])
  expect(await roots.newestAt()).toBe(sound.timestamp)
  recordElsewhere('node', ['node'], 'store-2')
  const heads = [headOf('gate')]
  const forged = recordRoot({ chain: 'gate', store: 'store-1', heads }, keyOf('node'))
  told.roots.push({ chain: 'gate', seq: add('gate', forged).seq })
  const foreign = recordRoot({ chain: 'node', store: 'store-1', heads }, keyOf('node'))
  told.roots.push({ chain: 'gate', seq: add('gate', { ...foreign, chain: 'node' }).seq })
  told.roots.push({ chain: 'gate', seq: add('gate').seq }, { chain: 'gate', seq: 99 })
  // Nor does what others tell of the log of this process.
  const own = recordRoot({ chain: 'first', store: 'store-1', heads }, keyOf('first'))
  told.roots.push({ chain: 'first', seq: add('first', own).seq })
  expect(await roots.newestAt()).toBe(sound.timestamp)
})

test('a root that its process did not sign is a finding, but in damage that a person accepted', async () => {
  const { roots, add, grow, told, headOf, keyOf } = await openLogs({
    ...{ isNetworked: true, chains: ['node'] },
  })
  grow('node', 2)
  const heads = [headOf('first'), headOf('node')]
  const forged = recordRoot({ chain: 'node', store: 'store-1', heads }, keyOf('first'))
  const { seq } = add('node', forged)
  told.roots.push({ chain: 'node', seq })
  const detail = 'the root over all logs that node recorded is not the one that its key signed'
  expect(await roots.check()).toMatchObject({ kind: 'modified', seq: 2, log: 'node', detail })
  expect(roots.confirmed).toBeNull()
  told.accepted.set('node', acceptedOf('node', 2, ''))
  expect(await roots.check()).toMatchObject({ detail })
  told.accepted.set('node', acceptedOf('node', 3, ''))
  expect([await roots.check(), roots.confirmed]).toEqual([null, null])
})

test('the head of a log is proved by the newest root, with the key of who signed that', async () => {
  const { roots, grow, headOf, keyOf, made, begin } = await openLogs()
  grow('gate', 3)
  const heads = [headOf('first'), headOf('gate')]
  await roots.record()
  const [entry] = made()
  const expected = {
    ...proveHead(hashing, heads, 'gate'),
    ...{ logs: 2, note: entry?.detail?.['note'], chain: 'first' },
    root: String(entry?.detail?.['root']).replace('sha256:', ''),
    public_key: keyOf('first').pem,
  }
  for (const one of [roots, begin()]) {
    expect(await one.prove('gate')).toEqual(expected)
    expect(await one.prove('first')).toMatchObject({ head: heads[0] })
    expect(await one.prove('another')).toBeNull()
  }
})

test('what retention took away is compared with the state from which a log goes on', async () => {
  const { roots, grow, logs, told, headOf, keyOf } = await openLogs()
  for (const chain of ['first', 'gate']) grow(chain, 4)
  const [first, gate] = [headOf('first'), headOf('gate')]
  await roots.record()
  logs.get('gate')?.splice(0, 4)
  expect(await roots.check()).toMatchObject({ log: 'gate', kind: 'truncated' })
  const removal = (head: string) => {
    const peaks = ['a'.repeat(64)]
    const { signed } = addRemoval(makeTemporaryFolder(), keyOf('gate'), {
      ...{ chain: 'gate', size: 4, head, peaks, root: '', from: 0, entry: 'aud-1' },
      ...{ removed_at: '', reason: 'age', segments: [], exported_to: [] },
    })
    if (!signed) throw new Error('nothing is signed')
    return { chain: 'gate', ...signed, public_key: keyOf('gate').pem }
  }
  told.removals = [removal(gate.head)]
  expect(await roots.check()).toBeNull()
  // It went away while somebody looked.
  told.removalsBefore = [[]]
  expect(await roots.check()).toBeNull()
  told.removals = [removal(genesis)]
  expect(await roots.check()).toMatchObject({ log: 'gate', kind: 'modified' })
  told.removals = [removal(gate.head)]
  told.start = { size: 4, head: first.head, peaks: [] }
  expect(await roots.check()).toBeNull()
  told.start = { size: 4, head: genesis, peaks: [] }
  expect(await roots.check()).toMatchObject({ log: 'first', kind: 'modified' })
})

test('where another process makes the roots there is none, and nothing fails', async () => {
  const { confirmed, failure } = noRoots
  expect([confirmed, failure, await noRoots.findOwn(), await noRoots.check()]).toEqual([
    ...[null, null, null, null],
  ])
  expect([await noRoots.prove('first'), await noRoots.newestAt()]).toEqual([null, ''])
  const { begin, record, repeat, renew } = noRoots
  for (const make of [begin, record, repeat, renew]) await make()
})
