import { GatehouseError, type WriteError } from '@gatehouse/contract'
import type { AuditTransaction } from '../../ports/audit.ts'
import type { JsonObject } from '../../ports/json.ts'
import type { ReplicaChange } from '../../ports/replica.ts'
import type { WriteOutcome, WriteReason } from '../../ports/service-adapter.ts'
import type { StoredService } from '../../ports/services.ts'
import type { StoredWrite } from '../../ports/writes.ts'
import { actDraft } from '../call/audit-draft.ts'
import { systemOp } from '../call/op.ts'
import { publishWrite, writeFacts } from './buffer-write.ts'
import { cancelled } from './change-write.ts'
import { warnOfDeadLetters } from './dead-letters.ts'
import { backOffMs, type ProxyDeps } from './deps.ts'
import { outcomeUnknown, writeError } from './failure-text.ts'
import { isMarked } from './revoked-writes.ts'
import { askedSync } from './sync-service.ts'

const attemptsMax = 10

type Extra = (tx: AuditTransaction, next: StoredWrite) => Promise<void>

type Ending = {
  readonly next: StoredWrite
  readonly act: string
  readonly result?: 'success' | 'error'
  readonly detail?: Readonly<Record<string, unknown>>
  readonly also?: Extra
}

/** Stores how a write now stands, with its entry, unless somebody else has taken it meanwhile. */
async function finalize(
  deps: ProxyDeps,
  current: StoredWrite,
  decide: (tx: AuditTransaction) => Ending | Promise<Ending>,
): Promise<StoredWrite | null> {
  const { act, next, stored } = await deps.auditLog.transaction(async (tx) => {
    const ending = await decide(tx)
    const { result = 'success', detail, also } = ending
    if (!(await tx.writes.replace(current, ending.next))) return { ...ending, stored: false }
    await also?.(tx, ending.next)
    const facts = { ...writeFacts(ending.next), result, ...(detail ? { detail } : {}) }
    tx.append(actDraft(systemOp(deps), ending.act, facts))
    return { ...ending, stored: true }
  })
  if (!stored) {
    deps.log.warn({ write_id: current.id, act }, 'a write was taken by somebody else meanwhile')
    return null
  }
  publishWrite(deps, act, next)
  return next
}

const left = (write: StoredWrite): StoredWrite => ({
  ...write,
  phase: null,
  owner: null,
  lease_ms: null,
})

/** The rollback point that was laid before the write can be used from now on. */
const openPoint =
  (deps: ProxyDeps): Extra =>
  async (tx, { id }) => {
    const point = await tx.rollbacks.ofWrite(id)
    if (point?.status !== 'pending') return
    const expires_ms = deps.clock.now() + deps.settings['proxy.rollback_kept']
    await tx.rollbacks.replace(point, { ...point, status: 'ready', expires_ms })
  }

const dropPoint: Extra = (tx, { id }) => tx.rollbacks.removeOfWrite(id)

/** Shows changes in the replica at once. The next sync corrects it, so a failure here costs nothing. */
export async function showChanges(
  deps: ProxyDeps,
  service: StoredService,
  changes: readonly ReplicaChange[] = [],
): Promise<void> {
  try {
    await deps.storage.transaction(async (tx) => {
      const current = await tx.services.find(service.name)
      if (current?.generation !== service.generation || current.status === 'disconnected') return
      if (changes.length > 0) await tx.replica.apply(service.name, changes, current.syncs)
      await tx.services.progress(current, askedSync(deps, current))
    })
    deps.nudge.syncs()
  } catch (cause) {
    deps.log.warn(
      { err: cause, service: service.name },
      'the replica could not be brought up to date',
    )
  }
}

export async function finalizeExecuted(
  deps: ProxyDeps,
  service: StoredService,
  write: StoredWrite,
  result: JsonObject,
  changes?: readonly ReplicaChange[],
): Promise<void> {
  const next: StoredWrite = {
    ...left(write),
    status: 'executed',
    finished_ms: deps.clock.wall(),
    result_json: JSON.stringify(result),
    error_json: null,
  }
  await finalize(deps, write, () => ({ next, act: 'write.executed', also: openPoint(deps) }))
  await showChanges(deps, service, changes)
}

const failedFor = (
  deps: ProxyDeps,
  write: StoredWrite,
  error: WriteError,
  { back }: { readonly back: boolean },
): Ending => ({
  next: {
    ...left(write),
    status: 'failed',
    finished_ms: deps.clock.wall(),
    error_json: JSON.stringify(error),
    dead: true,
  },
  act: 'write.failed',
  result: 'error',
  detail: { error: error.type, message: error.message },
  also: back ? openPoint(deps) : dropPoint,
})

/** Records a failure, and leaves the rest to a person. `back`: whether the write may have taken place. */
export async function finalizeFailed(
  deps: ProxyDeps,
  write: StoredWrite,
  error: WriteError,
  { back }: { readonly back: boolean },
): Promise<void> {
  if (await finalize(deps, write, () => failedFor(deps, write, error, { back })))
    await warnOfDeadLetters(deps, write.service)
}

export const finalizeUnknown = (deps: ProxyDeps, write: StoredWrite, reason: WriteReason) =>
  finalizeFailed(deps, write, outcomeUnknown(reason), { back: true })

/** Why a write may not wait for another attempt: its service or its agent has ended while it was sent. */
async function endedMeanwhile(
  tx: AuditTransaction,
  write: StoredWrite,
): Promise<GatehouseError | null> {
  const service = await tx.services.find(write.service)
  const captured = await tx.rollbacks.capture(write.id)
  const isBegun = write.phase !== 'capturing'
  const isGone = !service || service.status === 'disconnected'
  // Disconnecting drops what stood before, and that is still gone where the service was connected again.
  if (isGone || (isBegun && captured === null))
    return new GatehouseError('ServiceUnavailable', {
      service: write.service,
      detail: 'it was disconnected meanwhile',
    })
  const agent = await tx.agents.find(write.agent)
  return !agent || agent.status === 'revoked' || (isBegun && isMarked(captured ?? ''))
    ? new GatehouseError('AgentNotFound', { agent: write.agent })
    : null
}

const cancelledFor = (deps: ProxyDeps, write: StoredWrite, error: WriteError): Ending => ({
  next: {
    ...cancelled(write, 'system', deps.clock.wall()),
    error_json: JSON.stringify(error),
  },
  act: 'write.cancelled',
  detail: { reason: error.message },
  also: dropPoint,
})

/** Provably nothing happened: it waits for its next attempt, unless there were enough. */
export async function postponeWrite(
  deps: ProxyDeps,
  write: StoredWrite,
  reason: WriteReason,
  afterMs: number | null,
): Promise<void> {
  const given = new GatehouseError('WriteGivenUp', {
    attempts: write.attempts,
    detail: reason.detail,
  })
  const error = writeError(given, reason)
  const isLast = write.attempts >= attemptsMax
  const postponed: Ending = {
    next: {
      ...left(write),
      status: 'buffered',
      due_ms: deps.clock.now() + (afterMs ?? backOffMs(write.attempts)),
      proofs: 0,
      error_json: JSON.stringify({ ...error, type: 'ServiceUnavailable', message: reason.detail }),
    },
    act: 'write.postponed',
    result: 'error',
    detail: { reason: reason.detail, attempts: write.attempts },
    also: dropPoint,
  }
  const stored = await finalize(deps, write, async (tx) => {
    const ended = await endedMeanwhile(tx, write)
    if (ended) return cancelledFor(deps, write, writeError(ended))
    return isLast ? failedFor(deps, write, error, { back: false }) : postponed
  })
  if (stored?.dead) await warnOfDeadLetters(deps, write.service)
}

export const finalizeRefused = (deps: ProxyDeps, write: StoredWrite, reason: WriteReason) => {
  const error = new GatehouseError('WriteRefused', { detail: reason.detail })
  return finalizeFailed(deps, write, writeError(error, reason), { back: false })
}

/** Cancels a write that may not run any more, such as one of a revoked agent. */
export async function finalizeCancelled(
  deps: ProxyDeps,
  write: StoredWrite,
  error: WriteError,
): Promise<void> {
  await finalize(deps, write, () => cancelledFor(deps, write, error))
}

/** Stores what became of an attempt; false where nobody knows. */
export async function finalizeOutcome(
  deps: ProxyDeps,
  service: StoredService,
  write: StoredWrite,
  outcome: WriteOutcome,
): Promise<boolean> {
  switch (outcome.kind) {
    case 'executed':
      await finalizeExecuted(deps, service, write, outcome.result, outcome.changes)
      return true
    case 'not_executed':
      if (outcome.retry === 'never') await finalizeRefused(deps, write, outcome.reason)
      else await postponeWrite(deps, write, outcome.reason, outcome.retry.after_ms)
      return true
    case 'unknown':
      return false
  }
}
