import type {
  BufferedWrite,
  ProxyService,
  RollbackPoint,
  ServiceSync,
  WriteError,
} from '@gatehouse/contract'
import { parseStored } from '../../domain/parse-stored.ts'
import type { ServiceOperation } from '../../ports/service-adapter.ts'
import type { StoredService } from '../../ports/services.ts'
import type { StoredRollback, StoredWrite, WriteCounts } from '../../ports/writes.ts'
import { isoOf, type ProxyDeps, type ProxySettings } from './deps.ts'

type Deps = Pick<ProxyDeps, 'clock' | 'adapters' | 'settings' | 'storage'>

const iso = (ms: number): string => new Date(ms).toISOString()
const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms))

export const operationOf = (
  { adapters }: Pick<ProxyDeps, 'adapters'>,
  { kind, operation }: Pick<StoredWrite, 'kind' | 'operation'>,
): ServiceOperation<AsyncDisposable> | null =>
  adapters.get(kind)?.operations.find(({ name }) => name === operation) ?? null

/** How long writes of an operation are held before they run. */
export const delaySecondsOf = (
  settings: Pick<ProxySettings, 'proxy.delays'>,
  kind: string,
  { name, delay_seconds }: Pick<ServiceOperation, 'name' | 'delay_seconds'>,
): number => settings['proxy.delays'].get(`${kind}.${name}`) ?? delay_seconds

/** @SECURITY Arguments that an operation hides are shown to nobody, neither person nor log; test/proxy/writes.test.ts. */
const shown = (json: string, redact: readonly string[] | undefined): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(parseStored<object>(json, 'writes.arguments_json')).map(([name, value]) => [
      name,
      (redact?.includes(name) ?? true) ? '[redacted]' : value,
    ]),
  )

export const rollbackRecord = (
  deps: Pick<ProxyDeps, 'clock'>,
  p: StoredRollback,
): RollbackPoint => ({
  id: p.id,
  write_id: p.write_id as RollbackPoint['write_id'],
  service: p.service,
  operation: p.operation,
  agent: p.agent as RollbackPoint['agent'],
  status: p.status === 'pending' ? 'ready' : p.status,
  created_at: iso(p.created_ms),
  expires_at: isoOf(deps, p.expires_ms),
  error:
    p.error_json === null ? null : parseStored<WriteError>(p.error_json, 'rollbacks.error_json'),
  differences: [...p.differences],
  rolled_back_at: isoOrNull(p.rolled_back_ms),
  rolled_back_by: p.rolled_back_by,
})

/** Until when a write can be undone: known once it ran, foreseen before. */
export const undoUntil = (
  deps: Deps,
  operation: ServiceOperation<AsyncDisposable> | null,
  write: StoredWrite,
  point: StoredRollback | null,
): string | null => {
  if (!operation?.undoable || write.status === 'cancelled') return null
  if (point && point.status !== 'pending')
    return point.status === 'expired' ? null : isoOf(deps, point.expires_ms)
  return write.finished_ms === null
    ? isoOf(deps, write.due_ms + deps.settings['proxy.rollback_kept'])
    : null
}

export const writeRecord = (
  deps: Deps,
  write: StoredWrite,
  point: StoredRollback | null,
): BufferedWrite => {
  const operation = operationOf(deps, write)
  const told = point?.status === 'pending' ? null : point
  return {
    id: write.id as BufferedWrite['id'],
    service: write.service,
    operation: write.operation,
    agent: write.agent as BufferedWrite['agent'],
    arguments: shown(write.arguments_json, operation?.redact),
    buffered_at: iso(write.buffered_ms),
    execute_at: isoOf(deps, write.due_ms),
    status: write.status,
    files: parseStored(write.files_json, 'writes.files_json'),
    attempts: write.attempts,
    finished_at: isoOrNull(write.finished_ms),
    result:
      write.result_json === null
        ? null
        : parseStored<Record<string, unknown>>(write.result_json, 'writes.result_json'),
    error: write.error_json === null ? null : parseStored(write.error_json, 'writes.error_json'),
    dead_letter: write.dead,
    ended_by: write.ended_by,
    rollback_id: told?.id ?? null,
    rollback_status: told && told.status !== 'pending' ? told.status : null,
    undo_until: undoUntil(deps, operation, write, point),
    undo_note: operation?.undo_note ?? 'This version cannot undo it.',
  }
}

/** Records of several writes, with one look for all their points. */
export async function writeRecords(
  deps: Deps,
  writes: readonly StoredWrite[],
): Promise<BufferedWrite[]> {
  const points = await deps.storage.rollbacks.ofWrites(writes.map(({ id }) => id))
  const byWrite = new Map(points.map((point) => [point.write_id, point]))
  return writes.map((write) => writeRecord(deps, write, byWrite.get(write.id) ?? null))
}

export type ServiceFigures = {
  readonly entries: number
  readonly writes: WriteCounts
  readonly points: number
}

export const syncRecord = (deps: Pick<ProxyDeps, 'clock'>, s: StoredService): ServiceSync => ({
  name: s.name,
  status: s.status,
  last_sync: isoOrNull(s.last_sync_ms),
  reason: s.reason,
  failing_since: isoOrNull(s.failing_since_ms),
  next_sync: s.status === 'disconnected' ? null : isoOf(deps, s.next_sync_ms),
  progress:
    s.progress_json === null ? null : parseStored(s.progress_json, 'services.progress_json'),
})

export const serviceRecord = (
  deps: Pick<ProxyDeps, 'clock'>,
  s: StoredService,
  { entries, writes, points }: ServiceFigures,
): ProxyService => ({
  ...syncRecord(deps, s),
  replica_entries: entries,
  buffered_writes: writes.buffered,
  rollback_points: points,
  kind: s.kind,
  dead_letters: writes.dead,
  agents: [...s.agents],
  settings: parseStored(s.settings_json, 'services.settings_json'),
  connected_at: iso(s.connected_ms),
})

/** All services with their figures. Costs a few look-ups, however much each holds. */
export async function serviceRecords(
  deps: Pick<ProxyDeps, 'storage' | 'clock'>,
): Promise<ProxyService[]> {
  const { services, replica, writes, rollbacks } = deps.storage
  const [all, entries, counts, points] = await Promise.all([
    services.list(),
    replica.counts(),
    writes.counts(),
    rollbacks.counts(),
  ])
  return all.map((service) =>
    serviceRecord(deps, service, {
      entries: entries.get(service.name) ?? 0,
      writes: counts.get(service.name) ?? { buffered: 0, dead: 0 },
      points: points.get(service.name) ?? 0,
    }),
  )
}
