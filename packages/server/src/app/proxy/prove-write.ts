import { parseStored } from '../../domain/parse-stored.ts'
import type { Capture, WriteProof, WriteReason } from '../../ports/service-adapter.ts'
import type { StoredService } from '../../ports/services.ts'
import type { StoredWrite } from '../../ports/writes.ts'
import { actDraft } from '../call/audit-draft.ts'
import { systemOp } from '../call/op.ts'
import { within } from '../call/within.ts'
import { leaseAfter, serviceWriteOf } from './attempt.ts'
import { writeFacts } from './buffer-write.ts'
import { backOffMs, type ProxyDeps } from './deps.ts'
import { failureText } from './failure-text.ts'
import { finalizeExecuted, finalizeUnknown, postponeWrite } from './finalize-write.ts'
import { operationOf } from './records.ts'

const proofsMax = 8

type Doubt = {
  /** Whether it may be sent again where nothing happened: only if nothing of it can still arrive. */
  readonly repeatable: boolean
  readonly reason: WriteReason
}

/** Takes a write whose outcome nobody knows, so that one node asks the service. */
async function take(
  deps: ProxyDeps,
  write: StoredWrite,
  { repeatable, reason }: Doubt,
  seconds: number,
): Promise<StoredWrite | null> {
  const next: StoredWrite = {
    ...write,
    phase: 'proving',
    // Once it may not be repeated it never may.
    repeatable: write.repeatable && repeatable,
    owner: deps.node,
    lease_ms: leaseAfter(deps, seconds),
    error_json: write.error_json,
  }
  const first = write.phase === 'sending'
  const taken = await deps.auditLog.transaction(async (tx) => {
    if (!(await tx.writes.replace(write, next))) return false
    const detail = { reason: reason.detail }
    if (first)
      tx.append(
        actDraft(systemOp(deps), 'write.unclear', {
          ...writeFacts(next),
          result: 'error',
          detail,
        }),
      )
    return true
  })
  return taken ? next : null
}

async function ask(
  deps: ProxyDeps,
  service: StoredService,
  write: StoredWrite,
): Promise<WriteProof | null> {
  const operation = operationOf(deps, write)
  const stored = await deps.storage.rollbacks.capture(write.id)
  if (!operation || stored === null) return null
  const capture = parseStored<Capture>(stored, 'write_captures.capture_json')
  const given = await serviceWriteOf(deps, write)
  return deps.opened.use(service, (_adapter, opened) =>
    within(deps.clock, operation.timeout_seconds, deps.signal, (signal) =>
      operation.prove(opened, given, capture, signal),
    ),
  )
}

/** The service could not be asked: later, by whoever looks first. */
async function later(deps: ProxyDeps, write: StoredWrite, detail: string): Promise<void> {
  const proofs = write.proofs + 1
  if (proofs >= proofsMax)
    return finalizeUnknown(deps, write, { detail: `it could not be looked up: ${detail}` })
  const lease_ms = deps.clock.now() + backOffMs(proofs)
  await deps.storage.writes.replace(write, { ...write, proofs, owner: null, lease_ms })
}

/** Asks the service whether a write took place whose end nobody saw, and stores what that shows. */
export async function proveWrite(
  deps: ProxyDeps,
  doubtful: StoredWrite,
  doubt: Doubt,
): Promise<void> {
  const seconds = operationOf(deps, doubtful)?.timeout_seconds ?? 0
  const write = await take(deps, doubtful, doubt, seconds)
  if (!write) return
  const service = await deps.storage.services.find(write.service)
  if (!service || service.status === 'disconnected')
    return finalizeUnknown(deps, write, {
      detail: 'the service was disconnected before it was clear',
    })
  let proof: WriteProof | null
  try {
    proof = await ask(deps, service, write)
  } catch (cause) {
    if (deps.signal.aborted) return
    return later(deps, write, failureText(deps, cause))
  }
  if (proof?.kind === 'executed') return finalizeExecuted(deps, service, write, proof.result)
  if (proof?.kind === 'not_executed')
    return write.repeatable
      ? postponeWrite(deps, write, doubt.reason, null)
      : finalizeUnknown(deps, write, {
          detail: `it was not there when it was looked for, but may have arrived later; ${doubt.reason.detail}`,
        })
  return finalizeUnknown(deps, write, proof?.reason ?? doubt.reason)
}
