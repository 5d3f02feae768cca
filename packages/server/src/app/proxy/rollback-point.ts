import { GatehouseError } from '@gatehouse/contract'
import { parseStored } from '../../domain/parse-stored.ts'
import type { ServiceOperation, UndoPoint } from '../../ports/service-adapter.ts'
import type { StoredService } from '../../ports/services.ts'
import type { StoredRollback, StoredWrite } from '../../ports/writes.ts'
import type { ProxyDeps } from './deps.ts'
import { operationOf } from './records.ts'

/** Rollback point with everything that undoing needs. */
export type LoadedPoint = {
  readonly write: StoredWrite
  readonly service: StoredService
  readonly operation: ServiceOperation<AsyncDisposable>
  readonly point: UndoPoint
}

export async function loadRollbackPoint(
  deps: ProxyDeps,
  stored: StoredRollback,
): Promise<LoadedPoint> {
  const { rollbacks, writes, services } = deps.storage
  const [captured, write, service] = await Promise.all([
    rollbacks.capture(stored.write_id),
    writes.find(stored.write_id),
    services.find(stored.service),
  ])
  const operation = write && operationOf(deps, write)
  if (captured === null || !write || !operation)
    throw new GatehouseError('RollbackNotFound', { detail: 'the previous state is no longer kept' })
  if (!service || service.status === 'disconnected')
    throw new GatehouseError('ServiceUnavailable', {
      service: stored.service,
      detail: 'it is disconnected',
    })
  const { id, agent, arguments_json, result_json } = write
  const point: UndoPoint = {
    write: {
      id,
      operation: write.operation,
      agent,
      arguments: parseStored(arguments_json, 'writes.arguments_json'),
    },
    capture: parseStored(captured, 'write_captures.capture_json'),
    result: result_json === null ? null : parseStored(result_json, 'writes.result_json'),
  }
  return { write, service, operation, point }
}

export const notReady = ({ id, status }: StoredRollback): GatehouseError =>
  new GatehouseError('RollbackNotReady', {
    rollback_id: id,
    status: status === 'pending' ? 'not there yet: the write has not run' : status,
  })

export const isOpen = (point: StoredRollback): boolean =>
  point.status === 'ready' || point.status === 'refused'
