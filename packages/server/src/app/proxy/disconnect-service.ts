import type { ProxyService } from '@gatehouse/contract'
import type { StoredService } from '../../ports/services.ts'
import type { StoredWrite } from '../../ports/writes.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Op } from '../call/op.ts'
import { resolveAlerts } from '../supervision/alerts.ts'
import { publishWrite } from './buffer-write.ts'
import { cancelAll } from './change-write.ts'
import type { ProxyDeps } from './deps.ts'
import { dropReplica } from './drop-replica.ts'
import { notThere, serviceRecordOf } from './find-service.ts'
import { leaveGeneration } from './generations.ts'
import { secretName } from './open-services.ts'
import { takeServiceTurn } from './service-turn.ts'
import { alertKey } from './sync-runner.ts'

type Ended = { readonly name: string; readonly forget: boolean }

/** Ends the connection and deletes the credentials, and returns the writes that were cancelled. */
async function end(
  op: Op,
  deps: ProxyDeps,
  { name, forget }: Ended,
): Promise<readonly StoredWrite[]> {
  await using turn = await takeServiceTurn(deps, name)
  const { service, writes } = await deps.auditLog.transaction(async (tx) => {
    const current = await tx.services.find(name)
    if (!current) throw notThere(name)
    const cancelled = await cancelAll(op, deps, tx, { service: name })
    await tx.rollbacks.removeOfService(name)
    const ended: StoredService = {
      ...current,
      status: 'disconnected',
      secrets: [],
      generation: current.generation + 1,
      cursor: null,
      full: true,
      failing_since_ms: null,
      failures: 0,
      reason: null,
      progress_json: null,
    }
    if (forget) {
      await tx.services.remove(name)
      await leaveGeneration(tx.meta, ended.generation)
    } else await tx.services.put(ended)
    const detail = { cancelled_writes: cancelled.length, forgotten: forget }
    tx.append(actDraft(op, 'service.disconnected', { arguments: { name }, detail }))
    return { service: current, writes: cancelled }
  })
  deps.opened.forget(name)
  for (const field of service.secrets) {
    await turn.keep()
    await deps.secrets.forgetForService(secretName(name, field))
  }
  return writes
}

/** Ends a service: its pending writes are cancelled; its replica, rollback points and credentials are deleted. */
export async function disconnectService(
  op: Op,
  deps: ProxyDeps,
  input: Ended,
): Promise<ProxyService> {
  const { name, forget } = input
  const before = await serviceRecordOf(deps, name)
  const writes = await end(op, deps, input)
  await dropReplica(deps, name)
  await resolveAlerts(op, deps, alertKey(name))
  for (const write of writes) publishWrite(deps, 'write.cancelled', write)
  deps.nudge.syncs()
  if (!forget) return serviceRecordOf(deps, name)
  const none = { replica_entries: 0, buffered_writes: 0, rollback_points: 0, dead_letters: 0 }
  return { ...before, ...none, status: 'disconnected', reason: null, next_sync: null }
}
