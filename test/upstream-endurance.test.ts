import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasProgram } from '@gatehouse/testkit/programs'
import { until } from '@gatehouse/testkit/until'
import { expect, test } from 'vitest'
import { exportedEntries } from './support/exported-entries.ts'
import { McpSocket } from './support/mcp-socket.ts'
import { Installation, pause, type Run } from './support/server.ts'
import { survivors } from './support/survivors.ts'

const full = process.env['GATEHOUSE_FULL'] === '1'
const agents = full ? 20 : 10
const halves = 2
/** Each way to end at least once; what is left of one crash of each agent is seen. */
const crashesOfHalf = full ? 5 : 3
/** Beside those with which each crash begins. */
const reconnectsOfHalf = full ? 20 : 8
const crashes = agents * halves * crashesOfHalf
const reconnects = agents * halves * (crashesOfHalf + reconnectsOfHalf)

const heapKbMax = 3_000

const support = realpathSync(new URL('support', import.meta.url).pathname)

const policy = `version: 1
rules:
  - { match: "ending.*", tier: autonomous }
limits:
  - { match: "ending.*", limit: 100000, window: 1m }
`

/** The server itself collects its garbage, and counts what is left. */
const probe = `data:text/javascript,${encodeURIComponent(`
import { EventEmitter } from 'node:events'
import { renameSync, writeFileSync } from 'node:fs'
import { queryObjects } from 'node:v8'
process.on('SIGUSR2', () => {
  gc()
  const left = {
    heap_kb: process.memoryUsage().heapUsed / 1000,
    emitters: queryObjects(EventEmitter),
    signals: queryObjects(EventTarget),
    maps: queryObjects(Map),
  }
  const file = process.argv[process.argv.indexOf('--data-dir') + 1] + '/left.json'
  writeFileSync(file + '.new', JSON.stringify(left))
  renameSync(file + '.new', file)
})`)}`

type Left = {
  readonly heap_kb: number
  readonly emitters: number
  readonly signals: number
  readonly maps: number
  readonly processes: number
  readonly descriptors: number
}

type Way = 'answer' | 'answer late' | 'never answer' | 'exit' | 'answer and exit' | 'be killed'
type Call = { readonly key: string; readonly how: Way; answers: readonly string[] }

const ends: readonly Way[] = ['exit', 'answer and exit', 'be killed']

/** A service with one upstream server and its agents, and everything that they have asked of it. */
class Stage implements AsyncDisposable {
  readonly gate = new Installation()
  readonly calls: Call[] = []
  readonly tokens: string[] = []
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-ending-')))
  readonly notes = join(this.folder, 'calls.txt')
  run: Run | null = null

  async start(): Promise<void> {
    const { gate, folder, notes } = this
    // Programs run as a user of their own where the service is root.
    chmodSync(folder, 0o777)
    gate.nodeFlags = ['--expose-gc', '--import', probe]
    this.run = await gate.start()
    await gate.json([
      ...['upstream', 'add', 'ending', '--yes', '--folder', `${support},${folder}:rw`, '--'],
      ...[process.execPath, join(support, 'ending-server.mjs'), notes],
    ])
    const draft = join(folder, 'draft.yaml')
    writeFileSync(draft, policy)
    await gate.json(['policy', 'set', draft, '--yes'])
    for (let i = 0; i < agents; i += 1)
      this.tokens.push((await this.ask<{ token: string }>('agents', { name: `agent-${i}` })).token)
  }

  async ask<T>(path: string, body?: object): Promise<T> {
    const token = readFileSync(join(this.gate.dataDir, 'cli-token'), 'utf8').trim()
    const response = await fetch(`${this.run?.user_api_url}/api/${path}`, {
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
    })
    if (!response.ok) throw new Error(await response.text())
    return (await response.json()) as T
  }

  open(token: string): Promise<McpSocket> {
    return McpSocket.open(this.run as Run, token)
  }

  async call(agent: McpSocket, how: Way): Promise<Call> {
    const call: Call = { key: `call-${this.calls.length}`, how, answers: [] }
    this.calls.push(call)
    call.answers = await agent.call('ending__do', { key: call.key, how })
    return call
  }

  /** In the pause after a failure a call is refused. */
  async untilAnswered(agent: McpSocket): Promise<void> {
    for (;;) {
      const { key, answers } = await this.call(agent, 'answer')
      if (answers[0] === key) return
      await pause(100)
    }
  }

  async crash(token: string, end: Way): Promise<void> {
    using agent = await this.open(token)
    await this.untilAnswered(agent)
    await Promise.all(
      (['answer', 'never answer', end] as const).map((how) => this.call(agent, how)),
    )
  }

  async reconnect(token: string, leavesEarly: boolean): Promise<void> {
    using agent = await this.open(token)
    if (!leavesEarly) await this.call(agent, 'answer')
    else await Promise.race([this.call(agent, 'answer late'), pause(10)])
  }

  /** Every agent at once, each one step after the other. */
  async each(steps: number, work: (token: string, step: number) => Promise<void>): Promise<void> {
    await Promise.all(
      this.tokens.map(async (token) => {
        for (let step = 0; step < steps; step += 1) await work(token, step)
      }),
    )
  }

  async half(): Promise<void> {
    await this.each(crashesOfHalf, (token, step) =>
      this.crash(token, ends[step % ends.length] as Way),
    )
    await this.each(1, async (token) => {
      using agent = await this.open(token)
      await this.untilAnswered(agent)
    })
    await this.each(reconnectsOfHalf, (token, step) => this.reconnect(token, step % 4 === 3))
  }

  /** What the service holds when nothing is under way. */
  async measure(): Promise<Left> {
    const { pid } = this.run as Run
    const file = join(this.gate.dataDir, 'left.json')
    const sessions = async () =>
      (await this.ask<{ active_sessions: number }>('status')).active_sessions
    // A session ends with its connection, which an agent does not wait for.
    await until(async () => (await sessions()) === 0)
    rmSync(file, { force: true })
    process.kill(pid, 'SIGUSR2')
    await until(async () => existsSync(file))
    return {
      ...JSON.parse(readFileSync(file, 'utf8')),
      processes: survivors(this.notes).length,
      descriptors: readdirSync(`/proc/${pid}/fd`).length,
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.gate[Symbol.asyncDispose]()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** What came of a call: how often it ran, what was answered, and how it ended on record. */
type Outcome = { readonly runs: number; readonly results: readonly string[] }

const isLeft = ({ how, answers }: Call): boolean => how === 'answer late' && answers.length === 0

/** Calls that a server answers where they run at all. */
const answering: readonly Way[] = ['answer', 'answer late', 'answer and exit']

const amiss: Readonly<Record<string, (call: Call, outcome: Outcome) => boolean>> = {
  'it ran twice': (_call, { runs }) => runs > 1,
  'it did not run': ({ how }, { runs }) => ends.includes(how) && runs === 0,
  'it was answered twice': ({ answers }) => answers.length > 1,
  'it was not answered': (call) => call.answers.length === 0 && !isLeft(call),
  'its result was lost': (call, { runs }) =>
    answering.includes(call.how) && runs === 1 && call.answers[0] !== call.key && !isLeft(call),
  'it has a result and did not run': ({ key, answers }, { runs }) =>
    answers[0] === key && runs === 0,
  'it did not end once on record': (_call, { results }) => results.length !== 1,
  'it ended otherwise on record': (call, { results }) =>
    (results[0] === 'success') !== (call.answers[0] === call.key) && !isLeft(call),
}

const doubts = (call: Call, outcome: Outcome): string[] =>
  Object.entries(amiss)
    .filter(([, isSo]) => isSo(call, outcome))
    .map(([doubt]) => `${call.key}, ${call.how}: ${doubt} (${call.answers.join(', ')})`)

const groupBy = <T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> => {
  const groups = new Map<string, T[]>()
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one])
  return groups
}

test.skipIf(!hasProgram('bwrap'))(
  `${crashes} crashes of servers and ${reconnects} reconnects of agents leave no process, no memory and no doubt about a call`,
  async () => {
    await using stage = new Stage()
    await stage.start()
    await stage.half()
    const before = await stage.measure()
    expect(before.processes).toBe(agents)
    await stage.half()
    const after = await stage.measure()
    expect(after.processes).toBe(agents)
    for (const what of ['emitters', 'signals', 'maps', 'descriptors'] as const)
      expect(after[what] - before[what], what).toBeLessThan(agents)
    expect(after.heap_kb - before.heap_kb, 'kB of the heap').toBeLessThan(heapKbMax)

    await stage.ask('upstreams/ending/restart', {})
    await expect.poll(() => survivors(stage.notes)).toEqual([])
    // A call is on record when it begins, and once more when it has ended.
    const ended = groupBy(
      (await exportedEntries(stage.gate)).filter(
        ({ capability, result }) => capability === 'ending.do' && result !== 'pending',
      ),
      ({ arguments: { key } }) => String(key),
    )
    const runs = groupBy(readFileSync(stage.notes, 'utf8').trim().split('\n'), (key) => key)
    const all = stage.calls.flatMap((call) =>
      doubts(call, {
        runs: runs.get(call.key)?.length ?? 0,
        results: (ended.get(call.key) ?? []).map(({ result }) => result),
      }),
    )
    expect(all).toEqual([])
    expect(stage.calls.length).toBeGreaterThanOrEqual(reconnects + 3 * crashes)
  },
)
