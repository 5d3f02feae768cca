import { type ErrorType, GatehouseError } from '@gatehouse/contract'
import { parseStored } from '../../domain/parse-stored.ts'
import type { NewWrite, WriteTicket } from '../../ports/agent-services.ts'
import type { StoredService } from '../../ports/services.ts'
import type { StoredWrite } from '../../ports/writes.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Call } from '../call/call.ts'
import { isoOf, type ProxyDeps } from './deps.ts'
import { delaySecondsOf, operationOf, undoUntil } from './records.ts'

const bufferedPerAgentMax = 1_000
const argumentsBytesMax = 2 * 1024 * 1024
const filesBytesMax = 25 * 1024 * 1024
const filesMax = 100

const refuse = (type: ErrorType, facts: Record<string, unknown>): never => {
  throw new GatehouseError(type, facts)
}

const assertFits = (argumentsJson: string, files: NewWrite['files'] = []): void => {
  const argumentBytes = Buffer.byteLength(argumentsJson)
  if (argumentBytes > argumentsBytesMax)
    refuse('ValueTooLarge', { size_bytes: argumentBytes, limit_bytes: argumentsBytesMax })
  if (files.length > filesMax)
    refuse('QuotaExceeded', { limit: filesMax, what: 'files of a write' })
  const fileBytes = files.reduce((sum, { bytes }) => sum + bytes.byteLength, 0)
  if (fileBytes > filesBytesMax)
    refuse('ValueTooLarge', { size_bytes: fileBytes, limit_bytes: filesBytesMax })
}

/** Recipients of a mail. */
const recipientsOf = ({ arguments_json }: StoredWrite) => {
  const fields = parseStored<Readonly<Record<string, unknown>>>(
    arguments_json,
    'writes.arguments_json',
  )
  const names = ['to', 'cc', 'bcc'].filter((name) => Array.isArray(fields[name]))
  return Object.fromEntries(names.map((name) => [name, fields[name]]))
}

/** Facts of a write for the audit log: which it is and whom it reaches, never its content. */
export const writeFacts = (write: StoredWrite) => ({
  agent: write.agent,
  arguments: {
    write_id: write.id,
    service: write.service,
    operation: write.operation,
    ...recipientsOf(write),
  },
})

/** Tells the agent, and whoever watches, how its write stands. */
export const publishWrite = (
  { events }: Pick<ProxyDeps, 'events'>,
  type: string,
  { id, service, operation, agent, status }: StoredWrite,
): void => {
  events.publish({ type, agent, data: { write_id: id, service, operation, status } })
}

/** Holds a write of an agent until its time comes. What is stored now is what will be sent. */
export async function bufferWrite(
  deps: ProxyDeps,
  { op, agent, capability }: Pick<Call, 'op' | 'agent' | 'capability'>,
  service: StoredService,
  given: NewWrite,
): Promise<WriteTicket> {
  const operation = operationOf(deps, { kind: service.kind, operation: given.operation })
  if (!operation) throw new Error(`${service.kind} has no operation ${given.operation}`)
  const arguments_json = JSON.stringify(given.arguments)
  const files = given.files ?? []
  assertFits(arguments_json, files)
  const delaySeconds = delaySecondsOf(deps.settings, service.kind, operation)
  const write: StoredWrite = {
    id: deps.ids.next('wr'),
    service: service.name,
    kind: service.kind,
    operation: operation.name,
    agent: agent.name,
    capability: capability.name,
    session_id: op.session_id,
    request_id: op.request_id,
    arguments_json,
    files_json: JSON.stringify(
      files.map(({ name, content_type, bytes }) => ({
        name,
        content_type,
        size_bytes: bytes.byteLength,
      })),
    ),
    buffered_ms: deps.clock.wall(),
    due_ms: deps.clock.now() + Math.round(delaySeconds * 1000),
    status: 'buffered',
    phase: null,
    attempts: 0,
    proofs: 0,
    repeatable: true,
    owner: null,
    lease_ms: null,
    finished_ms: null,
    result_json: null,
    error_json: null,
    dead: false,
    ended_by: null,
  }
  await deps.auditLog.transaction(async (tx) => {
    const current = await tx.services.find(service.name)
    if (!current || current.status === 'disconnected' || current.kind !== service.kind)
      refuse('ServiceUnavailable', { service: service.name, detail: 'it was disconnected' })
    const page = { agent: agent.name, statuses: ['buffered'], limit: 1, offset: 0 } as const
    if ((await tx.writes.list(page)).total >= bufferedPerAgentMax)
      refuse('QuotaExceeded', { limit: bufferedPerAgentMax, what: 'buffered writes' })
    await tx.writes.insert(write, files)
    tx.append(actDraft(op, 'write.buffered', writeFacts(write)))
  })
  deps.nudge.writes()
  publishWrite(deps, 'write.buffered', write)
  return {
    write_id: write.id,
    service: write.service,
    operation: write.operation,
    status: write.status,
    execute_at: isoOf(deps, write.due_ms),
    undo_until: undoUntil(deps, operation, write, null),
    undo_note: operation.undo_note,
  }
}
