import type { GatehouseEvent } from '@gatehouse/contract'
import type {
  AgentMessages,
  AgentSchedules,
  Briefing,
  CapabilityRegistry,
} from '../../ports/capability.ts'
import type { PolicySource } from '../../ports/policy.ts'
import type { Calendar } from '../../ports/schedules.ts'
import type { WakeCommands } from '../../ports/wakes.ts'
import type { AgentDirectory } from '../agents/agent-directory.ts'
import type { App, InvokeInput, InvokeOutcome } from '../app.ts'
import type { Basics } from '../call/basics.ts'
import type { Call } from '../call/call.ts'
import type { AgentOp } from '../call/op.ts'
import { PollLoop } from '../call/poll-loop.ts'
import { briefing } from './briefing.ts'
import { JobRunner } from './job-runner.ts'
import { messagesOf } from './messages.ts'
import { scheduledCalls } from './scheduled-calls.ts'
import { deleteSchedule, listSchedules, schedulesOf } from './schedules.ts'
import { WakeTable } from './wakes.ts'

export type TimeDeps = Basics & {
  readonly node: string
  readonly calendar: Calendar
  readonly wakeCommands: Pick<WakeCommands, 'start'>
  readonly registry: CapabilityRegistry
  readonly policy: PolicySource
  readonly directory: AgentDirectory
  readonly invoke: (op: AgentOp, input: InvokeInput) => Promise<InvokeOutcome>
  readonly signal: AbortSignal
}

export type Time = {
  readonly useCases: Pick<App, 'listSchedules' | 'deleteSchedule' | 'wakeAgent'>
  /** Further kinds of jobs are performed by this runner too. */
  readonly jobs: JobRunner
  schedulesOf(call: Call): AgentSchedules
  messagesOf(call: Call): AgentMessages
  briefingOf(call: Call, since: string | undefined): Promise<Briefing>
  /** Remembers which wakes are among the events that an agent got. */
  delivered(events: readonly GatehouseEvent[]): void
  start(): Promise<void>
  stopped(): Promise<void>
}

const sweepEveryMs = 600_000
const keptMs = 30 * 86_400_000
const wakesKeptMs = 7 * 86_400_000

/** What happens later and what agents tell each other, bound to its dependencies. */
export function bindTime(deps: TimeDeps): Time {
  const { storage, clock } = deps
  const jobs = new JobRunner(deps, [scheduledCalls(deps)])
  const wakes = new WakeTable({ ...deps, commands: deps.wakeCommands })
  const sweeping = new PollLoop(deps, {
    name: 'looking after schedules and messages',
    everyMs: sweepEveryMs,
    async look() {
      const wallMs = clock.wall()
      await storage.jobs.prune(wallMs - keptMs)
      await storage.schedules.prune(wallMs - keptMs)
      await storage.transaction((tx) => tx.messages.prune(wallMs))
      await storage.wakes.prune(wallMs - wakesKeptMs)
    },
  })

  return {
    useCases: {
      listSchedules: (_op, filter) => listSchedules(deps, filter),
      deleteSchedule: (op, input) => deleteSchedule(op, deps, input),
      wakeAgent: (input) => wakes.wake(input),
    },
    jobs,
    schedulesOf: (call) => schedulesOf({ ...deps, jobs }, call),
    messagesOf: (call) => messagesOf(deps, call),
    briefingOf: (call, since) => briefing({ ...deps, wakes }, call, since),
    delivered(events) {
      const ids = events.flatMap(({ type, data }) =>
        type === 'wake' && typeof data['wake_id'] === 'string' ? [data['wake_id']] : [],
      )
      if (ids.length > 0) void wakes.seen(ids)
    },
    async start() {
      await jobs.start()
      await wakes.start()
      sweeping.start()
    },
    async stopped() {
      await Promise.all([jobs.stopped(), wakes.stopped(), sweeping.stopped()])
    },
  }
}
