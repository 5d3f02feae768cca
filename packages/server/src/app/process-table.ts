import {
  GatehouseError,
  type KilledProcess,
  type KillProcess,
  type Process,
  type ProcessId,
  type ProcessLog,
  type ProcessState,
} from '@gatehouse/contract'
import type { StoredProcess } from '../ports/process-store.ts'
import type {
  AgentProcesses,
  HostedProcess,
  LogRequest,
  ProcessEnd,
  ProcessFacts,
  ProcessHost,
  ProcessSample,
  ProcessSite,
  RanProcess,
  RunProcess,
} from '../ports/processes.ts'
import type { AgentDirectory } from './agent-directory.ts'
import { actDraft } from './audit-draft.ts'
import type { Call } from './call.ts'
import type { ContextFactory } from './capability-context.ts'
import type { Basics } from './deps.ts'
import type { Op } from './op.ts'
import { sandboxLimitsOf } from './process-limits.ts'
import { logRecord, processRecord, textOf } from './process-record.ts'

/** In the background, and in all, for one agent; and in all for the service. */
const backgroundMax = 8
const runningMax = 16
const allMax = 128
/** Ended ones that an agent can still look at, and for how long. */
const keptMax = 50
const keptMs = 7 * 86_400_000
const lookEveryMs = 1_000
const sweepEveryMs = 600_000
const endGraceMs = 2_000
/** Both streams of an answer together, as JSON: more is cut to this much of each. */
const answerBytesMax = 8 * 1024 * 1024
const cutBytes = 65_536

export type ProcessDeps = Pick<
  Basics,
  'storage' | 'journal' | 'clock' | 'ids' | 'events' | 'log'
> & {
  readonly node: string
  readonly host: ProcessHost
  readonly directory: Pick<AgentDirectory, 'find'>
  readonly contexts: () => ContextFactory
  readonly signal: AbortSignal
}

type Live = {
  stored: StoredProcess
  readonly background: boolean
  readonly hosted: HostedProcess
  /** Once its end is stored. */
  readonly settled: Promise<ProcessEnd>
}

type Filter = {
  readonly agent?: string
  readonly state?: ProcessState
  readonly limit: number
  readonly offset: number
}

type Noted = (facts: Readonly<Record<string, unknown>>) => void

/** The programs that agents run here, and what became of those in the background. */
export class ProcessTable {
  readonly #deps: ProcessDeps
  readonly #live = new Map<string, Live>()
  /** Being started: counted as if they ran. */
  readonly #starting = new Map<string, { readonly agent: string; readonly background: boolean }>()
  #looking: Promise<void> = Promise.resolve()

  constructor(deps: ProcessDeps) {
    this.#deps = deps
  }

  get running(): number {
    return this.#live.size
  }

  /** An agent's own, as one call of it reaches them. */
  of(call: Call, signal: AbortSignal, noted: Noted): AgentProcesses {
    const agent = call.agent.name
    const mine = async (id: string): Promise<Process> => {
      const process = await this.find(id)
      if (process?.agent !== agent) throw new GatehouseError('ProcessNotFound', { process_id: id })
      return process
    }
    return {
      resolve: (request) =>
        this.#deps.host.resolve(this.#siteOf(call), { ...request, network: call.network ?? [] }),
      run: (run) => this.#run(call, run, signal, noted),
      list: (filter) => this.list({ ...definedOf(filter), agent }),
      monitor: async (id) => ({ process: await mine(id), now: this.sample(id) }),
      logs: async (request) => {
        await mine(request.process_id)
        return this.logs(request)
      },
      kill: async (id, how) => {
        await mine(id)
        return this.kill(id, how, `agent ${agent}`)
      },
    }
  }

  async find(id: string): Promise<Process | null> {
    const live = this.#live.get(id)
    if (live) return processRecord(live.stored, live.background, live.hosted)
    const stored = await this.#deps.storage.processes.find(id)
    return stored ? processRecord(stored, true) : null
  }

  /** Runs that somebody waits for first: they are in no store. Then those in the background, newest first. */
  async list({
    agent,
    state,
    limit,
    offset,
  }: Filter): Promise<{ readonly processes: readonly Process[]; readonly total: number }> {
    const waited = [...this.#live.values()]
      .filter((live) => !live.background && (agent ?? live.stored.agent) === live.stored.agent)
      .filter(() => (state ?? 'running') === 'running')
      .map((live) => processRecord(live.stored, false, live.hosted))
      .toReversed()
    const first = waited.slice(offset, offset + limit)
    const { processes, total } = await this.#deps.storage.processes.list({
      ...definedOf({ agent, state }),
      limit: limit - first.length,
      offset: Math.max(0, offset - waited.length),
    })
    const stored = processes.map((one) => processRecord(one, true, this.#live.get(one.id)?.hosted))
    return { processes: [...first, ...stored], total: waited.length + total }
  }

  sample(id: string): ProcessSample | null {
    return this.#live.get(id)?.hosted.sample() ?? null
  }

  async logs(request: LogRequest): Promise<ProcessLog> {
    const { process_id, stream, limit } = request
    const live = this.#live.get(process_id)
    const process = await this.find(process_id)
    if (!process) throw new GatehouseError('ProcessNotFound', { process_id })
    if (!live) await this.#assertHere(process_id)
    const read = (offset: number, bytes: number) =>
      live
        ? live.hosted.read(stream, offset, bytes)
        : this.#deps.host.readKept(process_id, stream, offset, bytes)
    const offset =
      request.offset ?? Math.max(0, (await read(Number.MAX_SAFE_INTEGER, 0)).total_bytes - limit)
    return logRecord({ ...request, offset }, process.state, await read(offset, limit))
  }

  /** Sends the signal, and ends it for good where it is one that ends programs and it does not. */
  async kill(
    process_id: string,
    { signal, force_after_seconds }: KillProcess,
    by: string,
  ): Promise<KilledProcess> {
    const live = this.#live.get(process_id)
    if (!live) {
      const process = await this.find(process_id)
      if (!process) throw new GatehouseError('ProcessNotFound', { process_id })
      if (process.state === 'running') await this.#assertHere(process_id)
      throw new GatehouseError('ProcessNotRunning', { process_id, state: process.state })
    }
    const ends = ['SIGTERM', 'SIGINT', 'SIGKILL', 'SIGQUIT', 'SIGABRT'].includes(signal)
    const killed = (state: ProcessState): KilledProcess => ({
      process_id: process_id as ProcessId,
      state,
      signal_sent: signal,
    })
    if (!ends) {
      live.hosted.signal(signal, null)
      return killed('running')
    }
    const detail = `${signal} by ${by}`
    if (signal === 'SIGKILL') {
      void live.hosted.end(0, detail)
      return killed((await live.settled).state)
    }
    live.hosted.signal(signal, detail)
    const forced = this.#deps.clock.after(
      force_after_seconds * 1000,
      () => void live.hosted.end(0, `${detail}, then SIGKILL`),
    )
    const { state } = await live.settled
    forced[Symbol.dispose]()
    return killed(state)
  }

  /** @SECURITY A revoked agent leaves nothing running (process-table.test.ts). */
  async endAll(agent: string, detail: string): Promise<void> {
    const own = [...this.#live.values()].filter(({ stored }) => stored.agent === agent)
    await Promise.all(own.map(({ hosted }) => hosted.end(endGraceMs, detail)))
  }

  /** What ran when this node died has ended with it. */
  async start(): Promise<void> {
    const { storage, node, clock } = this.#deps
    for (;;) {
      const left = await storage.processes.list({ state: 'running', node, limit: 100, offset: 0 })
      for (const stored of left.processes)
        await storage.processes.update({
          ...stored,
          state: 'interrupted',
          detail: 'the service ended while it ran, and it with the service',
          ended_ms: clock.wall(),
        })
      if (left.processes.length < 100) break
    }
    this.#looking = this.#look()
  }

  async stopped(): Promise<void> {
    await this.#looking
    await Promise.all(
      [...this.#live.values()].map(async ({ hosted, settled }) => {
        await hosted.end(1_000, 'the service stopped')
        await settled
      }),
    )
  }

  async #look(): Promise<void> {
    const { clock, signal, log, directory } = this.#deps
    for (let sinceMs = 0; !signal.aborted; sinceMs += lookEveryMs) {
      try {
        // Another node may have revoked the agent.
        for (const { stored, hosted } of this.#live.values())
          if ((await directory.find(stored.agent))?.status === 'revoked')
            void hosted.end(endGraceMs, 'its agent was revoked')
        if (sinceMs % sweepEveryMs === 0) await this.#sweep()
      } catch (cause) {
        log.error({ err: cause }, 'looking after processes failed')
      }
      await clock.sleep(lookEveryMs, signal)
    }
  }

  async #sweep(): Promise<void> {
    const { storage, node, clock } = this.#deps
    for (const { id } of await storage.processes.listEnded(node, clock.wall() - keptMs, 100))
      await this.#forget(id)
  }

  async #forget(id: string): Promise<void> {
    if (await this.#deps.storage.processes.remove(id)) await this.#deps.host.forget(id)
  }

  /** Its output lies on the machine that ran it. */
  async #assertHere(process_id: string): Promise<void> {
    const stored = await this.#deps.storage.processes.find(process_id)
    if (stored && stored.node !== this.#deps.node)
      throw new GatehouseError('ProcessElsewhere', { process_id, node: stored.node })
  }

  #siteOf({ agent }: Call): ProcessSite {
    return {
      agent: agent.name,
      workspace: agent.workspace,
      mounts: agent.mounts,
      files: this.#deps.contexts().filesOf({ agent }),
    }
  }

  #assertRoom(agent: string, background: boolean): void {
    const all = [
      ...[...this.#live.values()].map((live) => ({ ...live, agent: live.stored.agent })),
      ...this.#starting.values(),
    ]
    const own = all.filter((one) => one.agent === agent)
    const refuse = (limit: number, what: string) => {
      throw new GatehouseError('QuotaExceeded', { limit, what })
    }
    if (all.length >= allMax) refuse(allMax, 'processes of all agents at once')
    if (own.length >= runningMax) refuse(runningMax, 'processes at once')
    if (background && own.filter((one) => one.background).length >= backgroundMax)
      refuse(backgroundMax, 'processes in the background')
  }

  async #run(call: Call, run: RunProcess, signal: AbortSignal, noted: Noted): Promise<RanProcess> {
    const { ids, clock } = this.#deps
    const agent = call.agent.name
    signal.throwIfAborted()
    this.#assertRoom(agent, run.background)
    const id = ids.next('proc')
    this.#starting.set(id, { agent, background: run.background })
    let live: Live
    const startedMs = clock.now()
    try {
      live = await this.#start(call, id, run)
    } finally {
      this.#starting.delete(id)
    }
    const { hosted } = live
    noted({ process_id: id, sandbox: hosted.sandbox })
    if (this.#deps.signal.aborted) void hosted.end(0, 'the service stopped')
    if (run.background) return ranOf(id, null, [], 0)
    const cancel = () => void hosted.end(endGraceMs, 'the call was cancelled')
    signal.addEventListener('abort', cancel, { once: true })
    if (signal.aborted) cancel()
    const end = await live.settled
    signal.removeEventListener('abort', cancel)
    signal.throwIfAborted()
    const pieces = await Promise.all(
      (['stdout', 'stderr'] as const).map((stream) => hosted.read(stream, 0, run.max_output_bytes)),
    )
    return ranOf(id, end, pieces, clock.now() - startedMs)
  }

  async #start(call: Call, id: string, run: RunProcess): Promise<Live> {
    const { storage, host, clock, node } = this.#deps
    const { background, command, args } = run
    const network = call.network ?? []
    const stored: StoredProcess = {
      id,
      agent: call.agent.name,
      node,
      command,
      args_json: JSON.stringify(args),
      working_directory: run.working_directory,
      network_json: JSON.stringify(network),
      sandbox: 'none',
      state: 'running',
      exit_code: null,
      signal: null,
      detail: null,
      stdout_bytes: 0,
      stderr_bytes: 0,
      cpu_ms: null,
      memory_bytes_max: null,
      started_ms: clock.wall(),
      ended_ms: null,
    }
    // On record before it runs, so that whatever happens the agent learns what became of it.
    if (background) await storage.processes.insert(stored)
    try {
      const hosted = await host.start(
        this.#siteOf(call),
        { ...run, network },
        {
          id,
          approved: (call.resolved as ProcessFacts | undefined) ?? null,
          stdin: run.stdin === undefined ? null : Buffer.from(run.stdin),
          limits: sandboxLimitsOf(run),
          timeout_ms: run.timeout_seconds * 1000,
          output: background
            ? { keeps: 'ring' }
            : { keeps: 'head', bytes_max: run.max_output_bytes },
        },
      )
      const { sandbox, working_directory } = hosted
      const started = { ...stored, sandbox, working_directory }
      const live: Live = {
        stored: started,
        background,
        hosted,
        settled: hosted.exited.then((end) => this.#settle(id, end)),
      }
      this.#live.set(id, live)
      if (background) await storage.processes.update(started)
      return live
    } catch (error) {
      if (background)
        await storage.processes.update({ ...stored, state: 'killed', ended_ms: clock.wall() })
      if (background) await this.#forget(id)
      throw error
    }
  }

  async #settle(id: string, end: ProcessEnd): Promise<ProcessEnd> {
    const live = this.#live.get(id)
    if (!live) return end
    const { clock, journal, events, log } = this.#deps
    const { stored, background, hosted } = live
    const next: StoredProcess = {
      ...stored,
      state: end.state,
      exit_code: end.exit_code,
      signal: end.signal,
      detail: end.detail,
      stdout_bytes: hosted.written('stdout'),
      stderr_bytes: hosted.written('stderr'),
      cpu_ms: end.usage.cpu_ms,
      memory_bytes_max: end.usage.memory_bytes_max,
      ended_ms: clock.wall(),
    }
    try {
      if (background) {
        const { agent } = stored
        const { state, exit_code, signal, detail } = next
        await journal.transaction(async (tx) => {
          await tx.processes.update(next)
          const facts = { process_id: id, state, exit_code, signal }
          tx.append(
            actDraft(systemOp(this.#deps), 'process.ended', {
              agent,
              arguments: facts,
              ...(detail === null ? {} : { detail: { detail } }),
            }),
          )
        })
        events.publish({
          type: 'process.ended',
          agent,
          data: { process_id: id, state, exit_code },
        })
        await this.#forgetOldest(agent)
      }
    } catch (cause) {
      log.error({ err: cause, process_id: id }, 'how a process ended could not be stored')
    } finally {
      this.#live.delete(id)
    }
    return end
  }

  async #forgetOldest(agent: string): Promise<void> {
    const { processes } = await this.#deps.storage.processes.list({
      agent,
      limit: 100,
      offset: keptMax,
    })
    for (const { id, state } of processes) if (state !== 'running') await this.#forget(id)
  }
}

const systemOp = ({ ids, signal }: Pick<ProcessDeps, 'ids' | 'signal'>): Op => ({
  actor: { kind: 'system' },
  request_id: ids.next('req'),
  session_id: null,
  signal,
})

/** Leaves out what is not set, as stores want it. */
const definedOf = <T extends object>(given: T) =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>
  }

type Piece = { readonly bytes: Uint8Array; readonly total_bytes: number }

const ranOf = (
  process_id: string,
  end: ProcessEnd | null,
  pieces: readonly Piece[],
  duration_ms: number,
): RanProcess => {
  let texts = pieces.map(({ bytes }) => textOf(bytes).text)
  let truncated = pieces.some(({ bytes, total_bytes }) => bytes.length < total_bytes)
  if (Buffer.byteLength(JSON.stringify(texts)) > answerBytesMax) {
    texts = pieces.map(({ bytes }) => textOf(bytes.subarray(0, cutBytes)).text)
    truncated = true
  }
  const [stdout = '', stderr = ''] = texts
  return {
    process_id,
    state: end?.state ?? 'running',
    exit_code: end?.exit_code ?? null,
    signal: end?.signal ?? null,
    stdout,
    stderr,
    truncated,
    duration_ms,
    resource_usage: {
      cpu_ms: end?.usage.cpu_ms ?? null,
      memory_bytes_max: end?.usage.memory_bytes_max ?? null,
    },
  }
}
