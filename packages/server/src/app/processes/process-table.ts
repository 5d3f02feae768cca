import {
  GatehouseError,
  type KilledProcess,
  type KillProcess,
  type Process,
  type ProcessId,
  type ProcessLog,
  type ProcessState,
} from '@gatehouse/contract'
import type {
  AgentProcesses,
  LogRequest,
  ProcessSample,
  RanProcess,
  RunProcess,
} from '../../ports/processes.ts'
import type { Call } from '../call/call.ts'
import { PollLoop } from '../call/poll-loop.ts'
import { ForeignPrograms } from './foreign-programs.ts'
import { allMax, LiveProcesses, type ProcessDeps } from './live-processes.ts'
import { logRecord, processRecord } from './process-record.ts'
import { toRunAnswer } from './ran-process.ts'

/** How long an agent can look at one that ended. */
const keptMs = 7 * 86_400_000
const lookEveryMs = 1_000
const sweepEveryMs = 600_000
const endGraceMs = 2_000

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
  readonly #live: LiveProcesses
  readonly #others: ForeignPrograms
  readonly #polling: readonly PollLoop[]

  constructor(deps: ProcessDeps) {
    this.#deps = deps
    this.#live = new LiveProcesses(deps)
    this.#others = new ForeignPrograms(deps.gates)
    this.#answerOthers()
    this.#polling = [
      new PollLoop(deps, {
        name: 'looking for revoked agents',
        everyMs: lookEveryMs,
        look: () => this.#endRevoked(),
      }),
      new PollLoop(deps, {
        name: 'looking after ended processes',
        everyMs: sweepEveryMs,
        look: () => this.#sweep(),
      }),
    ]
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
        this.#deps.host.resolve(this.#live.siteOf(call), {
          ...request,
          network: call.network ?? [],
        }),
      launch: (asked) => this.#launch(call, asked, signal, noted),
      list: (filter) => this.list({ ...dropUndefined(filter), agent }),
      monitor: async (id) => {
        const process = await mine(id)
        return { process, now: process.state === 'running' ? await this.#sample(id) : null }
      },
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
    const mayRunThere = !stored || (stored.state === 'running' && stored.node !== this.#deps.node)
    const there = mayRunThere ? await this.#others.ask('show program', id) : null
    return there ?? (stored ? processRecord(stored, true) : null)
  }

  /** Runs that somebody waits for first: they are in no store. Then those in the background, newest first. */
  async list({
    agent,
    state,
    limit,
    offset,
  }: Filter): Promise<{ readonly processes: readonly Process[]; readonly total: number }> {
    const filter = dropUndefined({ agent, state })
    const waited = [...this.#waited(filter), ...(await this.#others.waited(filter))]
    const first = waited.slice(offset, offset + limit)
    const { processes, total } = await this.#deps.storage.processes.list({
      ...filter,
      limit: limit - first.length,
      offset: Math.max(0, offset - waited.length),
    })
    const stored = processes.map((one) => processRecord(one, true, this.#live.get(one.id)?.hosted))
    return { processes: [...first, ...stored], total: waited.length + total }
  }

  async logs(request: LogRequest): Promise<ProcessLog> {
    const { process_id } = request
    const read =
      (await this.#logsHere(request)) ?? (await this.#others.ask('program output', request))
    if (read) return read
    await this.#assertHere(process_id)
    throw new GatehouseError('ProcessNotFound', { process_id })
  }

  /** Sends the signal, and ends it for good where it is one that ends programs and it does not. */
  async kill(
    process_id: string,
    { signal, force_after_seconds }: KillProcess,
    by: string,
  ): Promise<KilledProcess> {
    const how = { signal, force_after_seconds }
    const here = await this.#killHere(process_id, how, by)
    if (here) return here
    const process = await this.find(process_id)
    if (!process) throw new GatehouseError('ProcessNotFound', { process_id })
    if (process.state === 'running') {
      const there = await this.#others.ask('end program', { process_id, how, by })
      if (there) return there
      await this.#assertHere(process_id)
    }
    throw new GatehouseError('ProcessNotRunning', { process_id, state: process.state })
  }

  /** @SECURITY A revoked agent leaves nothing running (process-background.test.ts). */
  async endAll(agent: string, detail: string): Promise<void> {
    const own = this.#live.all().filter(({ stored }) => stored.agent === agent)
    await Promise.all(own.map(({ hosted }) => hosted.end(endGraceMs, detail)))
  }

  /** Programs that ran when this node died have ended with it. Others may run already: calls are taken before this. */
  async start(): Promise<void> {
    const { storage, node, clock } = this.#deps
    // A page of more than can run here has one that ended, if any is left.
    const running = { state: 'running', node, limit: 2 * allMax, offset: 0 } as const
    for (;;) {
      const { processes } = await storage.processes.list(running)
      const left = processes.filter(({ id }) => !this.#live.has(id))
      if (left.length === 0) break
      for (const stored of left)
        await storage.processes.update({
          ...stored,
          state: 'interrupted',
          detail: 'the service ended while it ran, and it with the service',
          ended_ms: clock.wall(),
        })
    }
    for (const loop of this.#polling) loop.start()
  }

  async stopped(): Promise<void> {
    await Promise.all(this.#polling.map((loop) => loop.stopped()))
    await Promise.all(
      this.#live.all().map(async ({ hosted, recorded }) => {
        await hosted.end(1_000, 'the service stopped')
        await recorded
      }),
    )
  }

  /** Another node may have revoked the agent. */
  async #endRevoked(): Promise<void> {
    for (const { stored, hosted } of this.#live.all())
      if ((await this.#deps.directory.find(stored.agent))?.status === 'revoked')
        void hosted.end(endGraceMs, 'its agent was revoked')
  }

  async #sweep(): Promise<void> {
    const { storage, node, clock } = this.#deps
    for (const { id } of await storage.processes.listEnded(node, clock.wall() - keptMs, 100))
      await this.#live.forget(id)
  }

  /** Output lies on the machine that ran the program. */
  async #assertHere(process_id: string): Promise<void> {
    const stored = await this.#deps.storage.processes.find(process_id)
    if (stored && stored.node !== this.#deps.node)
      throw new GatehouseError('ProcessElsewhere', { process_id, node: stored.node })
  }

  /** Answers about the programs of this gate process, for the others. */
  #answerOthers(): void {
    const { gates } = this.#deps
    if (!gates) return
    gates.answer('waited programs', async (filter) => this.#waited(filter))
    gates.answer('show program', async (id) => {
      const live = this.#live.get(id)
      return live ? processRecord(live.stored, live.background, live.hosted) : null
    })
    gates.answer('sample program', async (id) => this.#live.get(id)?.hosted.sample() ?? null)
    gates.answer('program output', (request) => this.#logsHere(request))
    gates.answer('end program', ({ process_id, how, by }) => this.#killHere(process_id, how, by))
  }

  #waited({ agent, state }: Pick<Filter, 'agent' | 'state'>): readonly Process[] {
    return this.#live
      .all()
      .filter((live) => !live.background && (agent ?? live.stored.agent) === live.stored.agent)
      .filter(() => (state ?? 'running') === 'running')
      .map((live) => processRecord(live.stored, false, live.hosted))
      .toReversed()
  }

  async #sample(id: string): Promise<ProcessSample | null> {
    const live = this.#live.get(id)
    return live ? live.hosted.sample() : await this.#others.ask('sample program', id)
  }

  /** Null for a program that another process runs or ran. */
  async #logsHere(request: LogRequest): Promise<ProcessLog | null> {
    const { process_id, stream, limit } = request
    const { host, node, storage } = this.#deps
    const live = this.#live.get(process_id)
    const stored = live?.stored ?? (await storage.processes.find(process_id))
    if (!stored || (!live && stored.node !== node)) return null
    const read = (offset: number, bytes: number) =>
      live
        ? live.hosted.read(stream, offset, bytes)
        : host.readKept(process_id, stream, offset, bytes)
    const offset =
      request.offset ?? Math.max(0, (await read(Number.MAX_SAFE_INTEGER, 0)).total_bytes - limit)
    return logRecord({ ...request, offset }, stored.state, await read(offset, limit))
  }

  /** Null for a program that does not run in this process. */
  async #killHere(
    process_id: string,
    { signal, force_after_seconds }: KillProcess,
    by: string,
  ): Promise<KilledProcess | null> {
    const live = this.#live.get(process_id)
    if (!live) return null
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
      return killed((await live.recorded).state)
    }
    live.hosted.signal(signal, detail)
    const forced = this.#deps.clock.after(
      force_after_seconds * 1000,
      () => void live.hosted.end(0, `${detail}, then SIGKILL`),
    )
    const { state } = await live.recorded
    forced[Symbol.dispose]()
    return killed(state)
  }

  async #launch(
    call: Call,
    asked: RunProcess,
    signal: AbortSignal,
    noted: Noted,
  ): Promise<RanProcess> {
    const { ids } = this.#deps
    signal.throwIfAborted()
    const id = ids.next('proc')
    const live = await this.#live.begin(call, id, asked)
    const { hosted } = live
    noted({ process_id: id, sandbox: hosted.sandbox })
    if (this.#deps.signal.aborted) void hosted.end(0, 'the service stopped')
    if (asked.background) return toRunAnswer(id, null, [])
    const cancel = () => void hosted.end(endGraceMs, 'the call was cancelled')
    signal.addEventListener('abort', cancel, { once: true })
    if (signal.aborted) cancel()
    const end = await live.recorded
    signal.removeEventListener('abort', cancel)
    if (end.refused_hosts.length > 0) noted({ refused_hosts: end.refused_hosts })
    signal.throwIfAborted()
    const pieces = await Promise.all(
      (['stdout', 'stderr'] as const).map((stream) =>
        hosted.read(stream, 0, asked.max_output_bytes),
      ),
    )
    return toRunAnswer(id, end, pieces)
  }
}

/** Leaves out what is not set, as stores want it. */
const dropUndefined = <T extends object>(given: T) =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>
  }
