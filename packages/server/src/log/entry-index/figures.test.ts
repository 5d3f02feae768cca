import fc from 'fast-check'
import { expect, test } from 'vitest'
import { indexOf, Log, many, newYear, rowOf } from '../../../test/kit/index-bench.ts'
import type { AuditRow, CallFigures, FigureRange } from '../../ports/audit-rows.ts'
import { blockEntries } from './block.ts'
import { percentile } from './percentile.ts'

const going = new AbortController().signal
const digits = '0123456789abcdefghjkmnpqrstvwxyz'

/** An id with its moment, as the service makes them. */
const idAt = (ms: number, n: number): string => {
  let time = ''
  for (let rest = ms; time.length < 10; rest = Math.floor(rest / 32))
    time = digits[rest % 32] + time
  return `appr-${time}${String(n).padStart(16, '0')}`
}

/** What one entry is to add to the figures. */
type Mark = {
  readonly atMs: number
  readonly agent: string
  readonly capability: string
  readonly service: string | null
  readonly adds: readonly ('calls' | 'failed' | 'denied' | 'held' | 'limited')[]
  readonly duration?: number
  readonly wait?: number
}

/** Entries, and beside each what it adds. */
class Written {
  readonly rows: AuditRow[] = []
  readonly marks: Mark[] = []
  #nowMs = newYear

  get nowMs(): number {
    return this.#nowMs
  }

  add(
    over: Partial<AuditRow>,
    adds: Mark['adds'] = [],
    more: Partial<Mark> = {},
    afterMs = 7,
  ): void {
    this.#nowMs += afterMs
    const timestamp = new Date(this.#nowMs).toISOString()
    const row = rowOf(this.rows.length, { duration_ms: null, ...over, timestamp })
    this.rows.push(row)
    const { agent, capability } = row
    const service = (row.detail as { service?: string } | null)?.service ?? null
    this.marks.push({ atMs: this.#nowMs, agent, capability, service, adds, ...more })
  }
}

const who = fc.record({
  agent: fc.constantFrom('ana', 'bot', 'cat'),
  capability: fc.constantFrom('email.send', 'email.read', 'git.push', 'made.up'),
  detail: fc.constantFrom(null, { service: 'work' }, { service: 'home', grant_id: 'grant-1' }),
  result: fc.constantFrom('success', 'error'),
  duration_ms: fc.nat(100_000),
})
type Who = typeof who extends fc.Arbitrary<infer T> ? T : never

const endOf = ({ result }: Who, adds: Mark['adds']): Mark['adds'] =>
  result === 'error' ? [...adds, 'failed'] : adds

const wholeCall = fc
  .tuple(who, fc.boolean(), fc.constantFrom('autonomous', 'none'))
  .map(([call, hasIntent, policy_decision]) => (log: Written): void => {
    const all = { ...call, policy_decision }
    if (hasIntent)
      log.add({ ...all, result: 'pending', duration_ms: null, policy_decision: 'autonomous' })
    log.add({ ...all, intent_id: hasIntent ? 'aud-1' : null }, endOf(call, ['calls']), {
      duration: call.duration_ms,
    })
  })

const grantedCall = who.map((call) => (log: Written): void => {
  const policy_decision = 'approval_required'
  const { agent, capability } = call
  log.add({ agent, capability, policy_decision, result: 'pending', detail: { grant_id: 'g' } })
  log.add({ ...call, policy_decision, intent_id: 'aud-2' }, endOf(call, ['calls']), {
    duration: call.duration_ms,
  })
})

const refusedCall = fc
  .tuple(who, fc.constantFrom('blocked', 'autonomous', 'approval_required', 'none'))
  .map(([{ agent, capability }, policy_decision]) => (log: Written): void => {
    const kind = policy_decision === 'blocked' ? 'denied' : 'limited'
    log.add({ agent, capability, policy_decision, result: 'denied' }, ['calls', kind])
  })

const askedCall = fc
  .tuple(
    who,
    fc.record({
      repeats: fc.nat(2),
      decision: fc.constantFrom('approved', 'rejected', 'expired', 'none'),
      afterMs: fc.nat(40_000_000),
      end: fc.constantFrom('ran', 'refused'),
      delivered: fc.boolean(),
    }),
  )
  .map(([call, { repeats, decision, afterMs, end, delivered }]) => (log: Written): void => {
    const { agent, capability } = call
    const approval_id = idAt(log.nowMs + 7, log.rows.length)
    const detail = call.detail && { service: call.detail.service }
    const about = { agent, capability, approval_id, detail, policy_decision: 'approval_required' }
    const askedMs = log.nowMs + 7
    for (let i = 0; i <= repeats; i += 1)
      log.add({ ...about, result: 'pending' }, ['calls', 'held'])
    if (decision === 'none') return
    const act = { kind: 'act', capability: `approval.${decision}`, policy_decision: 'none' }
    const wait = decision === 'expired' ? {} : { wait: log.nowMs + afterMs - askedMs }
    log.add({ ...about, ...act }, [], wait, afterMs)
    if (decision !== 'approved') return
    if (end === 'refused') log.add({ ...about, result: 'denied' }, ['denied'])
    else {
      log.add({ ...about, result: 'pending', detail: { execution: 'running' } })
      const { result, duration_ms } = call
      const ended = { ...about, result, duration_ms, intent_id: 'aud-3' }
      log.add(ended, endOf(call, []), { duration: duration_ms })
    }
    if (delivered) log.add({ ...about, result: 'error', detail: { delivered: true } })
  })

const otherEntry = fc
  .constantFrom<Partial<AuditRow>>(
    { kind: 'act', capability: 'agent.paused', policy_decision: 'none' },
    { kind: 'act', capability: 'approval.approved', approval_id: 'of another form' },
    { kind: 'act', capability: 'secret.used', result: 'denied', detail: { service: 'work' } },
    { result: 'pending', policy_decision: null },
    {
      result: 'pending',
      policy_decision: 'approval_required',
      approval_id: 'appr-1',
      detail: { edited_from: 'appr-0' },
    },
  )
  .map(
    (row) =>
      (log: Written): void =>
        log.add(row, [], {}, 0),
  )

const logs = fc
  .array(fc.oneof(wholeCall, grantedCall, refusedCall, askedCall, otherEntry), { maxLength: 60 })
  .map((calls) => {
    const log = new Written()
    for (const call of calls) call(log)
    return log
  })

const lists = ['calls', 'failed', 'denied', 'held', 'limited'] as const

/** The same by going through what was written. */
const counted = ({ marks }: Written, { agent, fromMs, toMs, stepMs }: FigureRange) => {
  const seen = marks.filter(
    (mark) => mark.atMs >= fromMs && mark.atMs < toMs && (agent === null || mark.agent === agent),
  )
  const parts = Array.from({ length: Math.ceil((toMs - fromMs) / stepMs) }, (_, i) =>
    seen.filter(({ atMs }) => Math.floor((atMs - fromMs) / stepMs) === i),
  )
  const percentiles = (of: 'duration' | 'wait', share: number) =>
    parts.map((part) => {
      const values = part.flatMap((mark) => mark[of] ?? []).toSorted((a, b) => a - b)
      return values.length === 0 ? null : percentile(values, share)
    })
  const sums = new Map<string, Record<string, number>>()
  for (const { agent, capability, service, adds } of seen)
    for (const list of adds) {
      const name = [agent, capability, service].join(' ')
      const sum = sums.get(name) ?? { calls: 0, failed: 0, denied: 0, held: 0 }
      if (list !== 'limited') sum[list] = (sum[list] ?? 0) + 1
      sums.set(name, sum)
    }
  return {
    counts: lists.map((list) =>
      parts.map((part) => part.flatMap(({ adds }) => adds.filter((one) => one === list)).length),
    ),
    p50: percentiles('duration', 0.5),
    p95: percentiles('duration', 0.95),
    waits: percentiles('wait', 0.5),
    sums,
  }
}

const expectNear = (got: readonly (number | null)[], exact: readonly (number | null)[]): void => {
  expect(got.map((value) => value === null)).toEqual(exact.map((value) => value === null))
  for (const [i, value] of exact.entries())
    expect(Math.abs((got[i] ?? 0) - (value ?? 0))).toBeLessThanOrEqual((value ?? 0) / 100)
}

const ranges = fc.record({
  agent: fc.constantFrom(null, 'ana', 'bot', 'nobody'),
  fromMs: fc.integer({ min: -1_000, max: 90_000_000 }).map((ms) => newYear + ms),
  lengthMs: fc.integer({ min: 1, max: 400_000_000 }),
  parts: fc.integer({ min: 1, max: 40 }),
})

const sumsOf = ({ sums }: CallFigures) =>
  new Map(
    sums.map(({ agent, capability, service, calls, failed, denied, held }) => [
      [agent, capability, service].join(' '),
      { calls, failed, denied, held },
    ]),
  )

test('are what a plain count over the entries gives, for any log, range and agent', async () => {
  const empty = new Log()
  await fc.assert(
    fc.asyncProperty(logs, ranges, async (log, { agent, fromMs, lengthMs, parts }) => {
      const stepMs = Math.ceil(lengthMs / parts)
      const range = { agent, fromMs, toMs: fromMs + lengthMs, stepMs }
      const index = await empty.open()
      index.add(log.rows)
      const figures = await index.figures(range, going)
      const plain = counted(log, range)
      expect(lists.map((list) => figures[list])).toEqual(plain.counts)
      expectNear(figures.duration_p50_ms, plain.p50)
      expectNear(figures.duration_p95_ms, plain.p95)
      expectNear(figures.approval_wait_p50_ms, plain.waits)
      expect(sumsOf(figures)).toEqual(plain.sums)
    }),
    { numRuns: 300 },
  )
})

const all = { agent: null, fromMs: newYear, toMs: newYear + 1e9, stepMs: 1e9 }

test('of an empty log are noughts, and none where nothing was measured', async () => {
  const figures = await (await indexOf([])).figures({ ...all, stepMs: 4e8 }, going)
  expect(figures).toMatchObject({
    calls: [0, 0, 0],
    duration_p50_ms: [null, null, null],
    approval_wait_p50_ms: [null, null, null],
    sums: [],
  })
})

test('begin with the first moment of the range and end before the last', async () => {
  const index = await indexOf(many(10))
  const of = async (from: number, to: number, step: number) =>
    (
      await index.figures(
        { agent: null, fromMs: newYear + from, toMs: newYear + to, stepMs: step },
        going,
      )
    ).calls
  expect(await of(0, 9_000, 3_000)).toEqual([3, 3, 3])
  expect(await of(0, 9_001, 3_000)).toEqual([3, 3, 3, 1])
  expect(await of(1, 9_001, 9_000)).toEqual([9])
  expect(await of(1_000, 1_001, 60_000)).toEqual([1])
})

test('tell names apart that policy was asked about, and of made-up ones 10,000', async () => {
  const invented = many(10_050, (seq) => ({
    capability: `x${seq}.y`,
    result: 'error',
    policy_decision: 'none',
    detail: 'no object',
  }))
  const real = many(3, (seq) => ({
    capability: `real${seq}.y`,
    agent: 'late',
    duration_ms: null,
  })).map((row, i) => rowOf(10_050 + i, { ...row, seq: 10_050 + i }))
  const { sums } = await (await indexOf([...invented, ...real])).figures(all, going)
  expect(sums.filter(({ judged }) => judged).map(({ capability }) => capability)).toEqual([
    'real0.y',
    'real1.y',
    'real2.y',
  ])
  expect(sums).toHaveLength(10_000 + 1 + 3)
  expect(sums.find(({ capability }) => capability === '')).toMatchObject({
    agent: 'mailbot',
    calls: 50,
    failed: 50,
  })
})

/** More than two blocks, of which the last is not full. */
const long = many(2 * blockEntries + 500, (seq) => ({
  agent: seq % 10 === 0 ? 'rare' : 'often',
  result: seq % 4 ? 'success' : 'error',
  duration_ms: seq % 100,
  session_id: `sess-${Math.floor(seq / 1_000)}`,
}))

test('add up over many blocks', async () => {
  const index = await indexOf(long)
  const range = {
    agent: 'rare',
    fromMs: newYear + 100_500,
    toMs: newYear + 131_400_000,
    stepMs: 7e6,
  }
  const figures = await index.figures(range, going)
  const plain = long.filter(
    ({ agent, timestamp }) =>
      agent === 'rare' &&
      Date.parse(timestamp) >= range.fromMs &&
      Date.parse(timestamp) < range.toMs,
  )
  const failed = plain.filter(({ result }) => result === 'error').length
  expect(figures.calls.reduce((sum, calls) => sum + calls)).toBe(plain.length)
  expect(figures.sums).toMatchObject([{ agent: 'rare', calls: plain.length, failed }])
})

test('leave the event loop to others, come one after another, and end for who has gone', async () => {
  const index = await indexOf(long)
  let turns = 0
  let watching = true
  const watch = (): void => {
    turns += 1
    if (watching) setImmediate(watch)
  }
  setImmediate(watch)
  const gone = new AbortController()
  const first = index.figures(all, going)
  const second = index.figures(all, gone.signal)
  const third = index.figures({ ...all, agent: 'rare' }, going)
  gone.abort()
  await first
  const turnsOfOne = turns
  await expect(second).rejects.toMatchObject({ type: 'Cancelled' })
  await third
  watching = false
  // 4 parts of each full block, and one of the rest.
  expect(turnsOfOne).toBeGreaterThanOrEqual(9)
  expect(turns).toBeGreaterThanOrEqual(2 * 9)
})

test('are of the entries that there were when they began, also where a block becomes full', async () => {
  const index = await indexOf(long.slice(0, blockEntries - 10))
  const adding = index.figures(all, going)
  await new Promise((resolve) => void setImmediate(resolve))
  index.add(long.slice(blockEntries - 10, blockEntries + 100))
  expect((await adding).calls).toEqual([blockEntries - 10])
  expect((await index.figures(all, going)).calls).toEqual([blockEntries + 100])
})
