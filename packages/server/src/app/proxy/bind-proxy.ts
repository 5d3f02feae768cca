import type { ServiceKind } from '@gatehouse/contract'
import { toJSONSchema } from 'zod'
import type { AgentServices, AgentWrites } from '../../ports/agent-services.ts'
import type { JournalTransaction } from '../../ports/audit.ts'
import type { App } from '../app.ts'
import type { Call } from '../call/call.ts'
import type { Op } from '../call/op.ts'
import { PollLoop } from '../call/poll-loop.ts'
import type { HealthParts } from '../supervision/health.ts'
import { servicesOf, writesOf } from './agent-access.ts'
import { type Bursts, burstsOf } from './burst.ts'
import { cancelAll, cancelWrite, discardWrite, listWrites, retryWrite } from './change-write.ts'
import { connectService, testService } from './connect-service.ts'
import type { ProxyDeps } from './deps.ts'
import { disconnectService } from './disconnect-service.ts'
import { OpenServices } from './open-services.ts'
import { previewRollback } from './preview-rollback.ts'
import { serviceRecords } from './records.ts'
import { requestSync } from './request-sync.ts'
import { listRollbacks, resumeRollbacks, rollback } from './rollback.ts'
import { SyncRunner } from './sync-runner.ts'
import { WriteRunner } from './write-runner.ts'

export type ProxyUseCases = Pick<
  App,
  | 'showProxy'
  | 'listServiceKinds'
  | 'connectService'
  | 'testService'
  | 'disconnectService'
  | 'syncService'
  | 'listWrites'
  | 'cancelWrite'
  | 'retryWrite'
  | 'discardWrite'
  | 'listRollbacks'
  | 'previewRollback'
  | 'rollBack'
>

export type Proxy = {
  readonly useCases: ProxyUseCases
  readonly bursts: Bursts
  readonly health: NonNullable<HealthParts['proxy']>
  servicesOf(call: Call): AgentServices
  writesOf(call: Call): AgentWrites
  /** Joins the transaction that revokes an agent: what it has buffered does not run any more. */
  cancelWritesOf(op: Op, tx: JournalTransaction, agent: string): Promise<void>
  start(): Promise<void>
  stopped(): Promise<void>
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
      listWrites: (_op, input) => listWrites(deps, input),
      cancelWrite: (op, input) => cancelWrite(op, deps, input),
      retryWrite: (op, input) => retryWrite(op, deps, input),
      discardWrite: (op, input) => discardWrite(op, deps, input),
      listRollbacks: (_op, input) => listRollbacks(deps, input),
      previewRollback: (op, input) => previewRollback(deps, input, op.signal),
      rollBack: (op, input) => rollback(op, deps, input),
    },
    bursts: burstsOf(deps, deps.settings),
    health() {
      const live = syncs.services().filter(({ status }) => status !== 'disconnected')
      const failing = live.filter(({ status }) => status === 'degraded')
      const services = live.length
      if (failing.length === 0) return { status: 'healthy', services }
      const reason = failing.map(({ name, reason: why }) => `${name}: ${why}`).join('; ')
      return { status: 'degraded', reason, services }
    },
    servicesOf: (call) => servicesOf(deps, call),
    writesOf: (call) => writesOf(deps, call),
    async cancelWritesOf(op, tx, agent) {
      await cancelAll(op, deps, tx, { agent })
    },
    async start() {
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
