import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { exportedEntries } from './exported-entries.ts'
import { Installation, invoke, pause, type Run, rpc } from './installation.ts'
import { bySize, type Finding, finding, firstOf, type SectionContext } from './section.ts'

const clients = 8

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
        await invoke(run, token, 'filesystem.append', { path: 'approved.log', content })
      } else if (kind < 4) {
        const { result } = await invoke(run, token, 'filesystem.append', {
          ...{ path: 'plain.log', content },
        })
        if (result?.success) seen.appends.push(mark)
      } else {
        const { result } = await invoke(run, token, 'filesystem.stat', { path: `probe-${mark}` })
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
      const response = await fetch(`${run.user_api_url}/api/approvals?limit=100`, { headers })
      const { approvals } = (await response.json()) as { approvals: Approval[] }
      await Promise.all(
        approvals.map(({ id }) =>
          fetch(`${run.user_api_url}/api/approvals/${id}/approve`, {
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
      const response = await fetch(
        `${run.user_api_url}/api/approvals?status=approved&limit=100&offset=${offset}`,
        { headers },
      )
      const page = (await response.json()) as { approvals: Approval[]; total: number }
      approvals.push(...page.approvals)
      total = page.total
    }
    const isOpen = ({ execution }: Approval) => ['waiting', 'running'].includes(execution.state)
    if (tries === 400 || !approvals.some(isOpen)) return approvals
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
  readonly integrity: string
  readonly exitCode: number
}

const compare = async (
  gate: Installation,
  seen: Acknowledged,
  workspace: string,
  approvals: readonly Approval[],
): Promise<Omit<Outcome, 'exitCode'>> => {
  const verified = await gate.cli(['audit', 'verify', '--json'])
  const { integrity } = JSON.parse(verified.stdout) as { integrity: string }
  const recorded = new Set(
    (await exportedEntries(gate))
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
    integrity,
  }
}

/** Kills the service again and again while calls and approvals come in, and compares what it said with what is there. */
export const killUnderLoad = async (
  gate: Installation,
  {
    kills,
    calls,
    onKill,
  }: { readonly kills: number; readonly calls: number; readonly onKill: (kill: number) => void },
): Promise<Outcome> => {
  let run = await gate.start()
  const { token, workspace } = await gate.createAgent('load')
  mkdirSync(workspace, { recursive: true })
  for (const name of ['plain.log', 'approved.log']) writeFileSync(join(workspace, name), '')
  const file = join(gate.dataDir, 'load.yaml')
  writeFileSync(file, policy)
  await gate.json(['policy', 'set', '--agent', 'load', file])
  const userToken = readFileSync(join(gate.dataDir, 'cli-token'), 'utf8').trim()

  const seen = new Acknowledged()
  const perLife = Math.ceil(calls / kills)
  for (let kill = 1; kill <= kills; kill += 1) {
    const target = seen.count + perLife
    const workers = Array.from({ length: clients }, () => loadUntilDead(run, token, seen))
    workers.push(approveUntilDead(run, userToken))
    while (seen.count < target) await pause(1)
    await pause(Math.random() * 20)
    await gate.kill()
    await Promise.all(workers)
    run = await gate.start()
    onKill(kill)
  }
  const approvals = await approvedRequests(run, userToken)
  const listed = await rpc(run, token, 'capabilities.list')
  if (listed.error) throw new Error(listed.error.message)
  const exitCode = await gate.stop()
  return { ...(await compare(gate, seen, workspace, approvals)), exitCode }
}

export const killsSection = async (context: SectionContext): Promise<readonly Finding[]> => {
  await using gate = new Installation(context.program)
  const [kills, calls] = bySize(context, [2, 100], [40, 4_000], [200, 20_000])
  const found = await killUnderLoad(gate, {
    ...{ kills, calls },
    onKill: (kill) => context.progress(kill / kills),
  })
  const { acknowledged, missing, wrong, approved, integrity, exitCode } = found
  return [
    finding(
      'no acknowledged call is missing',
      missing.length === 0 && acknowledged >= calls,
      missing.length === 0
        ? `${acknowledged} acknowledged calls over ${kills} kills`
        : `${missing.length} of ${acknowledged} missing: ${firstOf(missing)}`,
    ),
    finding(
      'nothing approved ran twice or without a trace',
      wrong.length === 0 && approved > 0,
      wrong.length === 0 ? `${approved} approved requests` : firstOf(wrong),
    ),
    finding(
      'the log verifies after all of it',
      integrity === 'verified',
      `audit verify: ${integrity}`,
    ),
    finding('the service ends by itself when asked', exitCode === 0, `exit code ${exitCode}`),
  ]
}
