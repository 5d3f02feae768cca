import { GatehouseError } from '@gatehouse/contract'
import type { SyncBatch } from '../../ports/service-adapter.ts'
import type { ServiceProgress, StoredService } from '../../ports/services.ts'
import type { Stores } from '../../ports/storage.ts'
import { actDraft } from '../call/audit-draft.ts'
import { systemOp } from '../call/op.ts'
import { PollLoop } from '../call/poll-loop.ts'
import { within } from '../call/within.ts'
import { backOffMs, type ProxyDeps } from './deps.ts'
import { failureText } from './failure-text.ts'

/** Changes in a transaction: other writers wait for no more than this. */
const changesAtOnce = 20
/** A service that yields nothing for so long is as good as gone. */
const batchSecondsMax = 120
const everything = Number.MAX_SAFE_INTEGER
const leaseMs = 90_000
const renewEveryMs = 20_000

/** Another node has taken the service over, or an operator has connected it anew: this run is void. */
class Superseded extends Error {}

type Run = {
  readonly deps: ProxyDeps
  readonly service: StoredService
  /** Counted: entries are stamped with it. */
  readonly number: number
}

const chunksOf = <T>(list: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, at) =>
    list.slice(at * size, (at + 1) * size),
  )

/** One step of a run. @SECURITY A node that lost its lease stores nothing any more; test/proxy/sync.test.ts. */
const step = <T>(
  { deps, service }: Run,
  change: ServiceProgress,
  work?: (tx: Stores) => Promise<T>,
): Promise<T | undefined> =>
  deps.storage.transaction(async (tx) => {
    if (!(await tx.services.progress(service, change, deps.node))) throw new Superseded()
    return work?.(tx)
  })

async function dropOlder(
  run: Run,
  collections: readonly string[] | null,
  before: number,
): Promise<void> {
  if (collections?.length === 0) return
  for (;;) {
    const dropped = await step(run, {}, (tx) =>
      tx.replica.dropOlder(run.service.name, collections, before, changesAtOnce),
    )
    if ((dropped ?? 0) < changesAtOnce) return
  }
}

async function store(run: Run, batch: SyncBatch): Promise<void> {
  const { name } = run.service
  for (const changes of chunksOf(batch.changes, changesAtOnce))
    await step(run, {}, (tx) => tx.replica.apply(name, changes, run.number))
  await dropOlder(run, batch.complete ?? [], run.number)
  await dropOlder(run, batch.gone ?? [], everything)
  const { cursor, progress } = batch
  // The cursor comes last: after a failure what it has passed is in the replica.
  await step(run, {
    ...(cursor === undefined ? {} : { cursor }),
    ...(progress === undefined ? {} : { progress_json: JSON.stringify(progress) }),
  })
}

async function readAll(run: Run, signal: AbortSignal): Promise<void> {
  const { deps, service } = run
  await deps.opened.use(service, async (adapter, opened) => {
    const ended = new AbortController()
    const until = AbortSignal.any([signal, ended.signal])
    const batches = adapter.sync(opened, { cursor: service.cursor }, until)[Symbol.asyncIterator]()
    try {
      for (;;) {
        const next = await within(deps.clock, batchSecondsMax, signal, () => batches.next())
        if (next.done) return
        await store(run, next.value)
      }
    } catch (cause) {
      // A service that hangs would hang the end of the run as well.
      ended.abort(cause)
      void batches.return?.().catch(() => undefined)
      throw cause
    }
  })
}

/** Keeps the lease while a run goes on, however slow the service is. */
const leaseKeeper = ({ deps, service }: Run, signal: AbortSignal): PollLoop =>
  new PollLoop(
    { ...deps, signal },
    {
      name: 'keeping the lease of a sync',
      everyMs: renewEveryMs,
      async look() {
        const nowMs = deps.clock.now()
        const lease = { nowMs, untilMs: nowMs + leaseMs }
        await deps.storage.services.lease(service.name, deps.node, lease)
      },
    },
  )

/** Makes a sync due: earlier than one that is due already, so that a run which has begun for that one knows of it at its end. */
export const askedSync = (
  { clock }: Pick<ProxyDeps, 'clock'>,
  { next_sync_ms }: StoredService,
): ServiceProgress => ({ next_sync_ms: Math.min(clock.now(), next_sync_ms - 1) })

const nextSync = ({ clock, settings, opened }: ProxyDeps, { kind }: StoredService): number =>
  clock.now() + (settings['proxy.sync_every'] ?? opened.adapterOf(kind).sync_every_seconds * 1000)

/** When the sync is due that somebody asked for since this one began, or null: whatever became of this one, that one comes. */
const askedSince = (begun: StoredService, current: StoredService): number | null =>
  current.next_sync_ms === begun.next_sync_ms ? null : current.next_sync_ms

async function succeed(run: Run): Promise<void> {
  const { deps, service } = run
  await deps.auditLog.transaction(async (tx) => {
    const current = (await tx.services.find(service.name)) ?? service
    const { failing_since_ms } = current
    const change: ServiceProgress = {
      status: 'connected',
      full: false,
      last_sync_ms: deps.clock.wall(),
      next_sync_ms: askedSince(service, current) ?? nextSync(deps, service),
      failing_since_ms: null,
      failures: 0,
      reason: null,
      progress_json: null,
    }
    if (!(await tx.services.progress(service, change, deps.node))) throw new Superseded()
    if (failing_since_ms !== null)
      tx.append(
        actDraft(systemOp(deps), 'service.recovered', { arguments: { name: service.name } }),
      )
  })
  deps.events.publish({ type: 'service.synced', agent: '', data: { name: service.name } })
}

async function fail({ deps, service }: Run, cause: unknown): Promise<void> {
  const reason = failureText(deps, cause)
  const first = await deps.auditLog.transaction(async (tx) => {
    const current = (await tx.services.find(service.name)) ?? service
    const failures = current.failures + 1
    const isFirst = current.failing_since_ms === null
    const change: ServiceProgress = {
      status: 'degraded',
      reason,
      failures,
      failing_since_ms: current.failing_since_ms ?? deps.clock.wall(),
      next_sync_ms: askedSince(service, current) ?? deps.clock.now() + backOffMs(failures),
      progress_json: null,
    }
    if (!(await tx.services.progress(service, change, deps.node))) throw new Superseded()
    const facts = {
      arguments: { name: service.name },
      result: 'error',
      detail: { reason },
    } as const
    if (isFirst) tx.append(actDraft(systemOp(deps), 'service.degraded', facts))
    return isFirst
  })
  deps.log.warn({ err: cause, service: service.name }, 'a service could not be synced')
  if (first)
    deps.events.publish({
      type: 'service.degraded',
      agent: '',
      data: { name: service.name, reason },
    })
}

/**
 * Reads from a service what changed, if no other node does so now. Whatever goes wrong is stored as the
 * reason that it is degraded; what was read until then stays. Resolves with whether all went well.
 */
export async function syncService(deps: ProxyDeps, name: string): Promise<boolean> {
  const nowMs = deps.clock.now()
  const lease = { nowMs, untilMs: nowMs + leaseMs }
  if (!(await deps.storage.services.lease(name, deps.node, lease))) return false
  const ended = new AbortController()
  const signal = AbortSignal.any([deps.signal, ended.signal])
  let keeping: PollLoop | null = null
  try {
    const service = await deps.storage.services.find(name)
    if (!service || service.status === 'disconnected') return false
    // A run that reads everything goes on where it was cut off, and drops at its end what it never met.
    const goesOn = service.full && service.cursor !== null
    const full = service.full || service.cursor === null
    const run: Run = { deps, service, number: goesOn ? service.syncs : service.syncs + 1 }
    keeping = leaseKeeper(run, signal)
    keeping.start('later')
    try {
      await step(run, {
        syncs: run.number,
        full,
        ...(full && service.failing_since_ms === null ? { status: 'syncing' } : {}),
      })
      await readAll(run, deps.signal)
      if (full) await dropOlder(run, null, run.number)
      await succeed(run)
      return true
    } catch (cause) {
      if (cause instanceof Superseded) return false
      // The next start begins where this run was.
      if (deps.signal.aborted) return false
      await fail(run, cause)
      return false
    }
  } catch (cause) {
    if (cause instanceof Superseded) return false
    if (cause instanceof GatehouseError && deps.signal.aborted) return false
    throw cause
  } finally {
    ended.abort()
    await keeping?.stopped()
    await deps.storage.services.release(name, deps.node).catch(() => undefined)
  }
}
