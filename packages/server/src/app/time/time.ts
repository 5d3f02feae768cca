import type { GatehouseEvent, Schedule } from '@gatehouse/contract'
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
import type { EndsWithAgent } from '../agents/change-agent.ts'
import type { Basics } from '../call/basics.ts'
import type { Call } from '../call/call.ts'
import type { Invoke } from '../call/invoke.ts'
import type { Op } from '../call/op.ts'
import type { Part } from '../call/part.ts'
import { PollLoop } from '../call/poll-loop.ts'
import { briefing } from './briefing.ts'
import { JobRunner } from './job-runner.ts'
import { bindMessages } from './messages.ts'
import { resumeStalled, scheduledCalls, stopSchedulesOf } from './scheduled-calls.ts'
import { deleteSchedule, listSchedules, schedulesOf } from './schedules.ts'
import { type WakeInput, WakeTable, type WakeVerdict } from './wakes.ts'

export type TimeDeps = Basics & {
  readonly node: string
  readonly calendar: Calendar
  readonly wakeCommands: Pick<WakeCommands, 'start'>
  readonly registry: CapabilityRegistry
  readonly policy: PolicySource
  readonly directory: AgentDirectory
  readonly invoke: Invoke
  readonly awaySites: () => readonly string[]
  readonly signal: AbortSignal
}

/** Calls that agents put off, and wakes. */
export interface TimeUseCases {
  listSchedules(
    op: Op,
    input: { agent?: string; limit: number; offset: number },
  ): Promise<{ readonly schedules: readonly Schedule[]; readonly total: number }>
  deleteSchedule(op: Op, input: { schedule_id: string }): Promise<Schedule>
  /** From anybody on this machine; it carries no authority. Resolves once the wake is stored. */
  wakeAgent(input: WakeInput): Promise<WakeVerdict>
}

export type Time = Part<TimeUseCases> & {
  readonly endWithAgent: EndsWithAgent
  schedulesOf(call: Call): AgentSchedules
  bindMessages(call: Call): AgentMessages
  briefingOf(call: Call, since: string | undefined): Promise<Briefing>
  /** Remembers which wakes are among the events that an agent got. */
  delivered(events: readonly GatehouseEvent[]): void
}

const sweepEveryMs = 600_000
const keptMs = 30 * 86_400_000
const wakesKeptMs = 7 * 86_400_000

/** Schedules, wakes and messages between agents, bound to their dependencies. */
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
      await resumeStalled(deps)
    },
  })

  return {
    useCases: {
      listSchedules: (_op, filter) => listSchedules(deps, filter),
      deleteSchedule: (op, input) => deleteSchedule(op, deps, input),
      wakeAgent: (input) => wakes.wake(input),
    },
    async endWithAgent(_op, tx, agent) {
      await stopSchedulesOf(tx, agent, clock.wall())
      return undefined
    },
    schedulesOf: (call) => schedulesOf({ ...deps, jobs }, call),
    bindMessages: (call) => bindMessages(deps, call),
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
