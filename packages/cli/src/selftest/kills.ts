import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { counted } from '../counted.ts'
import { exportedEntries } from './exported-entries.ts'
import { Installation, invokeOnce, pause, type Run, rpc } from './installation.ts'
import { patientFetch } from './patient-fetch.ts'
import { bySize, type Finding, finding, firstOf, type SectionContext } from './section.ts'
import { startTogether } from './start-together.ts'

const clients = 8
/** Each of the steps of an orderly end has a limit; together they take no longer, on a machine that has time for them. */
const promisedStopMs = 12_000
/** Limit for a service that does not end. */
const stopMaxMs = 60_000

const policy = `version: 1
rules:
  - match: filesystem.append
    when: args.path == "approved.log"
    tier: approval_required
limits:
  - { match: "filesystem.*", limit: 100000, window: 1m }
`

type Approval = {
  readonly id: string
  readonly execution: { readonly state: string }
  readonly arguments: { readonly content: string }
}

/** Calls that the server acknowledged before it was killed: the promise is about exactly these. */
class Acknowledged {
  readonly stats: string[] = []
  readonly appends: string[] = []
  #next = 0

  mark(): string {
    this.#next += 1
    return `n${this.#next}`
  }

  get count(): number {
    return this.stats.length + this.appends.length
  }
}

const loadUntilDead = async (run: Run, token: string, seen: Acknowledged): Promise<void> => {
  for (;;) {
    const mark = seen.mark()
    const kind = Number(mark.slice(1)) % 8
    const content = `${mark}\n`
    try {
      if (kind === 0) {
        await invokeOnce(run, token, 'filesystem.append', { path: 'approved.log', content })
      } else if (kind < 4) {
        const { result } = await invokeOnce(run, token, 'filesystem.append', {
          ...{ path: 'plain.log', content },
        })
        if (result?.success) seen.appends.push(mark)
      } else {
        const { result } = await invokeOnce(run, token, 'filesystem.stat', {
          path: `probe-${mark}`,
        })
        if (result?.success) seen.stats.push(mark)
      }
    } catch {
      // The connection ended in the middle: nothing was acknowledged.
      return
    }
  }
}

const approveUntilDead = async (run: Run, userToken: string): Promise<void> => {
  const headers = { authorization: `Bearer ${userToken}`, 'content-type': 'application/json' }
  try {
    for (;;) {
      const response = await patientFetch(`${run.user_api_url}/api/approvals?limit=100`, {
        headers,
      })
      const { approvals } = (await response.json()) as { approvals: Approval[] }
      await Promise.all(
        approvals.map(({ id }) =>
          patientFetch(`${run.user_api_url}/api/approvals/${id}/approve`, {
            ...{ method: 'POST', headers, body: '{}' },
          }),
        ),
      )
      await pause(5)
    }
  } catch {
    return
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const linesOf = (file: string): string[] => readFileSync(file, 'utf8').split('\n').filter(Boolean)

/** Requests that were approved, once each of them has run or is reported. */
const approvedRequests = async (run: Run, userToken: string): Promise<readonly Approval[]> => {
  const headers = { authorization: `Bearer ${userToken}` }
  for (let tries = 0; ; tries += 1) {
    const approvals: Approval[] = []
    for (let offset = 0, total = 1; offset < total; offset += 100) {
      const response = await patientFetch(
        `${run.user_api_url}/api/approvals?status=approved&limit=100&offset=${offset}`,
        { headers },
      )
      const page = (await response.json()) as { approvals: Approval[]; total: number }
      approvals.push(...page.approvals)
      total = page.total
    }
    const isOpen = ({ execution }: Approval) => ['waiting', 'running'].includes(execution.state)
    if (tries === 4_000 || !approvals.some(isOpen)) return approvals
    await pause(25)
  }
}

type Outcome = {
  readonly acknowledged: number
  /** Marks of acknowledged calls without an entry of the log, or without their effect. */
  readonly missing: readonly string[]
  /** Marks of approved calls that ran more than once, or whose state says something else than their effect. */
  readonly wrong: readonly string[]
  readonly approved: number
  /** Calls with an effect whose outcome nobody knows: only a kill may leave some. */
  readonly unclear: number
  readonly integrity: string
  /** Orderly ends that were none. */
  readonly late: readonly string[]
  /** The longest of them. */
  readonly longestMs: number
}

const compare = async (
  gate: Installation,
  seen: Acknowledged,
  workspace: string,
  approvals: readonly Approval[],
): Promise<Omit<Outcome, 'late' | 'longestMs'>> => {
  const verified = await gate.cli(['audit', 'verify', '--json'])
  const { integrity } = JSON.parse(verified.stdout) as { integrity: string }
  const entries = await exportedEntries(gate)
  const recorded = new Set(
    entries
      .filter(({ result }) => result === 'success')
      .map(
        ({ capability, arguments: args }) =>
          `${capability} ${textOf(args['path'])} ${textOf(args['content']).trim()}`,
      ),
  )
  const plain = new Set(linesOf(join(workspace, 'plain.log')))
  const ran = linesOf(join(workspace, 'approved.log'))
  const states = new Map(
    approvals.map(({ execution, arguments: args }) => [args.content.trim(), execution.state]),
  )
  return {
    acknowledged: seen.count,
    missing: [
      ...seen.stats.filter((mark) => !recorded.has(`filesystem.stat probe-${mark} `)),
      ...seen.appends.filter((mark) => !recorded.has(`filesystem.append plain.log ${mark}`)),
      ...seen.appends.filter((mark) => !plain.has(mark)),
    ],
    wrong: [
      ...ran.filter((mark, i) => ran.indexOf(mark) !== i),
      ...ran.filter((mark) => !['succeeded', 'interrupted'].includes(states.get(mark) ?? '')),
      ...[...states]
        .filter(([mark, state]) => state === 'succeeded' && !ran.includes(mark))
        .map(([mark]) => mark),
    ],
    approved: states.size,
    unclear: entries.filter(({ error }) => error?.type === 'OutcomeUnknown').length,
    integrity,
  }
}

/** How the life of a service ends: with no time for anything, or asked to. */
type End = 'SIGKILL' | 'SIGTERM'

type Load = {
  /** One after the other, as often as it is in the list. */
  readonly ends: readonly End[]
  readonly calls: number
  readonly onEnd: (ended: number) => void
  /** Flags of the service in each of its lives. */
  readonly flags?: (life: number) => readonly string[]
}

/** Asks a service to end; says what is wrong with how it did. */
const stopped = async (
  gate: Installation,
): Promise<{ readonly fault: string | null; readonly tookMs: number }> => {
  const startedAt = performance.now()
  const code = await gate.stop()
  const tookMs = Math.round(performance.now() - startedAt)
  return {
    fault: code === 0 && tookMs <= stopMaxMs ? null : `code ${code} after ${tookMs} ms`,
    tookMs,
  }
}

/** Ends the service again and again while calls and approvals come in, and compares what it said with what is there. */
export const endUnderLoad = async (
  gate: Installation,
  { ends, calls, onEnd, flags = () => [] }: Load,
): Promise<Outcome> => {
  let run = await gate.start(flags(0))
  const { token, workspace } = await gate.createAgent('load')
  mkdirSync(workspace, { recursive: true })
  for (const name of ['plain.log', 'approved.log']) writeFileSync(join(workspace, name), '')
  const file = join(gate.dataDir, 'load.yaml')
  writeFileSync(file, policy)
  await gate.json(['policy', 'set', '--agent', 'load', file])
  const userToken = readFileSync(join(gate.dataDir, 'cli-token'), 'utf8').trim()

  const seen = new Acknowledged()
  const perLife = Math.ceil(calls / ends.length)
  const late: string[] = []
  let longestMs = 0
  const stop = async (): Promise<void> => {
    const { fault, tookMs } = await stopped(gate)
    longestMs = Math.max(longestMs, tookMs)
    if (fault) late.push(fault)
  }
  for (const [i, end] of ends.entries()) {
    const target = seen.count + perLife
    const workers = Array.from({ length: clients }, () => loadUntilDead(run, token, seen))
    workers.push(approveUntilDead(run, userToken))
    let isOver = false
    const working = Promise.all(workers).finally(() => {
      isOver = true
    })
    while (seen.count < target && !isOver) await pause(1)
    await pause(Math.random() * 20)
    if (end === 'SIGTERM') await stop()
    else await gate.kill()
    await working
    run = await gate.start(flags(i + 1))
    onEnd(i + 1)
  }
  const approvals = await approvedRequests(run, userToken)
  const listed = await rpc(run, token, 'capabilities.list')
  if (listed.error) throw new Error(listed.error.message)
  await stop()
  const found = await compare(gate, seen, workspace, approvals)
  return { ...found, late, longestMs, unclear: ends.includes('SIGKILL') ? 0 : found.unclear }
}

const times = (end: End, count: number): readonly End[] => Array.from({ length: count }, () => end)

const recordedFindings = (
  ends: string,
  { acknowledged, missing, wrong, approved, integrity }: Outcome,
  calls: number,
): readonly Finding[] => [
  finding(
    `no acknowledged call is missing after ${ends}`,
    missing.length === 0 && acknowledged >= calls,
    missing.length === 0
      ? `${acknowledged} acknowledged calls`
      : `${missing.length} of ${acknowledged} missing: ${firstOf(missing)}`,
  ),
  finding(
    `nothing approved ran twice or without a trace after ${ends}`,
    wrong.length === 0 && approved > 0,
    wrong.length === 0 ? `${approved} approved requests` : firstOf(wrong),
  ),
  finding(`the log verifies after ${ends}`, integrity === 'verified', `audit verify: ${integrity}`),
]

export const killsSection = async (context: SectionContext): Promise<readonly Finding[]> => {
  const [kills, stops, calls] = bySize(context, [2, 2, 100], [40, 20, 4_000], [200, 100, 20_000])
  const all = kills + stops
  await using killed = new Installation(context.program)
  const afterKills = await endUnderLoad(killed, {
    ...{ ends: times('SIGKILL', kills), calls },
    onEnd: (ended) => context.progress(ended / all),
  })
  await using asked = new Installation(context.program)
  const afterStops = await endUnderLoad(asked, {
    ...{ ends: times('SIGTERM', stops), calls: calls / 2 },
    onEnd: (ended) => context.progress((kills + ended) / all),
  })
  const late = [...afterKills.late, ...afterStops.late]
  const longestMs = Math.max(afterKills.longestMs, afterStops.longestMs)
  return [
    ...recordedFindings(`${kills} kills`, afterKills, calls),
    ...recordedFindings(`${stops} orderly ends`, afterStops, calls / 2),
    finding(
      'the service ends in order when asked',
      late.length === 0,
      late.length === 0
        ? `${stops + 2} of ${stops + 2}, the longest after ${longestMs} ms (${promisedStopMs} ms at most on an idle machine)`
        : firstOf(late),
    ),
    finding(
      'an orderly end leaves no call whose outcome is unknown',
      afterStops.unclear === 0,
      counted(afterStops.unclear, 'call'),
    ),
    await startTogether(context),
  ]
}
