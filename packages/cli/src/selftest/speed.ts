import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Installation } from './installation.ts'
import { startWithAgent } from './load-agent.ts'
import { call } from './raw-request.ts'
import { bySize, type Finding, finding, type SectionContext } from './section.ts'

const execute = promisify(execFile)

/**
 * Governed calls according to docs/guide/performance.md: a share of the calls of a bare server on the same machine. A
 * busy or small machine gives less of it; below half of it something is wrong.
 */
export const claimedShare = 0.34
const shareMin = claimedShare / 2
/** The guide has 5 ms at most for one client, on a machine with nothing else to do. */
const claimedP99Ms = 5
/** Until the compiler is done with the service. */
const warmSeconds = 8

const policy = `version: 1
limits:
  - { match: "filesystem.*", limit: 100000, window: 1s }
`

type Load = {
  readonly per_second: number
  readonly p50_ms: number
  readonly p99_ms: number
  readonly failures: number
  /** With those of the warm-up. */
  readonly total: number
}

/** Programs that run on their own beside this file. */
const programOf = (name: string): string =>
  fileURLToPath(new URL(`./${name}${extname(import.meta.url)}`, import.meta.url))

const load = async (
  node: string,
  port: string,
  path: string,
  token: string,
  connections: number,
  seconds: number,
): Promise<Load> => {
  const body = call('filesystem.read', { path: 'file.txt' })
  const given = [port, path, token, String(connections), String(seconds), body]
  const { stdout } = await execute(node, [programOf('http-load'), ...given])
  return JSON.parse(stdout) as Load
}

const ticksPerSecond = 100

/** Processor time of a process so far, where the system tells. */
const processorSeconds = (pid: number): number | null => {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return null
  }
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** A load, and what a call of it cost the server: processor time, which a busy machine does not change much, or else time. */
const costOf = async (
  pid: number,
  work: () => Promise<Load>,
): Promise<{ readonly load: Load; readonly secondsPerCall: number }> => {
  const before = processorSeconds(pid)
  const load = await work()
  const after = processorSeconds(pid)
  const secondsPerCall =
    before === null || after === null ? 1 / load.per_second : (after - before) / load.total
  return { load, secondsPerCall }
}

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0

/** Governed calls beside those of a bare server, in turns of the same run. */
export const speedSection = async (context: SectionContext): Promise<readonly Finding[]> => {
  const [rounds, seconds] = bySize(context, [1, 1], [3, 3], [9, 10])
  const [node] = context.program.command
  await using gate = new Installation(context.program)
  const { run, token, workspace } = await startWithAgent(gate, policy, ['--log-level', 'error'])
  writeFileSync(join(workspace, 'file.txt'), 'x'.repeat(1024))
  const bare = spawn(node, [programOf('bare-server')], { stdio: ['ignore', 'pipe', 'inherit'] })
  const rows: {
    readonly bare: Awaited<ReturnType<typeof costOf>>
    readonly governed: Awaited<ReturnType<typeof costOf>>
    readonly lone: Load
  }[] = []
  try {
    const [said] = (await once(bare.stdout, 'data')) as [Buffer]
    const [barePort, port] = [said.toString().trim(), new URL(run.gateway_url).port]
    if (context.size !== 'quick') await load(node, port, '/rpc', token, 32, warmSeconds)
    for (let round = 0; round < rounds; round += 1) {
      rows.push({
        bare: await costOf(bare.pid ?? 0, () => load(node, barePort, '/', 'none', 32, seconds)),
        governed: await costOf(run.pid, () => load(node, port, '/rpc', token, 32, seconds)),
        lone: await load(node, port, '/rpc', token, 1, seconds),
      })
      context.progress((round + 1) / rounds)
      context.signal.throwIfAborted()
    }
  } finally {
    bare.kill('SIGTERM')
  }
  const of = (pick: (row: (typeof rows)[number]) => number): number => median(rows.map(pick))
  const share = of(({ bare: plain, governed }) => plain.secondsPerCall / governed.secondsPerCall)
  const failures = rows.reduce(
    (sum, row) => sum + row.governed.load.failures + row.lone.failures,
    0,
  )
  const figures = [
    `${Math.round(of((row) => row.governed.load.per_second))} governed calls a second`,
    `${Math.round(of((row) => row.bare.load.per_second))} of a bare server`,
    `by processor time ${share.toFixed(2)} of its calls (the guide says ${claimedShare}, at least ${shareMin.toFixed(2)} is wanted)`,
  ]
  const lone = `p50 ${of((row) => row.lone.p50_ms).toFixed(2)} ms, p99 ${of((row) => row.lone.p99_ms).toFixed(2)} ms (the guide says ${claimedP99Ms} ms on an idle machine; it is not judged)`
  const keepsUp = finding(
    'governed calls keep up with a bare server',
    share >= shareMin,
    figures.join(', '),
  )
  return [
    // After a second the compiler is not done with either server: shown, and not judged.
    context.size === 'quick'
      ? { ...keepsUp, verdict: 'skipped', detail: `too short to be judged: ${keepsUp.detail}` }
      : keepsUp,
    finding('no call fails under load', failures === 0, `${failures} failures`),
    finding('one client waits for milliseconds', true, lone),
  ]
}
