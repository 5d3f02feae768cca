import { capabilityName, Schedule, ScheduledRun, ScheduleStatus } from '@gatehouse/contract'
import { z } from 'zod'
import { defineCapability } from '../define.ts'
import { callText, jsonText, previewOrNote, textPreview } from '../text-preview.ts'

const version = '1.0'
const schedule_id = z.string().max(64).describe('The id from scheduler.create: sched-…')
const limit = z.int().min(1).max(200).default(50)
const offset = z.int().min(0).default(0)
const yearSeconds = 366 * 86_400

type Times = {
  readonly schedule?: string | null | undefined
  readonly run_at?: string | undefined
  readonly delay_seconds?: number | undefined
  readonly time_zone: string
}

const timesText = ({ schedule, run_at, delay_seconds, time_zone }: Times): string => {
  if (typeof schedule === 'string') return `at ${schedule} (cron fields, ${time_zone})`
  if (run_at !== undefined) return `once at ${run_at}`
  return delay_seconds === undefined ? 'once' : `once in ${delay_seconds} s`
}

const create = defineCapability({
  name: 'scheduler.create',
  title: 'Create schedule',
  version,
  purpose: 'Schedule a call to be made later, once or repeatedly, as yourself.',
  when_to_use:
    'Policy, limits and approvals apply when it fires. To call now, call the capability itself.',
  inputs: z
    .strictObject({
      capability: z
        .string()
        .max(128)
        .overwrite(capabilityName)
        .describe('Capability to call, such as filesystem.list'),
      arguments: z.record(z.string(), z.unknown()).default({}).describe('Its arguments'),
      schedule: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .describe('Five cron fields. "0 9 * * 1-5": 9:00 on weekdays'),
      run_at: z.string().max(64).optional().describe('Once, at this ISO 8601 time'),
      delay_seconds: z
        .number()
        .min(1)
        .max(yearSeconds)
        .optional()
        .describe('Once, after this time'),
      time_zone: z
        .string()
        .min(1)
        .max(64)
        .default('UTC')
        .describe('For cron fields: Europe/Berlin'),
      description: z.string().max(500).default('').describe('Purpose, shown to people'),
    })
    .refine(
      (input) =>
        [input.schedule, input.run_at, input.delay_seconds].filter((given) => given !== undefined)
          .length === 1,
      { message: 'give exactly one of schedule, run_at and delay_seconds', path: ['schedule'] },
    ),
  outputs: z.object({ schedule_id: z.string(), next_run_at: z.string() }),
  tier: 'autonomous',
  notify: true,
  effect: 'immediate',
  side_effects: [{ what: 'the call is made later', reversible: true }],
  undo: () => 'scheduler.delete ends it; runs that were made stay made.',
  common_patterns: [
    {
      title: 'Every weekday at nine in Berlin',
      arguments: {
        capability: 'filesystem.list',
        arguments: { path: 'inbox' },
        schedule: '0 9 * * 1-5',
        time_zone: 'Europe/Berlin',
      },
    },
    {
      title: 'In ten minutes',
      arguments: { capability: 'agent.briefing', delay_seconds: 600 },
    },
  ],
  errors: ['InvalidSchedule', 'UnknownCapability', 'PolicyDenied', 'QuotaExceeded'],
  preview: (input, { schedules }) => {
    const what = `Schedule ${callText(input.capability, input.arguments)}, ${timesText(input)}.`
    const facts = [
      input.description !== '' && `For: ${input.description}`,
      'Policy and limits are asked again each time. The arguments:',
      jsonText(input.arguments),
    ]
    return previewOrNote([what, ...facts.filter((line) => line !== false)].join('\n'), async () => {
      const { next_run_at } = await schedules.plan(input)
      return textPreview(what, `It would run first at ${next_run_at}.`, ...facts)
    })
  },
  run: (ctx, args) => ctx.schedules.create(args),
})

const list = defineCapability({
  name: 'scheduler.list',
  title: 'List schedules',
  version,
  purpose: 'List your schedules, newest first.',
  when_to_use: 'For the results of their runs use scheduler.history.',
  inputs: z.strictObject({
    status: ScheduleStatus.optional(),
    limit,
    offset,
  }),
  outputs: z.object({ schedules: z.array(Schedule), total: z.int() }),
  tier: 'autonomous',
  effect: 'none',
  common_patterns: [{ title: 'List active schedules', arguments: { status: 'active' } }],
  errors: [],
  run: (ctx, args) => ctx.schedules.list(args) as never,
})

const history = defineCapability({
  name: 'scheduler.history',
  title: 'Show schedule history',
  version,
  purpose: 'Show the runs of one of your schedules, latest first.',
  when_to_use:
    'Shows the result of each run. A run that is pending is followed with approvals.get.',
  inputs: z.strictObject({ schedule_id, limit, offset }),
  outputs: z.object({
    schedule_id: z.string(),
    status: ScheduleStatus,
    runs: z.array(ScheduledRun),
    total: z.int(),
  }),
  tier: 'autonomous',
  effect: 'none',
  common_patterns: [
    {
      title: 'How did the last run end?',
      arguments: { schedule_id: 'sched-06d9k2m8q4vx7c1n5t3bzaehfw', limit: 1 },
    },
  ],
  errors: ['ScheduleNotFound'],
  run: (ctx, { schedule_id: id, ...page }) => ctx.schedules.history(id, page) as never,
})

const remove = defineCapability({
  name: 'scheduler.delete',
  title: 'Delete schedule',
  destructive: true,
  version,
  purpose: 'Delete one of your schedules.',
  when_to_use: 'A run that is under way is not stopped.',
  inputs: z.strictObject({ schedule_id }),
  outputs: z.object({ schedule_id: z.string(), deleted: z.boolean() }),
  tier: 'autonomous',
  effect: 'immediate',
  side_effects: [{ what: 'the call is not made any more', reversible: true }],
  undo: () => 'Create the schedule again; what it was is in the preview.',
  common_patterns: [
    { title: 'Stop a schedule', arguments: { schedule_id: 'sched-06d9k2m8q4vx7c1n5t3bzaehfw' } },
  ],
  errors: ['ScheduleNotFound'],
  preview: (args, { schedules }) =>
    previewOrNote(`Delete the schedule ${args.schedule_id}.`, async () => {
      const found = await schedules.find(args.schedule_id)
      const { capability, arguments: later, description, status, next_run_at } = found
      return textPreview(
        `Delete the schedule ${args.schedule_id} (${status}): ${callText(capability, later)}, ${timesText(found)}.`,
        description !== '' && `It is for: ${description}`,
        next_run_at === null
          ? 'It does not run any more.'
          : `Its next run, at ${next_run_at}, and all later ones do not come.`,
        'A run that is under way is not stopped.',
        jsonText(later),
      )
    }),
  resolve: async ({ schedule_id: id }, { schedules }) => ({
    status: (await schedules.find(id)).status,
  }),
  async run(ctx, { schedule_id: id }) {
    const { capability, arguments: later } = await ctx.schedules.find(id)
    ctx.note({ object: callText(capability, later) })
    return ctx.schedules.delete(id)
  },
})

export const schedulerCapabilities = [create, list, history, remove]
