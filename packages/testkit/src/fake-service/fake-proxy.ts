import {
  AgentName,
  type BufferedWrite,
  GatehouseError,
  type ProxyService,
  type RollbackPoint,
  WriteId,
} from '@gatehouse/contract'
import type { App } from '@gatehouse/server/app/app'
import type { ProxyUseCases } from '@gatehouse/server/app/proxy/proxy'

const time = '2026-03-01T12:00:00.000Z'

export const fakeService: ProxyService = {
  name: 'mail',
  status: 'connected',
  last_sync: time,
  replica_entries: 3,
  buffered_writes: 1,
  rollback_points: 1,
  kind: 'mail',
  reason: null,
  failing_since: null,
  next_sync: time,
  progress: null,
  dead_letters: 1,
  agents: ['mailbot'],
  settings: { imap_host: 'imap.example.org' },
  connected_at: time,
}

const writeOf = (n: number, over: Partial<BufferedWrite> = {}): BufferedWrite => ({
  id: WriteId.parse(`wr-${String(n).padStart(26, '0')}`),
  service: 'mail',
  operation: 'send',
  agent: AgentName.parse('mailbot'),
  arguments: { to: ['ben@example.org'], subject: 'Hello' },
  buffered_at: time,
  execute_at: '2026-03-01T12:00:30.000Z',
  status: 'buffered',
  files: [],
  attempts: 0,
  finished_at: null,
  result: null,
  error: null,
  dead_letter: false,
  ended_by: null,
  rollback_id: null,
  rollback_status: null,
  undo_until: null,
  undo_note: 'What was sent cannot be called back.',
  ...over,
})

/** Two writes: one that waits, and one that failed. */
export const fakeWrite = writeOf(1)
export const fakeDeadLetter = writeOf(2, {
  status: 'failed',
  dead_letter: true,
  attempts: 1,
  finished_at: time,
  error: {
    type: 'OutcomeUnknown',
    message: 'Whether the write took place is not known.',
    recovery: [],
  },
})

export const fakeRollback: RollbackPoint = {
  id: 'rb-00000000000000000000000001',
  write_id: WriteId.parse(`wr-${String(3).padStart(26, '0')}`),
  service: 'mail',
  operation: 'move',
  agent: AgentName.parse('mailbot'),
  status: 'ready',
  created_at: time,
  expires_at: '2026-03-04T12:00:00.000Z',
  error: null,
  differences: [],
  rolled_back_at: null,
  rolled_back_by: null,
}

const service = (name: string): ProxyService => {
  if (name !== fakeService.name)
    throw new GatehouseError('ServiceNotFound', { service: name, agent: 'anybody' })
  return fakeService
}

const changing =
  (status: Partial<BufferedWrite>, wants: BufferedWrite): App['cancelWrite'] =>
  async (_op, { write_id }) => {
    const write = [fakeWrite, fakeDeadLetter].find(({ id }) => id === write_id)
    if (!write) throw new GatehouseError('WriteNotFound', { write_id })
    return write === wants
      ? { kind: 'changed', write: { ...write, ...status } }
      : { kind: 'conflict', write }
  }

const point = (rollback_id: string): RollbackPoint => {
  if (rollback_id !== fakeRollback.id)
    throw new GatehouseError('RollbackNotFound', { detail: rollback_id })
  return fakeRollback
}

/** One service, one write that waits, one that failed, one point to go back to. */
export const fakeProxy: ProxyUseCases = {
  showProxy: async () => ({ services: [fakeService] }),
  listServiceKinds: async () => [],
  connectService: async () => ({ service: fakeService, checks: [] }),
  testService: async (_op, { name }) => ({ ok: service(name) === fakeService, checks: [] }),
  disconnectService: async (_op, { name }) => ({ ...service(name), status: 'disconnected' }),
  syncService: async (_op, { name }) => service(name),
  listWrites: async (_op, { status }) => {
    const writes = status === 'dead' ? [fakeDeadLetter] : [fakeWrite]
    return { writes, total: writes.length }
  },
  cancelWrite: changing({ status: 'cancelled' }, fakeWrite),
  retryWrite: changing({ status: 'buffered', dead_letter: false }, fakeDeadLetter),
  discardWrite: changing({ dead_letter: false }, fakeDeadLetter),
  listRollbacks: async () => ({ rollbacks: [fakeRollback], total: 1 }),
  previewRollback: async (_op, { rollback_id }) => ({
    rollback: point(rollback_id),
    possible: true,
    steps: ['Move 1 message back to INBOX'],
    reason: null,
    differences: [],
  }),
  rollBack: async (_op, { rollback_id }) => ({ ...point(rollback_id), status: 'rolled_back' }),
}
