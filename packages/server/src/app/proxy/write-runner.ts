import type { StoredWrite } from '../../ports/writes.ts'
import { actDraft } from '../call/audit-draft.ts'
import { systemOp } from '../call/op.ts'
import { PollLoop } from '../call/poll-loop.ts'
import { leaseAfter } from './attempt.ts'
import { writeFacts } from './buffer-write.ts'
import type { ProxyDeps } from './deps.ts'
import { proveWrite } from './prove-write.ts'
import { runWrite } from './run-write.ts'

const lookAgainMs = 500
/** Other nodes tell what they store; this finds what went unheard. */
const otherNodesMs = 2_000
const sweepEveryMs = 60_000
const keptMs = 30 * 86_400_000

/**
 * Runs writes when their time comes: of each service one at a time, in the order they are due, so that a
 * slow service holds up its own only. The claim is durable before anything begins.
 */
export class WriteRunner {
  readonly #deps: ProxyDeps
  readonly #polling: PollLoop
  /** By service. */
  readonly #running = new Map<string, { readonly id: string; readonly done: Promise<void> }>()
  readonly #proving = new Map<string, Promise<void>>()
  #sweptMs = -Infinity

  constructor(deps: ProxyDeps) {
    this.#deps = deps
    this.#polling = new PollLoop(deps, {
      name: 'looking for due writes',
      everyMs: lookAgainMs,
      follows: ['writes', 'services'],
      look: () => this.#look(),
    })
  }

  nudge(): void {
    this.#polling.nudge()
  }

  /** At start what this node held was lost by its last run, and nothing of it can still arrive. */
  async start(): Promise<void> {
    await this.#takeLost(this.#deps.node)
    this.#polling.start()
  }

  async stopped(): Promise<void> {
    await this.#polling.stopped()
    await Promise.all([...this.#running.values()].map(({ done }) => done))
    await Promise.all(this.#proving.values())
  }

  async #look(): Promise<number> {
    await this.#takeLost()
    const nextMs = await this.#claimDue()
    await this.#sweep()
    const atLatestMs = this.#deps.storage.isShared ? otherNodesMs : lookAgainMs
    return Math.min(atLatestMs, Math.max(1, nextMs - this.#deps.clock.now()))
  }

  /** Begins what is due, and says when the next one is. */
  async #claimDue(): Promise<number> {
    const { storage, clock, node, signal, opened, draining } = this.#deps
    if (draining?.()) return Infinity
    const services = (await storage.services.list()).filter(
      ({ name, status }) => status !== 'disconnected' && !this.#running.has(name),
    )
    const names = services.map(({ name }) => name)
    const dueMs = clock.now()
    // Reading first costs a lookup; a claim costs a place among the writers.
    const nextMs = (await storage.writes.nextDue(names)) ?? Infinity
    if (nextMs > dueMs) return nextMs
    for (const { name, kind } of services) {
      if (signal.aborted) break
      const seconds = Math.max(...opened.adapterOf(kind).operations.map((o) => o.timeout_seconds))
      const [write] = await storage.writes.claim({
        services: [name],
        owner: node,
        dueMs,
        leaseMs: leaseAfter(this.#deps, seconds),
        limit: 1,
      })
      if (write) this.#run(write)
    }
    // A write that ends nudges, and others of the same service wait for that.
    return Infinity
  }

  #run(write: StoredWrite): void {
    const done = runWrite(this.#deps, write)
      .catch((cause: unknown) => {
        // The write stays as it is until its lease ends; then it is taken up from there.
        this.#deps.log.error({ err: cause, write_id: write.id }, 'a write could not be finished')
      })
      .finally(() => {
        this.#running.delete(write.service)
        this.nudge()
      })
    this.#running.set(write.service, { id: write.id, done })
  }

  /**
   * Writes whose run died. @SECURITY Only what was not sent yet is put back; the rest is never sent again
   * unless it is proven that nothing happened; test/proxy/steps.test.ts.
   */
  async #takeLost(owner?: string): Promise<void> {
    const { storage, clock } = this.#deps
    const nowMs = clock.now()
    const lost = await storage.writes.listLost({ nowMs, limit: 100, ...(owner ? { owner } : {}) })
    const busy = new Set([...this.#running.values()].map(({ id }) => id))
    for (const write of lost) {
      if (busy.has(write.id) || this.#proving.has(write.id)) continue
      if (write.phase === 'capturing') {
        await this.#putBack(write)
        continue
      }
      const doubt = {
        repeatable: write.phase === 'proving' || owner !== undefined,
        reason: { detail: 'the service stopped while it was sent' },
      }
      const proving = proveWrite(this.#deps, write, doubt)
        .catch((cause: unknown) => {
          this.#deps.log.error({ err: cause, write_id: write.id }, 'a write could not be looked up')
        })
        .finally(() => {
          this.#proving.delete(write.id)
          this.nudge()
        })
      this.#proving.set(write.id, proving)
    }
  }

  async #putBack(write: StoredWrite): Promise<void> {
    const { auditLog, clock } = this.#deps
    await auditLog.transaction(async (tx) => {
      const next: StoredWrite = {
        ...write,
        status: 'buffered',
        phase: null,
        owner: null,
        lease_ms: null,
        due_ms: clock.now(),
      }
      if (await tx.writes.replace(write, next))
        tx.append(actDraft(systemOp(this.#deps), 'write.put_back', writeFacts(next)))
    })
  }

  async #sweep(): Promise<void> {
    const { storage, clock } = this.#deps
    if (clock.now() - this.#sweptMs < sweepEveryMs) return
    this.#sweptMs = clock.now()
    await storage.transaction(async (tx) => {
      await tx.rollbacks.expire(clock.now())
      await tx.writes.prune(clock.wall() - keptMs)
    })
  }
}
