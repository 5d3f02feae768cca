import { GatehouseError, type RollbackPreview } from '@gatehouse/contract'
import type { UndoPlan } from '../../ports/service-adapter.ts'
import type { StoredService } from '../../ports/services.ts'
import { within } from '../call/within.ts'
import type { ProxyDeps } from './deps.ts'
import { failureText } from './failure-text.ts'
import { rollbackRecord } from './records.ts'
import { findRollback, type NamedRollback } from './rollback.ts'
import { isOpen, loadRollbackPoint, notReady } from './rollback-point.ts'

/** Preview of a rollback; changes nothing. */
export async function previewRollback(
  deps: ProxyDeps,
  named: NamedRollback,
  signal: AbortSignal,
): Promise<RollbackPreview> {
  const stored = await findRollback(deps, named)
  if (!isOpen(stored)) throw notReady(stored)
  const { service, operation, point } = await loadRollbackPoint(deps, stored)
  const plan = await ask(deps, service, (opened) =>
    within(deps.clock, operation.timeout_seconds, signal, (until) =>
      operation.planUndo(opened, point, until),
    ),
  )
  const rollback = rollbackRecord(deps, stored)
  return plan.kind === 'possible'
    ? { rollback, possible: true, steps: [...plan.steps], reason: null, differences: [] }
    : {
        rollback,
        possible: false,
        steps: [],
        reason: plan.reason.detail,
        differences: [...plan.differences],
      }
}

async function ask(
  deps: ProxyDeps,
  service: StoredService,
  work: (opened: AsyncDisposable) => Promise<UndoPlan>,
): Promise<UndoPlan> {
  try {
    return await deps.opened.use(service, (_adapter, opened) => work(opened))
  } catch (cause) {
    const detail = failureText(deps, cause)
    throw new GatehouseError('ServiceUnavailable', { service: service.name, detail }, { cause })
  }
}
