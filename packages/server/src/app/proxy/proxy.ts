import type {
  BufferedWrite,
  ConnectedService,
  ConnectService,
  DisconnectService,
  ProxyService,
  ProxyStatus,
  RollbackPoint,
  RollbackPreview,
  RollbackStatus,
  ServiceKind,
  ServiceSync,
  ServiceTest,
  SyncService,
  WriteFilterStatus,
} from '@gatehouse/contract'
import { toJSONSchema } from 'zod'
import type { AgentServices, AgentWrites } from '../../ports/agent-services.ts'
import type { Period } from '../../ports/period.ts'
import type { EndsWithAgent } from '../agents/change-agent.ts'
import type { Call } from '../call/call.ts'
import type { RunOfCall } from '../call/capability-context.ts'
import type { Op } from '../call/op.ts'
import type { Components, Part } from '../call/part.ts'
import { PollLoop } from '../call/poll-loop.ts'
import { servicesOf, writesOf } from './agent-access.ts'
import { type Bursts, createBursts } from './burst.ts'
import {
  type ChangedWrite,
  cancelAll,
  cancelWrite,
  discardWrite,
  listWrites,
  retryWrite,
} from './change-write.ts'
import { connectService, testService } from './connect-service.ts'
import type { ProxyDeps } from './deps.ts'
import { disconnectService } from './disconnect-service.ts'
import { OpenServices } from './open-services.ts'
import { previewRollback } from './preview-rollback.ts'
import { serviceRecords } from './records.ts'
import { requestSync } from './request-sync.ts'
import { markSending } from './revoked-writes.ts'
import { listRollbacks, resumeRollbacks, rollback } from './rollback.ts'
import { SyncRunner } from './sync-runner.ts'
import { WriteRunner } from './write-runner.ts'

/** Services, their replicas, and the writes that wait for their time. */
export interface ProxyUseCases {
  showProxy(op: Op): Promise<ProxyStatus>
  listServiceKinds(op: Op): Promise<readonly ServiceKind[]>
  /** Raises `ServiceConnectionFailed`, whose `recovery` has every check. */
  connectService(op: Op, input: ConnectService): Promise<ConnectedService>
  testService(op: Op, input: { name: string }): Promise<ServiceTest>
  disconnectService(op: Op, input: { name: string } & DisconnectService): Promise<ProxyService>
  syncService(op: Op, input: { name: string } & SyncService): Promise<ProxyService>
  /** Calls the listener with each service as it is read, about once a second, and as that ends. */
  subscribeSyncs(listener: (sync: ServiceSync) => void): Disposable
  /** `pending`: buffered and executing ones; `dead`: those that failed and wait for a person. */
  listWrites(
    op: Op,
    input: Period & {
      status?: WriteFilterStatus
      agent?: string
      service?: string
      limit: number
      offset: number
    },
  ): Promise<{ readonly writes: readonly BufferedWrite[]; readonly total: number }>
  cancelWrite(op: Op, input: { write_id: string }): Promise<ChangedWrite>
  retryWrite(op: Op, input: { write_id: string }): Promise<ChangedWrite>
  discardWrite(op: Op, input: { write_id: string }): Promise<ChangedWrite>
  listRollbacks(
    op: Op,
    input: Period & { service?: string; status?: RollbackStatus; limit: number; offset: number },
  ): Promise<{ readonly rollbacks: readonly RollbackPoint[]; readonly total: number }>
  previewRollback(op: Op, input: { rollback_id: string }): Promise<RollbackPreview>
  rollBack(op: Op, input: { rollback_id: string }): Promise<RollbackPoint>
}

export type Proxy = Part<ProxyUseCases> & {
  health(): Components['proxy']
  readonly bursts: Bursts
  /** Cancels the writes of an agent that are not sent yet, and sends none again. */
  readonly endWithAgent: EndsWithAgent
  servicesOf(call: Call, noted: RunOfCall['noted']): AgentServices
  writesOf(call: Call): AgentWrites
}

const resumeEveryMs = 5_000

const kindsOf = ({ adapters }: Pick<ProxyDeps, 'adapters'>): ServiceKind[] =>
  [...adapters.values()].map((adapter) => {
    const { $schema: _schema, ...settings } = toJSONSchema(adapter.settings, {
      io: 'input',
      unrepresentable: 'any',
    })
    return {
      kind: adapter.kind,
      title: adapter.title,
      settings,
      secrets: adapter.secrets.map((secret) => ({ ...secret })),
      sync_every_seconds: adapter.sync_every_seconds,
      operations: adapter.operations.map(({ name, delay_seconds, undoable, undo_note }) => ({
        ...{ name, delay_seconds, undoable, undo_note },
      })),
    }
  })

/** Services, their replicas, and the writes that wait for their time, bound to their dependencies. */
export function bindProxy(given: Omit<ProxyDeps, 'opened' | 'nudge'>): Proxy {
  const opened = new OpenServices(given)
  const deps: ProxyDeps = {
    ...given,
    opened,
    nudge: { writes: () => writes.nudge(), syncs: () => syncs.nudge() },
  }
  const writes = new WriteRunner(deps)
  const syncs = new SyncRunner(deps)
  // At start also what this node held, which its last run lost.
  let own: string | undefined = deps.node
  const resuming = new PollLoop(deps, {
    name: 'looking for rollbacks that were cut off',
    everyMs: resumeEveryMs,
    async look() {
      const held = own
      own = undefined
      await resumeRollbacks(deps, held)
    },
  })

  return {
    useCases: {
      showProxy: async () => ({ services: await serviceRecords(deps) }),
      listServiceKinds: async () => kindsOf(deps),
      connectService: (op, input) => connectService(op, deps, input),
      testService: (op, input) => testService(op, deps, input),
      disconnectService: (op, input) => disconnectService(op, deps, input),
      syncService: (op, input) => requestSync(op, deps, input),
      subscribeSyncs: (listener) => syncs.subscribe(listener),
      listWrites: (_op, input) => listWrites(deps, input),
      cancelWrite: (op, input) => cancelWrite(op, deps, input),
      retryWrite: (op, input) => retryWrite(op, deps, input),
      discardWrite: (op, input) => discardWrite(op, deps, input),
      listRollbacks: (_op, input) => listRollbacks(deps, input),
      previewRollback: (op, input) => previewRollback(deps, input, op.signal),
      rollBack: (op, input) => rollback(op, deps, input),
    },
    bursts: createBursts(deps, deps.settings),
    health() {
      const live = syncs.services().filter(({ status }) => status !== 'disconnected')
      const failing = live.filter(({ status }) => status === 'degraded')
      const services = live.length
      if (failing.length === 0) return { status: 'healthy', services }
      const reason = failing.map(({ name, reason: why }) => `${name}: ${why}`).join('; ')
      return { status: 'degraded', reason, services }
    },
    servicesOf: (call, noted) => servicesOf(deps, call, noted),
    writesOf: (call) => writesOf(deps, call),
    async endWithAgent(op, tx, agent) {
      await cancelAll(op, deps, tx, { agent })
      await markSending(tx, agent)
      return undefined
    },
    async start() {
      if (!deps.runsApproved) return
      await syncs.start()
      await writes.start()
      resuming.start()
    },
    async stopped() {
      await Promise.all([writes.stopped(), syncs.stopped(), resuming.stopped()])
      await opened[Symbol.asyncDispose]()
    },
  }
}
