import {
  GatehouseError,
  type RollbackPoint,
  type RollbackStatus,
  type WriteError,
} from '@gatehouse/contract'
import { parseStored } from '../../domain/parse-stored.ts'
import type { Period } from '../../ports/period.ts'
import type { UndoOutcome } from '../../ports/service-adapter.ts'
import type { StoredRollback } from '../../ports/writes.ts'
import { actDraft } from '../call/audit-draft.ts'
import { actorText, type Op, systemOp } from '../call/op.ts'
import { within } from '../call/within.ts'
import { leaseAfter } from './attempt.ts'
import { writeFacts } from './buffer-write.ts'
import type { ProxyDeps } from './deps.ts'
import { failureText, writeError } from './failure-text.ts'
import { showChanges } from './finalize-write.ts'
import { operationOf, rollbackRecord } from './records.ts'
import { isOpen, type LoadedPoint, loadRollbackPoint, notReady } from './rollback-point.ts'

const againMs = 30_000

/** A point by its own id, or an agent's own by its write. */
export type NamedRollback =
  | { readonly rollback_id: string }
  | { readonly write_id: string; readonly agent: string }

export async function findRollback(deps: ProxyDeps, named: NamedRollback): Promise<StoredRollback> {
  const { rollbacks, writes } = deps.storage
  if ('rollback_id' in named) {
    const stored = await rollbacks.find(named.rollback_id)
    if (!stored) throw new GatehouseError('RollbackNotFound', { detail: named.rollback_id })
    return stored
  }
  const write = await writes.find(named.write_id)
  if (write?.agent !== named.agent)
    throw new GatehouseError('WriteNotFound', { write_id: named.write_id })
  const operation = operationOf(deps, write)
  const stored = await rollbacks.ofWrite(write.id)
  if (stored) return stored
  if (write.status === 'buffered')
    throw new GatehouseError(
      'RollbackNotFound',
      { detail: 'the write has not run yet' },
      { recovery: [{ action: 'writes.cancel', description: 'Cancel it: then it never runs.' }] },
    )
  throw operation?.undoable
    ? new GatehouseError('RollbackNotFound', { detail: `the write is ${write.status}` })
    : new GatehouseError('NotUndoable', { detail: operation?.undo_note ?? 'no version knows how' })
}

const errorOf = ({ error_json }: StoredRollback): WriteError | null =>
  error_json === null ? null : parseStored(error_json, 'rollbacks.error_json')

const refusal = (point: StoredRollback): GatehouseError => {
  const error = errorOf(point)
  return new GatehouseError(
    'RollbackRefused',
    { detail: error?.message ?? 'others changed it' },
    {
      recovery: [
        ...point.differences.map((description) => ({ action: 'difference', description })),
        ...(error?.recovery ?? []),
      ],
    },
  )
}

/**
 * Goes back to what stood before a write, exactly or not at all. Of several who try one does; what a crash
 * cuts off is gone on with, so that it ends in the old state or the new one.
 */
export async function rollback(
  op: Op,
  deps: ProxyDeps,
  named: NamedRollback,
): Promise<RollbackPoint> {
  const found = await findRollback(deps, named)
  if (!isOpen(found)) throw notReady(found)
  const loaded = await loadRollbackPoint(deps, found)
  const taken: StoredRollback = {
    ...found,
    status: 'rolling_back',
    owner: deps.node,
    lease_ms: leaseAfter(deps, loaded.operation.timeout_seconds),
    error_json: null,
    differences: [],
    rolled_back_by: actorText(op.actor),
  }
  await deps.auditLog.transaction(async (tx) => {
    if (!(await tx.rollbacks.replace(found, taken)))
      throw notReady((await tx.rollbacks.find(found.id)) ?? found)
    tx.append(actDraft(op, 'rollback.started', factsOf(loaded, found)))
  })
  const ended = await goBack(op, deps, loaded, taken)
  if (ended.status === 'refused') throw refusal(ended)
  if (ended.status === 'rolling_back')
    throw new GatehouseError('ServiceUnavailable', {
      service: ended.service,
      detail: `${errorOf(ended)?.message ?? 'it does not answer'}; it is tried again until it is clear`,
    })
  return rollbackRecord(deps, ended)
}

const factsOf = ({ write }: LoadedPoint, { id }: StoredRollback) => {
  const facts = writeFacts(write)
  return { ...facts, arguments: { ...facts.arguments, rollback_id: id } }
}

async function undo(
  deps: ProxyDeps,
  { service, operation, point }: LoadedPoint,
): Promise<UndoOutcome> {
  try {
    return await deps.opened.use(service, (_adapter, opened) =>
      within(deps.clock, operation.timeout_seconds, deps.signal, (signal) =>
        operation.undo(opened, point, signal),
      ),
    )
  } catch (cause) {
    return { kind: 'not_undone', reason: { detail: failureText(deps, cause) } }
  }
}

/** Undoes a write that this node has taken, and stores what came of it. */
async function goBack(
  op: Op,
  deps: ProxyDeps,
  loaded: LoadedPoint,
  taken: StoredRollback,
): Promise<StoredRollback> {
  const outcome = await undo(deps, loaded)
  const left = { ...taken, owner: null, lease_ms: null }
  if (outcome.kind === 'not_undone') {
    const error = new GatehouseError('ServiceUnavailable', {
      service: taken.service,
      detail: outcome.reason.detail,
    })
    const next = {
      ...left,
      lease_ms: deps.clock.now() + againMs,
      error_json: JSON.stringify({ ...writeError(error), message: outcome.reason.detail }),
    }
    await deps.storage.rollbacks.replace(taken, next)
    return next
  }
  const next: StoredRollback =
    outcome.kind === 'undone'
      ? { ...left, status: 'rolled_back', rolled_back_ms: deps.clock.wall(), error_json: null }
      : {
          ...left,
          status: 'refused',
          rolled_back_by: null,
          error_json: JSON.stringify({
            type: 'RollbackRefused',
            message: outcome.reason.detail,
            recovery: outcome.reason.fix
              ? [{ action: 'fix', description: outcome.reason.fix }]
              : [],
          }),
          differences: outcome.differences,
        }
  const act = next.status === 'rolled_back' ? 'write.rolled_back' : 'rollback.refused'
  const stored = await deps.auditLog.transaction(async (tx) => {
    if (!(await tx.rollbacks.replace(taken, next))) return false
    const result = next.status === 'rolled_back' ? 'success' : 'error'
    const detail = outcome.kind === 'refused' ? { differences: outcome.differences } : {}
    tx.append(actDraft(op, act, { ...factsOf(loaded, taken), result, detail }))
    return true
  })
  if (!stored) return (await deps.storage.rollbacks.find(taken.id)) ?? next
  const { id: write_id, service, operation, agent } = loaded.write
  deps.events.publish({ type: act, agent, data: { write_id, service, operation } })
  if (outcome.kind === 'undone') await showChanges(deps, loaded.service, outcome.changes)
  return next
}

/** Goes on with what a crash, or a service that was away, cut off. */
export async function resumeRollbacks(deps: ProxyDeps, owner?: string): Promise<void> {
  const nowMs = deps.clock.now()
  const lost = await deps.storage.rollbacks.listLost({ nowMs, ...(owner ? { owner } : {}) })
  for (const point of lost) {
    if (deps.signal.aborted) return
    try {
      const loaded = await loadRollbackPoint(deps, point)
      const taken = {
        ...point,
        owner: deps.node,
        lease_ms: leaseAfter(deps, loaded.operation.timeout_seconds),
      }
      // Two nodes may both find it: undoing is safe to repeat, and of two ends one is stored.
      if (await deps.storage.rollbacks.replace(point, taken))
        await goBack(systemOp(deps), deps, loaded, taken)
    } catch (cause) {
      deps.log.warn({ err: cause, rollback_id: point.id }, 'a rollback could not be gone on with')
      await deps.storage.rollbacks
        .replace(point, { ...point, owner: null, lease_ms: nowMs + againMs })
        .catch(() => false)
    }
  }
}

export async function listRollbacks(
  deps: ProxyDeps,
  filter: Period & {
    readonly service?: string | undefined
    readonly status?: RollbackStatus | undefined
    readonly limit: number
    readonly offset: number
  },
): Promise<{ readonly rollbacks: readonly RollbackPoint[]; readonly total: number }> {
  const { service, status, ...rest } = filter
  const { points, total } = await deps.storage.rollbacks.list({
    ...rest,
    ...(service === undefined ? {} : { service }),
    ...(status === undefined ? {} : { statuses: [status] }),
  })
  return { rollbacks: points.map((point) => rollbackRecord(deps, point)), total }
}
