import { GatehouseError } from '@gatehouse/contract'
import type { Gates } from '../../ports/gates.ts'
import type { StoredProcess } from '../../ports/process-store.ts'
import type {
  HostedProcess,
  ProcessEnd,
  ProcessFacts,
  ProcessHost,
  ProcessSite,
  RunProcess,
} from '../../ports/processes.ts'
import type { AgentDirectory } from '../agents/agent-directory.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import type { Call } from '../call/call.ts'
import type { ContextFactory } from '../call/capability-context.ts'
import { systemOp } from '../call/op.ts'
import { untilStored } from '../call/until-stored.ts'
import { sandboxLimitsOf } from './process-limits.ts'
import { commandFacts } from './process-record.ts'

/** In the background, and in all, for one agent; and in all for the service. */
const backgroundMax = 8
const runningMax = 16
export const allMax = 128
/** Ended ones that an agent can still look at. */
const keptMax = 50

export type ProcessDeps = Pick<
  Basics,
  'storage' | 'auditLog' | 'clock' | 'ids' | 'events' | 'log'
> & {
  readonly gates: Gates | null
  readonly node: string
  readonly host: ProcessHost
  readonly directory: Pick<AgentDirectory, 'find'>
  readonly contexts: ContextFactory
  readonly signal: AbortSignal
}

/** Program that runs here. */
export type Live = {
  stored: StoredProcess
  readonly background: boolean
  readonly hosted: HostedProcess
  /** Once its end is stored. */
  readonly recorded: Promise<ProcessEnd>
}

/** The programs that run in this process of the service: how many there may be, their start and their end. */
export class LiveProcesses {
  readonly #deps: ProcessDeps
  readonly #live = new Map<string, Live>()
  /** Being started: counted as if they ran. */
  readonly #starting = new Map<string, { readonly agent: string; readonly background: boolean }>()

  constructor(deps: ProcessDeps) {
    this.#deps = deps
  }

  get size(): number {
    return this.#live.size
  }

  get(id: string): Live | undefined {
    return this.#live.get(id)
  }

  /** Whether it runs here or is being started. */
  has(id: string): boolean {
    return this.#live.has(id) || this.#starting.has(id)
  }

  all(): readonly Live[] {
    return [...this.#live.values()]
  }

  /** Raises `QuotaExceeded` where there is no room for one more. */
  async begin(call: Call, id: string, asked: RunProcess): Promise<Live> {
    const agent = call.agent.name
    this.#assertRoom(agent, asked.background)
    this.#starting.set(id, { agent, background: asked.background })
    try {
      return await this.#start(call, id, asked)
    } finally {
      this.#starting.delete(id)
    }
  }

  /** Whether it was one that had ended. */
  async forget(id: string): Promise<void> {
    if (await this.#deps.storage.processes.remove(id)) await this.#deps.host.forget(id)
  }

  /** The folders of whoever calls. */
  siteOf(call: Call): ProcessSite {
    const { agent } = call
    const contexts = this.#deps.contexts
    const reachable = contexts.reachableOf(call)
    return {
      agent: agent.name,
      workspace: agent.workspace,
      mounts: agent.mounts,
      files: contexts.filesOf(call),
      permits: (place) => reachable.permits(place),
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

  async #start(call: Call, id: string, asked: RunProcess): Promise<Live> {
    const { storage, host, clock, node } = this.#deps
    const { background, command, args } = asked
    const network = call.network ?? []
    const stored: StoredProcess = {
      id,
      agent: call.agent.name,
      node,
      command,
      args_json: JSON.stringify(args),
      working_directory: asked.working_directory,
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
        this.siteOf(call),
        { ...asked, network },
        {
          id,
          approved: (call.resolved as ProcessFacts | undefined) ?? null,
          stdin: asked.stdin === undefined ? null : Buffer.from(asked.stdin),
          limits: sandboxLimitsOf(asked),
          timeout_ms: asked.timeout_seconds * 1000,
          output: background
            ? { keeps: 'ring' }
            : { keeps: 'head', bytes_max: asked.max_output_bytes },
        },
      )
      const { sandbox, working_directory } = hosted
      const started = { ...stored, sandbox, working_directory }
      const live: Live = {
        stored: started,
        background,
        hosted,
        recorded: hosted.exited.then((end) => this.#recordEnd(id, end)),
      }
      this.#live.set(id, live)
      if (background)
        await storage.processes.update(started).catch(async (cause: unknown) => {
          // Without its record nobody would learn the program's id.
          await hosted.end(0, 'it could not be recorded')
          throw cause
        })
      return live
    } catch (error) {
      if (background) {
        const gone = { ...stored, state: 'killed', ended_ms: clock.wall() } as const
        await storage.processes.update(gone).catch(() => false)
        await this.forget(id).catch(() => {})
      }
      throw error
    }
  }

  async #recordEnd(id: string, end: ProcessEnd): Promise<ProcessEnd> {
    const live = this.#live.get(id)
    if (!live) return end
    const { clock } = this.#deps
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
    if (background) await this.#record(next, end)
    this.#live.delete(id)
    return end
  }

  /** The end is stored as soon as the log takes it, however long that takes. */
  async #record(ended: StoredProcess, { refused_hosts }: ProcessEnd): Promise<void> {
    const { auditLog, events, log } = this.#deps
    const { id, agent, state, exit_code, signal, detail } = ended
    const facts = commandFacts(ended)
    const draft = actDraft(systemOp(this.#deps), 'process.ended', {
      agent,
      arguments: { process_id: id, ...facts, state, exit_code, signal },
      detail: {
        ...(detail === null ? {} : { detail }),
        ...(refused_hosts.length > 0 ? { refused_hosts } : {}),
      },
    })
    const store = () =>
      auditLog.transaction(async (tx) => {
        await tx.processes.update(ended)
        tx.append(draft)
      })
    const message = 'how a process ended could not be stored yet'
    // If not, the next start finds it running, and calls it interrupted.
    if (!(await untilStored(this.#deps, store, { facts: { process_id: id }, message }))) return
    const data = { process_id: id, ...facts, state, exit_code }
    events.publish({ type: 'process.ended', agent, data })
    await this.#forgetOldest(agent).catch((cause: unknown) =>
      log.error({ err: cause, agent }, 'old processes could not be forgotten'),
    )
  }

  async #forgetOldest(agent: string): Promise<void> {
    const { processes } = await this.#deps.storage.processes.list({
      agent,
      limit: 100,
      offset: keptMax,
    })
    for (const { id, state } of processes) if (state !== 'running') await this.forget(id)
  }
}
