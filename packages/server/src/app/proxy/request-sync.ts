import { GatehouseError, type ProxyService } from '@gatehouse/contract'
import { actDraft } from '../call/audit-draft.ts'
import type { Op } from '../call/op.ts'
import type { ProxyDeps } from './deps.ts'
import { notThere, serviceRecordOf } from './find-service.ts'
import { askedSync } from './sync-service.ts'

/** Reads what changed now, or everything anew. */
export async function requestSync(
  op: Op,
  deps: ProxyDeps,
  { name, full }: { readonly name: string; readonly full: boolean },
): Promise<ProxyService> {
  await deps.auditLog.transaction(async (tx) => {
    const service = await tx.services.find(name)
    if (!service) throw notThere(name)
    if (service.status === 'disconnected')
      throw new GatehouseError('ServiceUnavailable', {
        service: name,
        detail: 'it is disconnected',
      })
    const now = askedSync(deps, service)
    // A full run is another one, so that whatever is under way ends and nothing of it is mixed in.
    if (full)
      await tx.services.put({
        ...service,
        ...now,
        generation: service.generation + 1,
        cursor: null,
        full: true,
      })
    else await tx.services.progress(service, now)
    tx.append(actDraft(op, 'service.sync_requested', { arguments: { name, full } }))
  })
  deps.nudge.syncs()
  return serviceRecordOf(deps, name)
}
