import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import type { AuditEntry, Integrity } from '@gatehouse/contract'
import { makeTemporaryFolder } from '@gatehouse/testkit/temporary-folder'
import { expect, test } from 'vitest'
import { createLinker, emptyLog, genesis, type LogState } from '../domain/audit/chain.ts'
import { createTree, rootOf } from '../domain/audit/merkle.ts'
import type { AuditDraft } from '../ports/audit.ts'
import type { ChainRemoval } from '../ports/audit-rows.ts'
import type { LoggedEntry } from './frame.ts'
import { hashing } from './hashing.ts'
import { loadKeys } from './keys.ts'
import type { SealedSegment } from './log-files.ts'
import { type LogStart, logBegin, readStart } from './removals.ts'
import { Retention, type RetentionRules } from './retention.ts'
import { HandClock } from './testing.ts'
import type { ChainQuestion, Found } from './verify-chain.ts'
import type { Standing } from './writer.ts'

// What retention takes away, when, and what keeps it from that. Segments here have two entries and ten bytes each.

const day = 86_400_000
const begin = Date.UTC(2026, 0, 1)
const by = { actor: 'user:ann', request_id: 'req-1' }

/** Log with an entry each day, of which every two are a segment; the last segment is still written. */
const openLog = (segments: number, given: Partial<RetentionRules> = {}) => {
  const directory = makeTemporaryFolder()
  const keys = loadKeys(makeTemporaryFolder())
  const clock = new HandClock()
  clock.ms = begin
  const linker = createLinker(hashing)
  const tree = createTree(hashing)
  const states: LogState[] = [emptyLog]
  const entries = Array.from({ length: segments * 2 + 1 }, (_, seq): LoggedEntry => {
    const timestamp = new Date(begin + seq * day).toISOString()
    const body = JSON.stringify({
      ...{ chain: 'main', id: `aud-${seq}`, kind: 'act', agent: '', capability: 'x', seq },
      ...{ result: 'success', timestamp },
    })
    const head = linker.link(states.at(-1)?.head ?? genesis, seq, body)
    tree.push(linker.leaf())
    states.push({ size: seq + 1, head, peaks: tree.peaks() })
    return { seq, hash: head, seal: '', body }
  })
  let sealed = Array.from({ length: segments }, (_, i): SealedSegment => {
    const file = path.join(directory, `segment-${i}`)
    fs.writeFileSync(file, `segment ${i}`.padEnd(10, '.'))
    return { file, first: i * 2, end: i * 2 + 2 }
  })
  const world = {
    rules: { maxAgeMs: null, maxBytes: null, exported: () => [], ...given } as RetentionRules,
    standing: { state: { ...emptyLog, size: entries.length }, alarm: null, baseline: null },
    start: logBegin as LogStart,
    told: 1_000,
    openSeqs: [] as number[],
    integrity: 'verified' as Integrity['integrity'],
    found: null as Partial<Found> | null,
    asked: [] as ChainQuestion[],
    /** What is done to the log, in order. */
    done: [] as string[],
    drafts: [] as AuditDraft[],
    kept: [] as ChainRemoval[],
    whileQuiet: () => {},
    failure: null as Error | null,
  }
  const parts = {
    ...{ directory, chain: 'main', keys, clock, signal: new AbortController().signal },
    files: {
      sealed: () => sealed,
      bytes: () => sealed.length * 10 + 5,
      entry: (seq: number) => entries[seq] ?? null,
      removeBefore(seq: number) {
        world.done.push(`files ${seq}, signed ${readStart(directory, keys, 'main').state.size}`)
        sealed = sealed.filter(({ end }) => end > seq)
      },
    },
    copies: {
      removals: async () => world.kept,
      async removeBefore(size: number, removal: ChainRemoval) {
        world.done.push(`copies ${size}`)
        if (world.failure) throw world.failure
        world.kept = [removal]
      },
    },
    writer: {
      get standing() {
        return { count: 0, epoch: 0, vault: null, ...world.standing } as Standing
      },
      async append(draft: AuditDraft) {
        world.done.push('entry')
        world.drafts.push(draft)
        return { id: 'aud-entry' } as AuditEntry
      },
      change(standing: Partial<Standing>) {
        world.done.push(`standing ${JSON.stringify(standing)}`)
      },
    },
    inspector: {
      async inspect(reach: unknown) {
        world.done.push(`inspect ${JSON.stringify(reach)}`)
        return { integrity: world.integrity } as Integrity
      },
      async quiet<T>(work: () => Promise<T>) {
        world.whileQuiet()
        return await work()
      },
    },
    verifier: {
      async verify(question: ChainQuestion) {
        world.asked.push(question)
        const { through = 0 } = question
        return { fault: null, state: states[through] ?? emptyLog, ...world.found }
      },
    },
    checkpoints: () => [2, 4, 6].map((size) => ({ size, root: '', source: `checkpoint ${size}` })),
    told: () => world.told,
    openSeqs: () => world.openSeqs,
    start: () => world.start,
    async moved(next: LogStart) {
      world.done.push(`moved ${next.state.size}`)
      world.start = next
    },
  }
  const rules: RetentionRules = {
    get maxAgeMs() {
      return world.rules.maxAgeMs
    },
    get maxBytes() {
      return world.rules.maxBytes
    },
    exported: () => world.rules.exported(),
  }
  const stateAt = (size: number) => states[size] ?? expect.fail(`there is no entry ${size}`)
  return {
    ...{ world, clock, keys, directory, entries, stateAt, parts },
    retention: new Retention({ ...parts, rules }),
    isThere: (i: number) => fs.existsSync(path.join(directory, `segment-${i}`)),
    /** Days since the first entry. */
    passTo: (days: number) => {
      clock.ms = begin + days * day
    },
  }
}

const old = { maxAgeMs: 30 * day }

test('segments whose last entry is too old go, after an entry and a signed record that name them', async () => {
  const log = openLog(3, { ...old, exported: () => [{ name: 'archive', next: 99 }] })
  const { world, retention, stateAt, keys, directory, clock } = log
  log.passTo(31)
  expect(await retention.apply(by)).toBeNull()
  log.passTo(31.5)
  clock.wallOffsetMs = 5_000
  const start = await retention.apply(by)
  const state = stateAt(2)
  const removed = {
    ...{ from: 0, root: rootOf(hashing, state.peaks), reason: 'age', exported_to: ['archive'] },
    segments: [
      {
        ...{ first: 0, entries: 2, bytes: 10 },
        sha256: createHash('sha256').update('segment 0.').digest('hex'),
      },
    ],
  }
  expect(start).toMatchObject({
    state,
    removal: {
      ...{ chain: 'main', ...state, ...removed, entry: 'aud-entry' },
      removed_at: new Date(begin + 31.5 * day + 5_000).toISOString(),
    },
  })
  expect(readStart(directory, keys, 'main')).toEqual(start)
  expect(world.drafts).toMatchObject([
    {
      ...{ actor: 'user:ann', request_id: 'req-1', capability: 'audit.retention' },
      detail: { ...removed, entries: 2, head: `sha256:${state.head}` },
    },
  ])
  expect(world.done).toEqual([
    'inspect {"tree":true,"others":false}',
    ...['entry', 'files 2, signed 2', 'moved 2', 'copies 2'],
  ])
  expect(world.kept).toEqual([{ chain: 'main', ...start?.signed, public_key: keys.pem }])
  expect(world.asked).toMatchObject([
    { chain: 'main', from: emptyLog, through: 2, tree: true, baseline: null },
  ])
  expect(world.asked[0]?.anchors.map(({ size }) => size)).toEqual([2])
  expect(retention.failure).toBeNull()
  expect(await retention.apply()).toBeNull()
  log.passTo(36)
  const segments = [2, 4].map((first) => ({ first, entries: 2, bytes: 10 }))
  expect(await retention.apply()).toMatchObject({
    ...{ state: stateAt(6), removal: { from: 2, segments } },
  })
  expect(world.drafts[1]).toMatchObject({ actor: 'system', request_id: '' })
  expect(world.asked[1]).toMatchObject({ from: state, through: 6 })
})

test('a log that is too large loses its oldest segments until it is not', async () => {
  const { retention, world, stateAt } = openLog(4, { maxBytes: 25 })
  expect(retention.status()).toMatchObject({ due_entries: 4, max_bytes: 25, bytes: 45 })
  expect(await retention.apply(by)).toMatchObject({
    state: stateAt(4),
    removal: { reason: 'size' },
  })
  expect(await retention.apply(by)).toBeNull()
  world.rules = { ...world.rules, maxBytes: 0 }
  expect(await retention.apply(by)).toMatchObject({ state: stateAt(8) })
})

test('of both rules the one that takes more counts, and age is the reason where any segment is too old', async () => {
  const log = openLog(4, { ...old, maxBytes: 25 })
  expect(log.retention.status().due_entries).toBe(4)
  log.passTo(36)
  expect(log.retention.status().due_entries).toBe(6)
  log.passTo(32)
  expect(await log.retention.apply(by)).toMatchObject({
    ...{ state: log.stateAt(4), removal: { reason: 'age' } },
  })
})

test('the status says what is due, what may go and what the log has', async () => {
  const log = openLog(3, { ...old, exported: () => [{ name: 'archive', next: 2 }] })
  log.passTo(34)
  const status = {
    ...{ max_age_days: 30, max_bytes: null, bytes: 35, entries: 7, due_entries: 4 },
    ...{ oldest: new Date(begin).toISOString(), removable_entries: 2, exported_to: ['archive'] },
    held_by: 'archive does not have it yet',
  }
  expect(log.retention.status()).toEqual(status)
  await log.retention.apply(by)
  expect(log.retention.status()).toEqual({
    ...{ ...status, bytes: 25, entries: 5, due_entries: 2, removable_entries: 0 },
    oldest: new Date(begin + 2 * day).toISOString(),
    removed: expect.objectContaining({ entries: 2, reason: 'age', entry: 'aud-entry' }) as object,
  })
  const empty = openLog(0)
  empty.entries.pop()
  expect(empty.retention.status()).toMatchObject({ oldest: null, due_entries: 0, held_by: null })
})

test('without rules everything is kept', async () => {
  const { parts, clock } = openLog(3)
  clock.ms = begin + 9_999 * day
  const retention = new Retention({ ...parts, rules: undefined })
  expect(await retention.apply(by)).toBeNull()
  expect(retention.status()).toMatchObject({
    ...{ max_age_days: null, max_bytes: null, due_entries: 0, held_by: null, exported_to: [] },
  })
})

test('at most 32 segments go at once', async () => {
  const log = openLog(40, old)
  log.passTo(999)
  expect(log.retention.status()).toMatchObject({ due_entries: 64, removable_entries: 64 })
  expect((await log.retention.apply(by))?.state.size).toBe(64)
  expect((await log.retention.apply(by))?.state.size).toBe(80)
})

test('a segment whose last entry cannot be read stays, with those behind it', async () => {
  const log = openLog(3, old)
  log.entries[3] = { ...(log.entries[3] as LoggedEntry), body: 'none' }
  log.passTo(999)
  expect(log.retention.status()).toMatchObject({ due_entries: 2 })
})

type World = ReturnType<typeof openLog>['world']

const lacking: Readonly<Record<string, (world: World) => unknown>> = {
  'archive does not have it yet': (world) => {
    const exported = () => [
      { name: 'backup', next: 9 },
      { name: 'archive', next: 5 },
    ]
    world.rules = { ...world.rules, exported }
  },
  'a call in it has no outcome yet': (world) => world.openSeqs.push(9, 5),
  'the store has not been told of it yet': (world) => {
    world.told = 5
  },
}

test.each(Object.keys(lacking))('segments stay as long as %s', async (why) => {
  const log = openLog(4, old)
  log.passTo(999)
  lacking[why]?.(log.world)
  expect(log.retention.status()).toMatchObject({
    ...{ due_entries: 8, removable_entries: 4, held_by: why },
  })
  expect(await log.retention.apply(by)).toMatchObject({ state: log.stateAt(4) })
  expect(await log.retention.apply(by)).toBeNull()
})

test('of several that lack entries the one that lacks the most is told', () => {
  const log = openLog(4, old)
  log.passTo(999)
  log.world.told = 6
  log.world.openSeqs.push(4)
  log.world.rules = { ...log.world.rules, exported: () => [{ name: 'archive', next: 5 }] }
  expect(log.retention.status()).toMatchObject({
    ...{ removable_entries: 4, held_by: 'a call in it has no outcome yet' },
  })
})

const alarm = { kind: 'modified', seq: 1, id: null, detail: '' } as const

test('nothing goes under an alarm, while somebody reads, or where the log fails its verification', async () => {
  const log = openLog(3, old)
  const { world, retention } = log
  log.passTo(999)
  const stays = async (held: string | null) => {
    expect(retention.status()).toMatchObject({
      ...{ held_by: held, due_entries: 6, removable_entries: held === null ? 6 : 0 },
    })
    expect(await retention.apply(by)).toBeNull()
    expect([world.drafts, log.isThere(0)]).toEqual([[], true])
  }
  Object.assign(world.standing, { alarm })
  await stays('the log failed verification')
  Object.assign(world.standing, { alarm: null })
  {
    using _first = retention.hold()
    {
      using _second = retention.hold()
      await stays('the log is being exported at the moment')
    }
    await stays('the log is being exported at the moment')
  }
  world.integrity = 'failed'
  await stays(null)
  world.integrity = 'verified'
  // Either may begin while the log is verified.
  world.whileQuiet = () => Object.assign(world.standing, { alarm })
  await stays(null)
  Object.assign(world.standing, { alarm: null })
  world.whileQuiet = () => void retention.hold()
  await stays(null)
})

test('nothing goes where the state that is left cannot be told, and the failure is shown until it can', async () => {
  const log = openLog(3, old)
  const { world, retention } = log
  log.passTo(31.5)
  const fails = async (detail: string) => {
    await expect(retention.apply(by)).rejects.toMatchObject({
      ...{ type: 'AuditDamaged', message: expect.stringContaining(detail) as string },
    })
    expect(retention.failure).toMatch(/^retention failed: .*seq 2/)
    expect([world.drafts, log.isThere(0)]).toEqual([[], true])
  }
  world.found = { fault: { ...alarm, detail: 'a finding' } }
  await fails('a finding')
  world.found = { state: log.stateAt(1) }
  await fails('the entry before it is another one')
  world.found = { state: { ...log.stateAt(2), head: genesis } }
  await fails('the entry before it is another one')
  world.found = null
  const [next] = log.entries.splice(2, 1, undefined as never)
  await fails('the entry before it is another one')
  log.entries[2] = next as LoggedEntry
  expect(await retention.apply(by)).toMatchObject({ state: log.stateAt(2) })
  expect(retention.failure).toBeNull()
})

test('a failure of the system is told in words, and the next attempt is not held up by it', async () => {
  const log = openLog(3, old)
  const { world, retention } = log
  log.passTo(31.5)
  world.failure = Object.assign(new Error('secret words'), { code: 'ENOSPC' })
  await expect(retention.apply(by)).rejects.toThrow('secret words')
  expect(retention.failure).toBe('retention failed: the disk is full (ENOSPC)')
  world.failure = null
  expect(await retention.apply(by)).toBeNull()
  expect([retention.failure, world.kept.length]).toEqual([null, 1])
})

test('two who ask at once remove each segment once', async () => {
  const log = openLog(3, old)
  log.passTo(999)
  const [first, second] = await Promise.all([log.retention.apply(by), log.retention.apply(by)])
  expect([first?.state.size, second]).toEqual([6, null])
  expect(log.world.drafts).toHaveLength(1)
})

test('damage that was acknowledged goes as a whole, and its acknowledgement with it', async () => {
  const log = openLog(4, old)
  const { world, retention } = log
  const baseline = { ...log.stateAt(5), digest: '' }
  Object.assign(world.standing, { baseline })
  log.passTo(34)
  expect(retention.status()).toMatchObject({
    ...{ due_entries: 4, removable_entries: 0 },
    held_by: 'entries before 5 were acknowledged as damaged, and go together',
  })
  expect(await retention.apply(by)).toBeNull()
  log.passTo(36)
  expect(await retention.apply(by)).toMatchObject({ state: log.stateAt(6) })
  expect(world.asked).toMatchObject([{ baseline }])
  expect(world.done).toContain('standing {"baseline":null}')
  const exactly = openLog(4, old)
  Object.assign(exactly.world.standing, { baseline: { ...baseline, size: 6 } })
  exactly.passTo(36)
  expect(await exactly.retention.apply(by)).not.toBeNull()
  expect(exactly.world.done).toContain('standing {"baseline":null}')
  const none = openLog(4, old)
  none.passTo(36)
  await none.retention.apply(by)
  expect(none.world.done.join()).not.toContain('standing')
})

test('copies of what is gone are removed once, also those that were left, and again when they were made anew', async () => {
  const log = openLog(3, old)
  const { world, retention, parts } = log
  await retention.removeCopies()
  expect(world.done).toEqual([])
  log.passTo(31.5)
  await retention.apply(by)
  const copied = () => world.done.filter((one) => one.startsWith('copies'))
  await retention.removeCopies()
  expect(copied()).toEqual(['copies 2'])
  await retention.remakeCopies()
  expect(copied()).toEqual(['copies 2', 'copies 2'])
  await new Retention({ ...parts, rules: undefined }).removeCopies()
  expect(copied()).toHaveLength(3)
  await new Retention({ ...parts, rules: undefined, copies: null }).remakeCopies()
  expect(copied()).toHaveLength(3)
})

test('a statement about removed entries that this service did not sign is a finding', async () => {
  const log = openLog(3, old)
  const { world, retention, parts } = log
  expect(await retention.findForeignStatement()).toBeNull()
  const foreign = { chain: 'main', record: '{}', signature: '', public_key: '' }
  world.kept = [{ ...foreign, chain: 'other' }]
  expect(await retention.findForeignStatement()).toBeNull()
  world.kept = [foreign]
  const finding = {
    ...{ kind: 'modified', seq: 0, id: null },
    detail:
      'what the database said of removed entries was not what this service signed; it was written anew',
  }
  expect(await retention.findForeignStatement()).toEqual(finding)
  expect(
    await new Retention({ ...parts, rules: undefined, copies: null }).findForeignStatement(),
  ).toBeNull()
  log.passTo(31.5)
  await retention.apply(by)
  expect(await retention.findForeignStatement()).toBeNull()
  const [own] = world.kept as [ChainRemoval]
  for (const kept of [[], [{ ...own, record: '{}' }], [{ ...own, signature: '' }]]) {
    world.kept = kept
    expect(await retention.findForeignStatement()).toEqual({ ...finding, seq: 2 })
    // Nor is one asked about before the own one was written.
    expect(await new Retention({ ...parts, rules: undefined }).findForeignStatement()).toBeNull()
  }
})
