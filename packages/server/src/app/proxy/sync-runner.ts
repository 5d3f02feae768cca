import type { ServiceSync } from '@gatehouse/contract'
import type { StoredService } from '../../ports/services.ts'
import { Hearers } from '../call/hearers.ts'
import { systemOp } from '../call/op.ts'
import { PollLoop } from '../call/poll-loop.ts'
import { raiseAlert, resolveAlerts } from '../supervision/alerts.ts'
import type { ProxyDeps } from './deps.ts'
import { dropReplica } from './drop-replica.ts'
import { Listeners } from './listeners.ts'
import { syncRecord } from './records.ts'
import { syncService } from './sync-service.ts'

const lookAgainMs = 1_000
/** Time that a service fails before people are told, or after so many failures: a short cut is none of theirs. */
const alertAfterMs = 5 * 60_000
const alertAfterFailures = 3

export const alertKey = (name: string): string => `system:service:${name}`

/** Fields of a service that people are told of as they change. */
const told = [
  'status',
  'reason',
  'failing_since_ms',
  'last_sync_ms',
  'next_sync_ms',
  'progress_json',
] as const satisfies readonly (keyof StoredService)[]

/** Keeps the replicas up to date: each service by one node, again and again, and later where it fails. */
export class SyncRunner {
  readonly #deps: ProxyDeps
  readonly #polling: PollLoop
  readonly #running = new Map<string, Promise<void>>()
  /** Services that were due at a look while the run before was not over yet. */
  readonly #passedOver = new Set<string>()
  readonly #listeners: Listeners
  #dropped: Promise<void> = Promise.resolve()
  #services: readonly StoredService[] = []
  readonly #hearers = new Hearers<ServiceSync>()

  constructor(deps: ProxyDeps) {
    this.#deps = deps
    this.#polling = new PollLoop(deps, {
      name: 'looking after services',
      everyMs: lookAgainMs,
      look: () => this.#look(),
    })
    this.#listeners = new Listeners(deps, () => this.nudge())
  }

  nudge(): void {
    this.#polling.nudge()
  }

  /** As they were at the last look: for health, which must not wait. */
  services(): readonly StoredService[] {
    return this.#services
  }

  /** Tells of each service that is another than at the last look, whichever node reads it. */
  subscribe(hear: (sync: ServiceSync) => void): Disposable {
    return this.#hearers.add(hear)
  }

  async start(): Promise<void> {
    this.#services = await this.#deps.storage.services.list()
    this.#dropped = this.#dropLeft().catch((cause: unknown) => {
      this.#deps.log.error({ err: cause }, 'what services left behind could not be dropped')
    })
    this.#polling.start()
  }

  async stopped(): Promise<void> {
    await this.#polling.stopped()
    await this.#listeners.stopped()
    await Promise.all(this.#running.values())
  }

  async #look(): Promise<void> {
    await this.#dropped
    await this.#syncDue()
    this.#listeners.follow(this.#services)
    for (const service of this.#services) await this.#warn(service)
  }

  async #syncDue(): Promise<void> {
    const { storage, clock, log, draining } = this.#deps
    this.#take(await storage.services.list())
    if (draining?.()) return
    const nowMs = clock.now()
    for (const service of this.#services) {
      const { name, status, next_sync_ms } = service
      if (status === 'disconnected') continue
      if (next_sync_ms > nowMs && !this.#listeners.hasNews(service)) continue
      if (this.#running.has(name)) {
        this.#passedOver.add(name)
        continue
      }
      this.#listeners.begins(name)
      const run = syncService(this.#deps, name)
        .catch((cause: unknown) => {
          log.error({ err: cause, service: name }, 'a sync ended unexpectedly')
          return false
        })
        .then((went) => {
          this.#listeners.ended(name, went)
          this.#running.delete(name)
          if (this.#passedOver.delete(name)) this.nudge()
        })
      this.#running.set(name, run)
    }
  }

  #take(services: readonly StoredService[]): void {
    const before = new Map(this.#services.map((service) => [service.name, service]))
    this.#services = services
    if (!this.#hearers.any) return
    for (const service of services) {
      const known = before.get(service.name)
      if (!known || told.some((field) => known[field] !== service[field]))
        this.#hearers.tell(syncRecord(this.#deps, service))
    }
  }

  /** Tells people of a service that fails for long, once, and takes it back when it works again. */
  async #warn(service: StoredService): Promise<void> {
    const { name, status, failing_since_ms, failures, reason } = service
    if (failing_since_ms === null)
      return resolveAlerts(systemOp(this.#deps), this.#deps, alertKey(name))
    const isLong =
      failures >= alertAfterFailures || this.#deps.clock.wall() - failing_since_ms >= alertAfterMs
    if (status === 'disconnected' || !isLong) return
    // One that a person acknowledged stays this one until its cause is gone.
    if (await this.#deps.storage.alerts.findUnresolved(alertKey(name))) return
    await raiseAlert(systemOp(this.#deps), this.#deps, {
      source: 'system',
      kind: 'service',
      severity: 'warning',
      message: `The service ${name} fails: ${reason ?? 'no reason is known'}. Reads go on from the replica.`,
      context: { service: name, failures },
      dedup_key: alertKey(name),
    })
  }

  /** A service may have been disconnected just before the end: its entries go now. */
  async #dropLeft(): Promise<void> {
    const { storage } = this.#deps
    const known = new Map((await storage.services.list()).map((s) => [s.name, s.status]))
    for (const name of (await storage.replica.counts()).keys())
      if ((known.get(name) ?? 'disconnected') === 'disconnected')
        await dropReplica(this.#deps, name)
  }
}
