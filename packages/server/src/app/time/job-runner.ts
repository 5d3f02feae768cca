import { GatehouseError } from '@gatehouse/contract'
import { failureOf } from '../../domain/failure.ts'
import type { StoredJob } from '../../ports/jobs.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import { systemOp } from '../call/op.ts'
import { PollLoop } from '../call/poll-loop.ts'
import { untilStored } from '../call/until-stored.ts'
import type { JobKind, JobVerdict } from './job-kind.ts'

type Deps = Pick<Basics, 'storage' | 'auditLog' | 'clock' | 'ids' | 'log'> & {
  /** Names this node: what it holds when it starts was lost by its last run. */
  readonly node: string
  /** Begins nothing while it says so. */
  readonly draining?: () => boolean
  /** Folders of workspaces that other nodes have, and serve: jobs of their agents run there. */
  readonly awaySites?: () => readonly string[]
  readonly signal: AbortSignal
}

/** Jobs of this node at a time. Most wait for something else: a request costs little more than memory. */
const atOnce = 8
const lookAgainMs = 500
/** Other nodes tell what they store; this finds what went unheard. */
const otherNodesMs = 2_000
const leaseMs = 60_000
const renewEveryMs = 20_000
const backOffMs = 5_000
const backOffMaxMs = 15 * 60_000

const waitAfter = (attempts: number): number =>
  Math.min(backOffMs * 2 ** Math.max(0, attempts - 1), backOffMaxMs)

const failureText = (cause: unknown): object => ({
  error:
    cause instanceof GatehouseError
      ? failureOf(cause)
      : { type: 'InternalError', message: 'The run failed unexpectedly.', recovery: [] },
})

/**
 * Performs what is due, each job at one place at a time. A claim is durable before the work begins, so a
 * job of a kind that may not be repeated runs at most once, also across a crash.
 */
export class JobRunner {
  readonly #deps: Deps
  readonly #polling: PollLoop
  readonly #kinds: ReadonlyMap<string, JobKind>
  readonly #running = new Map<string, Promise<void>>()
  #renewedMs = 0

  constructor(deps: Deps, kinds: readonly JobKind[]) {
    this.#deps = deps
    this.#polling = new PollLoop(deps, {
      name: 'looking for due jobs',
      everyMs: lookAgainMs,
      follows: ['jobs'],
      look: async () => {
        await this.#keepLeases()
        return await this.#claimDue()
      },
    })
    this.#kinds = new Map(kinds.map((kind) => [kind.kind, kind]))
  }

  /** Looks at once: a job was stored that may be due before the next look. */
  nudge(): void {
    this.#polling.nudge()
  }

  /** At start: reports what this node was running when it died, then begins to look for what is due. */
  async start(): Promise<void> {
    await this.#reportLost(this.#deps.node)
    this.#renewedMs = this.#deps.clock.now()
    this.#polling.start()
  }

  /** Resolves when nothing is under way any more; the signal must have aborted. */
  async stopped(): Promise<void> {
    await this.#polling.stopped()
    await Promise.all(this.#running.values())
  }

  /** Begins what is due, and says how long it is until the next look. */
  async #claimDue(): Promise<number> {
    const { storage, clock, node, signal, draining, awaySites } = this.#deps
    const quietMs = storage.isShared ? otherNodesMs : lookAgainMs
    if (draining?.()) return quietMs
    const kinds = [...this.#kinds.keys()]
    const free = atOnce - this.#running.size
    const dueMs = clock.wall()
    // Reading first costs a lookup; a claim costs a place among the writers.
    if (free <= 0 || signal.aborted) return quietMs
    const wanted = { kinds, awaySites: awaySites?.() ?? [] }
    const nextMs = (await storage.jobs.nextDue(wanted)) ?? Infinity
    if (nextMs > dueMs) return Math.min(quietMs, nextMs - dueMs)
    const claimed = await storage.jobs.claim({
      ...wanted,
      owner: node,
      dueMs,
      leaseMs: clock.now() + leaseMs,
      limit: free,
    })
    for (const job of claimed) {
      const run = this.#perform(job).finally(() => {
        this.#running.delete(job.id)
        this.nudge()
      })
      this.#running.set(job.id, run)
    }
    return lookAgainMs
  }

  async #perform(job: StoredJob): Promise<void> {
    const { log, signal } = this.#deps
    const kind = this.#kinds.get(job.kind)
    let verdict: JobVerdict | { readonly kind: 'threw'; readonly outcome: object }
    try {
      verdict = (await kind?.perform(job, signal)) ?? { kind: 'again', outcome: {} }
    } catch (cause) {
      log.error({ err: cause, job_id: job.id, kind: job.kind }, 'a job failed unexpectedly')
      verdict = { kind: kind?.repeatable ? 'again' : 'threw', outcome: failureText(cause) }
    }
    const next = this.#after(job, verdict)
    await this.#finish(job, next)
    kind?.ended?.(next)
  }

  #after(
    job: StoredJob,
    verdict: JobVerdict | { readonly kind: 'threw'; readonly outcome: object },
  ): StoredJob {
    const nowMs = this.#deps.clock.wall()
    const outcome_json = JSON.stringify(verdict.outcome)
    const left = { ...job, owner: null, lease_ms: null, outcome_json }
    if (verdict.kind === 'again' && job.attempts < job.attempts_max)
      return {
        ...left,
        state: 'waiting',
        due_ms: nowMs + (verdict.afterMs ?? waitAfter(job.attempts)),
      }
    const state = { done: 'done', again: 'dead', threw: 'interrupted' } as const
    return { ...left, state: state[verdict.kind], finished_ms: nowMs }
  }

  /** A run that happened is stored as ended as soon as the store takes it. */
  async #finish(job: StoredJob, next: StoredJob): Promise<void> {
    const { storage, log } = this.#deps
    const facts = { job_id: job.id }
    const store = async (): Promise<void> => {
      const isInterrupted = next.state === 'interrupted'
      if (await (isInterrupted ? this.#storeLoss(job, next) : storage.jobs.replace(job, next)))
        return
      // Cancelling takes a run away before its end, and is meant to.
      const level = (await storage.jobs.find(job.id))?.state === 'cancelled' ? 'debug' : 'warn'
      log[level](facts, 'a job ended after somebody else had taken it')
    }
    await untilStored(this.#deps, store, { facts, message: 'the end of a job could not be stored' })
  }

  async #keepLeases(): Promise<void> {
    const { storage, clock, node } = this.#deps
    const nowMs = clock.now()
    if (nowMs - this.#renewedMs < renewEveryMs) return
    this.#renewedMs = nowMs
    await storage.jobs.renew([...this.#running.keys()], node, nowMs + leaseMs)
    await this.#reportLost()
  }

  /**
   * Reports runs that died: those this node held before it started, and those whose lease ended.
   * @SECURITY One that may not be repeated is never put back; scheduler.test.ts fails without it.
   */
  async #reportLost(owner?: string): Promise<void> {
    const { storage, clock } = this.#deps
    const nowMs = clock.now()
    const lost = await storage.jobs.listLost({ nowMs, limit: 1_000, ...(owner ? { owner } : {}) })
    for (const job of lost) {
      const kind = this.#kinds.get(job.kind)
      // Jobs of another runner, or of a version that knew more kinds, are not ours to report.
      if (!kind || this.#running.has(job.id)) continue
      const repeats = kind.repeatable && job.attempts < job.attempts_max
      const left = { ...job, owner: null, lease_ms: null }
      const wallMs = clock.wall()
      const next: StoredJob = repeats
        ? {
            ...left,
            state: 'waiting',
            due_ms: wallMs + (kind.afterLossMs ?? waitAfter(job.attempts)),
          }
        : { ...left, state: kind.repeatable ? 'dead' : 'interrupted', finished_ms: wallMs }
      await this.#storeLoss(job, next)
    }
  }

  /** Stores and records a run whose end nobody knows, with what should follow it. False where somebody else had taken it. */
  #storeLoss(job: StoredJob, next: StoredJob): Promise<boolean> {
    const repeats = next.state === 'waiting'
    return this.#deps.auditLog.transaction(async (tx) => {
      if (!(await tx.jobs.replace(job, next))) return false
      if (!repeats) await this.#kinds.get(job.kind)?.lost?.(tx, job)
      const { id: job_id, kind, subject, agent } = job
      const facts = { agent, arguments: { job_id, kind, subject }, result: 'error' } as const
      tx.append(actDraft(systemOp(this.#deps), repeats ? 'job.repeated' : 'job.interrupted', facts))
      return true
    })
  }
}
