import fs from 'node:fs'
import path from 'node:path'
import type { AuditFilter } from '@gatehouse/contract'
import { expect, test } from 'vitest'
import { indexOf, Log, many, newYear, rowOf } from '../../../test/kit/index-bench.ts'
import type { AuditRow } from '../../ports/audit-rows.ts'
import type { LoggedEntry } from '../frame.ts'
import { blockEntries } from './block.ts'
import type { EntryIndex } from './entry-index.ts'

const seqsOf = ({ rows }: { readonly rows: readonly AuditRow[] }): number[] =>
  rows.map(({ seq }) => seq)
const capabilities = [
  'filesystem.read',
  'filesystem.write',
  'filesystem_.x',
  'filesystem',
  'FILESYSTEM.read',
  'git.commit',
]

/** Rows in which every filter parts some from others; several share a moment. */
const varied = many(120, (seq) => ({
  timestamp: new Date(newYear + Math.floor(seq / 3) * 250).toISOString(),
  agent: ['a', 'b', 'A'][seq % 3] as string,
  capability: capabilities[seq % 6] as string,
  result: ['success', 'error', 'denied', 'pending', 'rejected'][seq % 5] as string,
  policy_decision: ['autonomous', 'approval_required', 'blocked', 'none', null][seq % 5] ?? null,
  session_id: seq % 7 === 0 ? null : `sess-${seq % 3}`,
}))

const at = (n: number): string => (varied[n] as AuditRow).timestamp

type Case = readonly [name: string, filter: Partial<AuditFilter>, keep: (row: AuditRow) => boolean]

const cases: readonly Case[] = [
  ['nothing', {}, () => true],
  ['an agent', { agent: 'a' }, (r) => r.agent === 'a'],
  ['a capability', { capability: 'git.commit' }, (r) => r.capability === 'git.commit'],
  ['a group', { capability: 'filesystem.*' }, (r) => r.capability.startsWith('filesystem.')],
  ['everything by a star', { capability: '*' }, () => true],
  ['a wildcard of another language', { capability: 'filesystem.%' }, () => false],
  [
    'an agent and a capability',
    { agent: 'a', capability: 'filesystem.read' },
    (r) => r.agent === 'a' && r.capability === 'filesystem.read',
  ],
  [
    'an agent and a group',
    { agent: 'b', capability: 'filesystem.*' },
    (r) => r.agent === 'b' && r.capability.startsWith('filesystem.'),
  ],
  ['a result', { result: 'denied' }, (r) => r.result === 'denied'],
  ['a decision', { policy_decision: 'blocked' }, (r) => r.policy_decision === 'blocked'],
  [
    'no decision',
    { policy_decision: 'none' },
    (r) => r.policy_decision === 'none' || r.policy_decision === null,
  ],
  ['a session', { session: 'sess-1' }, (r) => r.session_id === 'sess-1'],
  ['a session of another agent', { session: 'sess-1', agent: 'a' }, () => false],
  ['a session that nobody knows', { session: 'sess-9' }, () => false],
  ['a moment on', { since: at(60) }, (r) => r.timestamp >= at(60)],
  ['until a moment', { until: at(60) }, (r) => r.timestamp < at(60)],
  [
    'a span in another zone',
    { since: '2026-01-01T02:00:05+02:00', until: '2026-01-01 00:00:07' },
    (r) => r.timestamp >= '2026-01-01T00:00:05.000Z' && r.timestamp < '2026-01-01T00:00:07.000Z',
  ],
  [
    'all at once',
    {
      agent: 'b',
      capability: 'filesystem.*',
      result: 'error',
      policy_decision: 'approval_required',
      session: 'sess-1',
      since: at(0),
      until: at(119),
    },
    (r) =>
      r.agent === 'b' &&
      r.capability.startsWith('filesystem.') &&
      r.result === 'error' &&
      r.policy_decision === 'approval_required' &&
      r.session_id === 'sess-1' &&
      r.timestamp < at(119),
  ],
]

test.each(cases)('finds by %s: newest first, page by page, with the total', async (...given) => {
  const [, filter, keep] = given
  const index = await indexOf(varied)
  const expected = varied.filter(keep).toReversed()
  const pages = [
    [1_000, 0],
    [7, 0],
    [7, 5],
    [1, expected.length - 1],
    [5, expected.length],
  ] as const
  for (const [limit, offset] of pages) {
    if (offset < 0) continue
    const found = await index.query({ ...filter, limit, offset })
    expect(found.total).toBe(expected.length)
    expect(found.rows).toEqual(expected.slice(offset, offset + limit))
  }
})

test('goes on with the same entries as of an earlier answer, whatever was added since', async () => {
  const all = many(2 * blockEntries + 50, (seq) => ({ agent: seq % 2 === 0 ? 'even' : 'odd' }))
  for (const length of [30, blockEntries - 1, blockEntries, blockEntries + 20]) {
    const index = await indexOf(all.slice(0, length))
    const { as_of } = await index.query({ limit: 1, offset: 0 })
    index.add(all.slice(length))
    for (const agent of [undefined, 'odd']) {
      const filter = { as_of, limit: 9, ...(agent === undefined ? {} : { agent }) }
      const expected = all
        .slice(0, length)
        .filter((row) => agent === undefined || row.agent === agent)
      for (const offset of [0, expected.length - 9]) {
        const found = await index.query({ ...filter, offset })
        expect(found).toMatchObject({ total: expected.length, as_of })
        expect(found.rows).toEqual(expected.toReversed().slice(offset, offset + 9))
      }
    }
    const { total } = await index.query({ limit: 1, offset: 0 })
    expect(total).toBe(all.length)
    expect((await index.query({ as_of: 'other:9', limit: 1, offset: 0 })).total).toBe(0)
  }
})

test('finds by texts as they are, and rows by their id', async () => {
  const awkward = 'ünï \u{1F600} \0 \\ \ud800'
  const rows = [rowOf(0, { agent: awkward, capability: awkward, session_id: awkward }), rowOf(1)]
  const index = await indexOf(rows)
  for (const filter of [{ agent: awkward }, { capability: awkward }, { session: awkward }])
    expect(seqsOf(await index.query({ ...filter, limit: 9, offset: 0 }))).toEqual([0])
  expect(await index.find(rows[1]?.id ?? '')).toEqual(rows[1])
  expect(await index.find('aud-0')).toBeNull()
})

test('counts over many days, from and until moments within them', async () => {
  // About 40 minutes apart: 5,000 rows are some 139 days.
  const rows = many(5_000, (seq) => ({
    timestamp: new Date(newYear + seq * 2_400_000).toISOString(),
    capability: seq % 3 ? 'filesystem.read' : 'git.commit',
    policy_decision: seq % 7 ? 'autonomous' : 'none',
  }))
  const index = await indexOf(rows)
  const moments = [
    undefined,
    '2026-01-01T00:00:00.000Z',
    '2026-02-03T12:34:56.789Z',
    '2026-03-04T23:59:59.999Z',
    '2026-05-18T20:00:00.000Z',
    '2027-01-01',
  ]
  for (const since of moments)
    for (const until of moments) {
      const filter = { capability: 'filesystem.*', policy_decision: 'autonomous' as const }
      const span = { ...(since && { since }), ...(until && { until }) }
      const { total } = await index.query({ ...filter, ...span, limit: 1, offset: 0 })
      const expected = rows.filter(
        (r) =>
          r.capability === 'filesystem.read' &&
          r.policy_decision === 'autonomous' &&
          (since === undefined || r.timestamp >= since) &&
          (until === undefined || r.timestamp < until),
      )
      expect({ since, until, total }).toEqual({ since, until, total: expected.length })
    }
})

test('refuses a moment that is none', async () => {
  const query = (await indexOf([])).query({ since: 'yesterday', limit: 1, offset: 0 })
  await expect(query).rejects.toMatchObject({ type: 'InvalidParams' })
})

const pending = { result: 'pending', duration_ms: null } as const

test('leaves intents that policy allowed out of what people watch', async () => {
  const index = await indexOf([
    rowOf(0, pending),
    rowOf(1, { intent_id: rowOf(0).id }),
    rowOf(2, { ...pending, policy_decision: 'approval_required', approval_id: 'appr-1' }),
    rowOf(3, { kind: 'act', policy_decision: 'none', capability: 'agent.paused' }),
    rowOf(4, { agent: 'other', ...pending }),
    rowOf(5, { agent: 'other' }),
  ])
  const watched = async (filter: object) => {
    const page = await index.activity({ limit: 10, offset: 0, ...filter })
    return [page.total, ...seqsOf(page)]
  }
  expect(await watched({})).toEqual([4, 5, 3, 2, 1])
  expect(await watched({ limit: 2, offset: 1 })).toEqual([4, 3, 2])
  expect(await watched({ agent: 'mailbot' })).toEqual([3, 3, 2, 1])
  expect(await watched({ agent: 'nobody' })).toEqual([0])
})

test('tells which intents nothing has closed', async () => {
  const index = await indexOf([
    rowOf(0, pending),
    rowOf(1, pending),
    rowOf(2, { intent_id: rowOf(0).id }),
    rowOf(3, { ...pending, approval_id: 'appr-1' }),
    rowOf(4, { ...pending, kind: 'act' }),
    rowOf(5, pending),
    rowOf(6),
  ])
  expect((await index.openIntents(10)).map(({ seq }) => seq)).toEqual([1, 5])
  expect((await index.openIntents(1)).map(({ seq }) => seq)).toEqual([1])
})

test('counts calls that ran, calls denied, entries', async () => {
  const index = await indexOf([
    rowOf(0),
    rowOf(1, { result: 'pending' }),
    rowOf(2, { result: 'error' }),
    rowOf(3, { result: 'denied' }),
    rowOf(4, { kind: 'act' }),
    rowOf(5),
  ])
  expect(await index.counts(newYear)).toEqual({ calls: 3, denied: 1, entries: 6 })
  expect(await index.counts(newYear + 3_000)).toEqual({ calls: 1, denied: 1, entries: 6 })
})

test('gives the statistics of an agent', async () => {
  const perDay = 3_000
  const rows = many(2 * perDay, (seq) => ({
    timestamp: `2026-01-0${seq < perDay ? 1 : 2}T00:00:${String(seq % 60).padStart(2, '0')}.000Z`,
    capability: seq % 3 === 0 ? 'git.commit' : 'filesystem.read',
    result: seq % 10 === 0 ? 'error' : 'success',
    duration_ms: seq % 3 === 0 ? null : seq < perDay ? 1_000 : 7,
  }))
  const others = [
    rowOf(6_000, { agent: 'other' }),
    rowOf(6_001, { result: 'denied' }),
    rowOf(6_002, { kind: 'act', capability: 'agent.paused' }),
  ]
  const index = await indexOf([...rows, ...others])
  expect(await index.statsOf('mailbot')).toEqual({
    by_capability: [
      { capability: 'filesystem.read', calls: 4_000, failures: 400, p50_ms: 7, p95_ms: 7 },
      { capability: 'git.commit', calls: 2_000, failures: 200, p50_ms: 0, p95_ms: 0 },
    ],
    by_day: [
      { day: '2026-01-01', calls: 3_000, failures: 300 },
      { day: '2026-01-02', calls: 3_000, failures: 300 },
    ],
  })
  expect(await index.statsOf('nobody')).toEqual({ by_capability: [], by_day: [] })
  const twenty = await indexOf(many(20, (seq) => ({ duration_ms: seq + 1 })))
  const [stats] = (await twenty.statsOf('mailbot')).by_capability
  expect(stats).toMatchObject({ p50_ms: 10, p95_ms: 19 })
})

/** More than two blocks, of which the last is not full. */
const long = many(2 * blockEntries + 500, (seq) => ({
  agent: seq % 10 === 0 ? 'rare' : seq % 1_000 === 5 ? 'seldom' : 'often',
  capability: seq % 2 ? 'git.commit' : 'filesystem.read',
  session_id: `sess-${Math.floor(seq / 1_000)}`,
}))

const askAll = async (index: EntryIndex) => {
  const page = (filter: Partial<AuditFilter>, offset: number) =>
    index.query({ limit: 3, offset, ...filter }).then((found) => [found.total, ...seqsOf(found)])
  const since = new Date(newYear + 65_000_000).toISOString()
  return {
    deep: await page({ agent: 'rare' }, 13_000),
    newest: await page({ capability: 'git.*' }, 0),
    seldom: await page({ agent: 'seldom', result: 'success' }, 100),
    often: (await page({ agent: 'often' }, 0)).slice(0, 2),
    since: await page({ since }, 66_000),
    session: await page({ session: 'sess-3' }, 0),
    found: (await index.find(long[70_000]?.id ?? ''))?.seq,
    stats: await index.statsOf('rare'),
    figures: await index.figures(
      { agent: 'rare', fromMs: newYear + 65_000_000, toMs: newYear + 1e9, stepMs: 4e7 },
      new AbortController().signal,
    ),
    counts: await index.counts(newYear + 65_000_000),
    open: (await index.openIntents(5)).length,
    ends: await index.ends(),
  }
}

const blocksIn = ({ folder }: Log): readonly string[] =>
  fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => name.endsWith('.columns')) : []

test('finds in every block, and the same after a stop, a kill, and without its files', async () => {
  const log = new Log()
  const index = await log.open()
  log.write(long)
  index.add(long)
  const before = await askAll(index)
  expect(before.deep).toEqual([13_158, 1_570, 1_560, 1_550])
  expect(before.seldom).toEqual([132, 31_005, 30_005, 29_005])
  expect(before.often).toEqual([118_282, 131_571])
  expect(before.session).toEqual([1_000, 3_999, 3_998, 3_997])
  expect(before.found).toBe(70_000)
  expect(before.figures.calls.slice(0, 2)).toEqual([4_000, 2_658])

  // Full blocks are written beside this thread, while it goes on.
  await expect.poll(() => blocksIn(log)).toHaveLength(2)
  const killed = await log.open()
  expect(log.read).toBe(500)
  expect(await askAll(killed)).toEqual(before)
  await killed.save()
  const stopped = await log.open()
  expect(log.read).toBe(0)
  expect(await askAll(stopped)).toEqual(before)

  fs.rmSync(log.folder, { recursive: true })
  expect(await askAll(await log.open())).toEqual(before)
  expect(log.read).toBe(long.length)
})

test('makes anew what somebody changed in its files, before it answers', async () => {
  const log = new Log()
  const index = await log.open()
  log.write(long)
  index.add(long)
  const before = await askAll(index)
  await index.save()
  const kept = `${log.folder}-kept`
  fs.cpSync(log.folder, kept, { recursive: true })
  const names = fs.readdirSync(kept)
  expect(names).toHaveLength(3)
  // In the summary, and at the end of the columns.
  for (const name of names)
    for (const place of [100, -8]) {
      const file = path.join(log.folder, name)
      const bytes = fs.readFileSync(path.join(kept, name))
      const i = place < 0 ? bytes.length + place : place
      bytes[i] = (bytes[i] as number) ^ 1
      fs.cpSync(kept, log.folder, { recursive: true })
      fs.writeFileSync(file, bytes)
      expect(await askAll(await log.open())).toEqual(before)
    }
}, 360_000)

test('leaves out blocks of another log', async () => {
  const log = new Log()
  const index = await log.open()
  log.write(many(20))
  index.add(many(20))
  await index.save()
  log.lines.splice(15)
  log.write(many(25, () => ({ agent: 'other' })).slice(15))
  const again = await log.open()
  expect((await again.query({ agent: 'mailbot', limit: 0, offset: 0 })).total).toBe(15)
  expect((await again.query({ agent: 'other', limit: 0, offset: 0 })).total).toBe(10)
})

test('takes what is no entry for one that cannot be read', async () => {
  const log = new Log()
  const bodies = ['null', '5', '[]', '{}', rowOf(4).body.replace('"filesystem.read"', '7')]
  for (const [seq, body] of bodies.entries()) log.lines.push({ seq, hash: '', seal: '', body })
  log.write([rowOf(5)])
  const index = await log.open()
  const found = await index.query({ capability: 'filesystem.*', limit: 9, offset: 0 })
  expect(seqsOf(found)).toEqual([5])
  expect(await index.statsOf('mailbot')).toMatchObject({ by_capability: [{ calls: 1 }] })
})

test('drops the files of its own chain alone', async () => {
  const log = new Log()
  const index = await log.open()
  log.write(many(3))
  index.add(many(3))
  await index.save()
  const other = path.join(log.folder, 'main-b-0000000000000000.columns')
  fs.writeFileSync(other, 'of another node')
  await index.rebuild(3)
  expect(fs.readdirSync(log.folder)).toEqual(['main-b-0000000000000000.columns'])
})

test('keeps the places of entries that are gone or cannot be read', async () => {
  const log = new Log()
  const lines = many(10)
  log.write(lines.slice(0, 3))
  log.lines.push({ seq: 5, hash: rowOf(5).hash, seal: '', body: '{"seq":' })
  log.write(lines.slice(6))
  const index = await log.open()
  expect(seqsOf(await index.query({ limit: 99, offset: 0 }))).toEqual([9, 8, 7, 6, 2, 1, 0])
})

test('shows what it knows of an entry whose text was damaged since', async () => {
  const log = new Log()
  const index = await log.open()
  log.write(many(3))
  index.add(many(3))
  log.lines[1] = { ...(log.lines[1] as LoggedEntry), body: 'damage' }
  const { rows } = await index.query({ limit: 9, offset: 0 })
  expect(rows[1]).toMatchObject({ seq: 1, body: 'damage', agent: 'mailbot', result: 'success' })
})

test('forgets what retention removed, in blocks that are full and in the last one, also after a start', async () => {
  const log = new Log()
  const all = many(2 * blockEntries + 100, (seq) => ({ agent: seq % 2 === 0 ? 'even' : 'odd' }))
  log.write(all)
  let index = await log.open()
  for (const start of [10, blockEntries + 30, 2 * blockEntries + 40]) {
    log.start = start
    log.lines.splice(
      0,
      log.lines.findIndex(({ seq }) => seq >= start),
    )
    await index.removeBefore(start)
    for (const again of [false, true]) {
      if (again) {
        await index.save()
        index = await log.open()
      }
      const left = all.slice(start)
      const page = await index.query({ limit: 3, offset: left.length - 3 })
      expect(page.total).toBe(left.length)
      expect(page.rows.map(({ seq }) => seq)).toEqual([start + 2, start + 1, start])
      expect(await index.find(all[start - 1]?.id ?? '')).toBeNull()
      expect((await index.find(all[start]?.id ?? ''))?.seq).toBe(start)
      const odd = await index.query({ agent: 'odd', limit: 0, offset: 0 })
      expect(odd.total).toBe(left.filter(({ agent }) => agent === 'odd').length)
    }
  }
  const next = rowOf(all.length)
  log.write([next])
  index.add([next])
  expect((await index.query({ limit: 1, offset: 0 })).rows[0]?.seq).toBe(all.length)
})
