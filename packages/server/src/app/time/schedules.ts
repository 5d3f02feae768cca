import { GatehouseError, type Schedule } from '@gatehouse/contract'
import { inToolSet } from '../../domain/tool-set.ts'
import type { AgentSchedules, CapabilityRegistry, NewSchedule } from '../../ports/capability.ts'
import type { PolicySource } from '../../ports/policy.ts'
import type { Calendar, StoredSchedule } from '../../ports/schedules.ts'
import { actDraft, callFacts } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import type { Call } from '../call/call.ts'
import { namedCall } from '../call/named-call.ts'
import type { Op } from '../call/op.ts'
import { buildQuestion } from '../call/policy-question.ts'
import { validateArguments } from '../call/validate-arguments.ts'
import type { JobRunner } from './job-runner.ts'
import { runRecord, scheduleRecord } from './schedule-record.ts'
import { endSchedule, jobOf } from './scheduled-calls.ts'

const activeMax = 100
const aheadMsMax = 5 * 366 * 86_400_000
const zoned = /(?:Z|[+-]\d{2}:?\d{2})$/i

export type ScheduleDeps = Pick<Basics, 'storage' | 'auditLog' | 'clock' | 'ids'> & {
  readonly calendar: Calendar
  readonly registry: CapabilityRegistry
  readonly policy: PolicySource
  readonly jobs: Pick<JobRunner, 'nudge'>
}

const refuse = (detail: string): never => {
  throw new GatehouseError('InvalidSchedule', { detail })
}

/** When it fires first. */
const firstTime = ({ calendar, clock }: ScheduleDeps, input: NewSchedule): number => {
  const wallMs = clock.wall()
  const { schedule, run_at, delay_seconds, time_zone } = input
  if (schedule !== undefined)
    return calendar.next(schedule, time_zone, wallMs) ?? refuse(`${schedule} never comes round`)
  if (delay_seconds !== undefined) return wallMs + Math.round(delay_seconds * 1000)
  const text = run_at ?? ''
  const hasZone = zoned.test(text)
  if (!hasZone && time_zone !== 'UTC')
    return refuse('run_at has no offset: write it with Z or one such as +02:00')
  const ms = Date.parse(hasZone ? text : `${text}Z`)
  if (Number.isNaN(ms)) return refuse('run_at is not an ISO 8601 time')
  if (ms <= wallMs) return refuse(`run_at has passed; it is ${new Date(wallMs).toISOString()}`)
  return ms <= wallMs + aheadMsMax ? ms : refuse('run_at is more than five years ahead')
}

/** Calls that would fail on every run are refused now: a name that does not exist, arguments that do not fit. */
const assertCallable = (deps: ScheduleDeps, call: Call, input: NewSchedule): void => {
  const { capability: name } = input
  const capability = deps.registry.find(name)
  if (capability?.performer !== 'service') {
    const similar = deps.registry.similar(name)
    const recovery = similar.map((action) => ({ action, description: 'Perhaps this was meant.' }))
    throw new GatehouseError('UnknownCapability', { capability: name }, { recovery })
  }
  const { agent, session } = call
  if (!inToolSet(agent.tools, name))
    throw new GatehouseError('OutsideToolSet', { agent: agent.name, capability: name })
  const question = buildQuestion(agent, session, name, {}, deps.clock.wall())
  if (deps.policy.current().listed(question) === 'blocked')
    throw new GatehouseError('PolicyDenied', {
      agent: agent.name,
      capability: name,
      detail: 'blocked',
    })
  const validated = validateArguments(capability, input.arguments)
  if (validated.kind === 'invalid')
    throw new GatehouseError(
      'InvalidArguments',
      { capability: name, detail: validated.error.message },
      { recovery: validated.error.recovery },
    )
}

/** The schedule of the call that is meant, whether it is named itself or by `tools.call`. */
const meantBy = (input: NewSchedule): NewSchedule => {
  const { capability, arguments: args } = namedCall({
    capability: input.capability,
    arguments: input.arguments,
  })
  return { ...input, capability, arguments: args as NewSchedule['arguments'] }
}

/** An agent's own schedules; those of others do not exist for it. */
export const schedulesOf = (deps: ScheduleDeps, call: Call): AgentSchedules => {
  const agent = call.agent.name
  const mine = async (id: string): Promise<StoredSchedule> => {
    const schedule = await deps.storage.schedules.find(id)
    if (schedule?.agent !== agent) throw new GatehouseError('ScheduleNotFound', { schedule_id: id })
    return schedule
  }
  const planned = (input: NewSchedule): number => {
    assertCallable(deps, call, input)
    return firstTime(deps, input)
  }
  return {
    plan: async (input) => ({ next_run_at: new Date(planned(meantBy(input))).toISOString() }),
    find: async (id) => scheduleRecord(await mine(id)),

    async create(given) {
      const input = meantBy(given)
      const next_ms = planned(input)
      const schedule: StoredSchedule = {
        id: deps.ids.next('sched'),
        agent,
        capability: input.capability,
        arguments_json: JSON.stringify(input.arguments),
        cron: input.schedule ?? null,
        time_zone: input.time_zone,
        description: input.description,
        status: 'active',
        next_ms,
        created_ms: deps.clock.wall(),
        ended_ms: null,
      }
      await deps.storage.transaction(async (tx) => {
        const active = { agent, status: 'active', limit: 1, offset: 0 } as const
        if ((await tx.schedules.list(active)).total >= activeMax)
          throw new GatehouseError('QuotaExceeded', { limit: activeMax, what: 'schedules' })
        await tx.schedules.insert(schedule)
        await tx.jobs.insert(jobOf(deps, schedule, next_ms))
      })
      deps.jobs.nudge()
      return { schedule_id: schedule.id, next_run_at: new Date(next_ms).toISOString() }
    },

    async list({ status, limit, offset }) {
      const page = { agent, limit, offset, ...(status ? { status } : {}) }
      const { schedules, total } = await deps.storage.schedules.list(page)
      return { schedules: schedules.map(scheduleRecord), total }
    },

    async history(id, page) {
      const { status } = await mine(id)
      const { jobs, total } = await deps.storage.jobs.listOf(id, page)
      return { schedule_id: id, status, runs: jobs.map(runRecord), total }
    },

    async delete(id) {
      await mine(id)
      await deps.storage.transaction(async (tx) => {
        const current = await tx.schedules.find(id)
        if (current) await endSchedule(tx, current, 'deleted', deps.clock.wall())
      })
      return { schedule_id: id, deleted: true }
    },
  }
}

export async function listSchedules(
  deps: Pick<Basics, 'storage'>,
  filter: { readonly agent?: string; readonly limit: number; readonly offset: number },
): Promise<{ readonly schedules: readonly Schedule[]; readonly total: number }> {
  const { schedules, total } = await deps.storage.schedules.list(filter)
  return { schedules: schedules.map(scheduleRecord), total }
}

export async function deleteSchedule(
  op: Op,
  deps: Pick<Basics, 'auditLog' | 'clock'>,
  { schedule_id }: { readonly schedule_id: string },
): Promise<Schedule> {
  const ended = await deps.auditLog.transaction(async (tx) => {
    const current = await tx.schedules.find(schedule_id)
    if (!current) throw new GatehouseError('ScheduleNotFound', { schedule_id })
    await endSchedule(tx, current, 'deleted', deps.clock.wall())
    const { agent, capability, arguments_json } = current
    const facts = { schedule_id, ...callFacts('schedules', capability, arguments_json) }
    tx.append(actDraft(op, 'schedule.deleted', { agent, arguments: facts }))
    return tx.schedules.find(schedule_id)
  })
  if (!ended) throw new GatehouseError('ScheduleNotFound', { schedule_id })
  return scheduleRecord(ended)
}
