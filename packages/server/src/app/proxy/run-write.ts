import { GatehouseError } from '@gatehouse/contract'
import type { StoredAgent } from '../../ports/agents.ts'
import type { JsonObject } from '../../ports/json.ts'
import type {
  Capture,
  CaptureRefusal,
  ServiceOperation,
  ServiceWrite,
  WriteOutcome,
  WriteReason,
} from '../../ports/service-adapter.ts'
import type { StoredService } from '../../ports/services.ts'
import type { StoredRollback, StoredWrite } from '../../ports/writes.ts'
import { actDraft } from '../call/audit-draft.ts'
import { systemOp } from '../call/op.ts'
import { buildQuestion } from '../call/policy-question.ts'
import { TimeUp, within } from '../call/within.ts'
import { leaseAfter, serviceWriteOf } from './attempt.ts'
import { writeFacts } from './buffer-write.ts'
import type { ProxyDeps } from './deps.ts'
import { failureText, writeError } from './failure-text.ts'
import {
  finalizeCancelled,
  finalizeOutcome,
  finalizeRefused,
  postponeWrite,
} from './finalize-write.ts'
import { proveWrite } from './prove-write.ts'
import { operationOf } from './records.ts'

type Operation = ServiceOperation<AsyncDisposable>

const heldForMs = 5_000
export const isRefusal = (found: Capture | CaptureRefusal): found is CaptureRefusal =>
  'kind' in found && found.kind === 'refused'

type Refusal = 'held' | GatehouseError

/** Whether the agent may still do it: what was allowed when it was buffered may have been taken back. */
function permission(
  deps: ProxyDeps,
  agent: StoredAgent | null,
  { agent: name, capability }: StoredWrite,
): 'granted' | Refusal {
  if (!agent || agent.status === 'revoked')
    return new GatehouseError('AgentNotFound', { agent: name })
  if (agent.status === 'paused') return 'held'
  const question = buildQuestion(agent, null, capability, {}, deps.clock.wall())
  return deps.policy.current().listed(question) === 'blocked'
    ? new GatehouseError('PolicyDenied', { agent: name, capability, detail: 'it is blocked now' })
    : 'granted'
}

/** A paused agent's writes wait until it is resumed; that is no attempt. */
async function hold(deps: ProxyDeps, write: StoredWrite): Promise<void> {
  await deps.storage.writes.replace(write, {
    ...write,
    status: 'buffered',
    phase: null,
    owner: null,
    lease_ms: null,
    attempts: write.attempts - 1,
    due_ms: deps.clock.now() + heldForMs,
  })
}

const turnAway = (deps: ProxyDeps, write: StoredWrite, refusal: Refusal): Promise<void> =>
  refusal === 'held' ? hold(deps, write) : finalizeCancelled(deps, write, writeError(refusal))

/**
 * Stores what stood before, and that the write begins, in one step: whoever finds it in `sending` after a
 * crash knows that it may have taken place, and has all that is needed to find out and to go back. What allowed it
 * is looked at again, for looking at the service may have taken minutes; null where it was cancelled meanwhile.
 * @SECURITY Durable before the first byte leaves; test/proxy/write-kill.test.ts.
 */
async function begin(
  deps: ProxyDeps,
  operation: Operation,
  service: StoredService,
  write: StoredWrite,
  capture: Capture,
): Promise<StoredWrite | Refusal | null> {
  const next: StoredWrite = {
    ...write,
    phase: 'sending',
    repeatable: true,
    lease_ms: leaseAfter(deps, operation.timeout_seconds),
  }
  const nowMs = deps.clock.now()
  const point: StoredRollback = {
    id: deps.ids.next('rb'),
    write_id: write.id,
    service: write.service,
    operation: write.operation,
    agent: write.agent,
    status: 'pending',
    created_ms: deps.clock.wall(),
    expires_ms: nowMs + deps.settings['proxy.rollback_kept'],
    owner: null,
    lease_ms: null,
    error_json: null,
    differences: [],
    rolled_back_ms: null,
    rolled_back_by: null,
  }
  return deps.auditLog.transaction(async (tx) => {
    const permitted = permission(deps, await tx.agents.find(write.agent), write)
    if (permitted !== 'granted') return permitted
    // Connected anew, it may be another account than the one that was looked at.
    if ((await tx.services.find(service.name))?.generation !== service.generation) return 'held'
    if (!(await tx.writes.replace(write, next))) return null
    await tx.rollbacks.putCapture(write.id, JSON.stringify(capture))
    if (operation.undoable && capture.before !== null) await tx.rollbacks.put(point)
    tx.append(actDraft(systemOp(deps), 'write.started', writeFacts(next)))
    return next
  })
}

type Attempt =
  | { readonly kind: 'known'; readonly outcome: Exclude<WriteOutcome, { kind: 'unknown' }> }
  /** `over`: whether the adapter has ended, so that nothing of it can still arrive. */
  | { readonly kind: 'unclear'; readonly reason: WriteReason; readonly over: boolean }

async function send(
  deps: ProxyDeps,
  operation: Operation,
  service: StoredService,
  given: ServiceWrite,
  capture: Capture,
): Promise<Attempt> {
  const told: { result: JsonObject | null } = { result: null }
  try {
    const outcome = await deps.opened.use(service, (_adapter, opened) =>
      within(deps.clock, operation.timeout_seconds, deps.signal, (signal) =>
        operation.execute(opened, given, capture, signal, (result) => {
          told.result = result
        }),
      ),
    )
    return outcome.kind === 'unknown'
      ? { kind: 'unclear', reason: outcome.reason, over: true }
      : { kind: 'known', outcome }
  } catch (cause) {
    if (told.result !== null) {
      deps.log.warn({ err: cause, write_id: given.id }, 'a write was cut off after it took place')
      return { kind: 'known', outcome: { kind: 'executed', result: told.result } }
    }
    deps.log.warn({ err: cause, write_id: given.id }, 'a write ended without an answer')
    const over = !(cause instanceof TimeUp) && !deps.signal.aborted
    return { kind: 'unclear', reason: { detail: failureText(deps, cause) }, over }
  }
}

async function look(
  deps: ProxyDeps,
  operation: Operation,
  service: StoredService,
  given: ServiceWrite,
): Promise<Capture | CaptureRefusal> {
  return deps.opened.use(service, (_adapter, opened) =>
    within(deps.clock, operation.timeout_seconds, deps.signal, (signal) =>
      operation.capture(opened, given, signal),
    ),
  )
}

/** One attempt at a write that this node has claimed, up to a state that a restart could go on from. */
export async function runWrite(deps: ProxyDeps, write: StoredWrite): Promise<void> {
  const permitted = permission(deps, await deps.directory.find(write.agent), write)
  if (permitted !== 'granted') return turnAway(deps, write, permitted)
  const service = await deps.storage.services.find(write.service)
  if (!service || service.status === 'disconnected' || service.kind !== write.kind) {
    const facts = { service: write.service, detail: 'it is disconnected' }
    return finalizeCancelled(
      deps,
      write,
      writeError(new GatehouseError('ServiceUnavailable', facts)),
    )
  }
  const operation = operationOf(deps, write)
  if (!operation)
    return finalizeRefused(deps, write, { detail: `this version cannot ${write.operation}` })
  const given = await serviceWriteOf(deps, write)
  let capture: Capture | CaptureRefusal
  try {
    capture = await look(deps, operation, service, given)
  } catch (cause) {
    if (deps.signal.aborted) return
    return postponeWrite(deps, write, { detail: failureText(deps, cause) }, null)
  }
  if (isRefusal(capture)) return finalizeRefused(deps, write, capture.reason)
  const sending = await begin(deps, operation, service, write, capture)
  if (sending === null) return
  if (sending === 'held' || sending instanceof GatehouseError) return turnAway(deps, write, sending)
  const attempt = await send(deps, operation, service, given, capture)
  if (attempt.kind === 'known') {
    await finalizeOutcome(deps, service, sending, attempt.outcome)
    return
  }
  // The next start finds it as it is, and asks then.
  if (deps.signal.aborted) return
  await proveWrite(deps, sending, { repeatable: attempt.over, reason: attempt.reason })
}
