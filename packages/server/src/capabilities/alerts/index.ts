import { AlertSeverity, AlertStatus } from '@gatehouse/contract'
import { z } from 'zod'
import { defineCapability } from '../define.ts'
import { counted, jsonText, previewOrNote, textPreview } from '../text-preview.ts'

const version = '1.0'
const tier = 'autonomous'

const send = defineCapability({
  name: 'alerts.send',
  title: 'Send alert',
  destructive: false,
  version,
  purpose: 'Tell the operators that something needs their attention.',
  when_to_use:
    'For what a person must know. The same alert again counts up while it is open, and notifies nobody again.',
  inputs: z.strictObject({
    message: z.string().min(1).max(2000).describe('Problem and what you need, in a sentence'),
    severity: AlertSeverity.default('warning'),
    context: z
      .record(
        z.string().max(64),
        z.union([z.string().max(2000), z.number(), z.boolean(), z.null()]),
      )
      .default({})
      .refine((given) => Object.keys(given).length <= 20, 'has more than 20 fields')
      .describe('Facts that help to understand it, at most 20'),
  }),
  outputs: z.object({ alert_id: z.string(), status: AlertStatus, count: z.int() }),
  tier,
  effect: 'immediate',
  side_effects: [{ what: 'People read it', reversible: false }],
  common_patterns: [
    {
      title: 'Ask for help',
      arguments: { message: 'The build has failed three times in a row.', severity: 'warning' },
    },
  ],
  errors: ['QuotaExceeded'],
  preview: ({ message, severity, context }) =>
    textPreview(
      `Alert the operators (${severity}):`,
      message,
      Object.keys(context).length > 0 && jsonText(context),
    ),
  run: (ctx, args) => ctx.alerts.send(args) as never,
})

const list = defineCapability({
  name: 'alerts.list',
  title: 'List your alerts',
  version,
  purpose: 'List the alerts that you sent, newest first.',
  when_to_use: 'Shows whether an operator has acknowledged one.',
  inputs: z.strictObject({
    status: AlertStatus.optional(),
    limit: z.int().min(1).max(200).default(50),
  }),
  outputs: z.object({
    alerts: z.array(
      z.object({
        alert_id: z.string(),
        severity: AlertSeverity,
        message: z.string(),
        context: z.record(z.string(), z.unknown()),
        status: AlertStatus,
        created_at: z.string(),
        last_raised_at: z.string(),
        count: z.int(),
        acknowledged_at: z.string().nullable(),
        acknowledged_by: z.string().nullable(),
      }),
    ),
    total: z.int(),
    truncated: z.boolean(),
  }),
  tier,
  effect: 'none',
  common_patterns: [{ title: 'List open alerts', arguments: { status: 'open' } }],
  errors: [],
  run: (ctx, args) => ctx.alerts.list(args.status, args.limit) as never,
})

const acknowledge = defineCapability({
  name: 'alerts.acknowledge',
  title: 'Acknowledge alert',
  destructive: false,
  version,
  purpose: 'Close one of your own alerts.',
  when_to_use: "When what you warned of is over. You can't close the alerts of others.",
  inputs: z.strictObject({ alert_id: z.string().max(64) }),
  outputs: z.object({
    alert_id: z.string(),
    status: AlertStatus,
    acknowledged_at: z.string().nullable(),
  }),
  tier,
  notify: true,
  effect: 'immediate',
  side_effects: [{ what: 'the alert leaves the list of open alerts', reversible: false }],
  common_patterns: [
    { title: 'Resolve an alert', arguments: { alert_id: 'alert-06d9k2m8q4vx7c1n5t3bzaehfw' } },
  ],
  errors: ['AlertNotFound'],
  preview: ({ alert_id }, { alerts }) =>
    previewOrNote(`Close the alert ${alert_id}.`, async () => {
      const { message, severity, status, count, last_raised_at } = await alerts.find(alert_id)
      return textPreview(
        `Close the alert ${alert_id} (${severity}, ${status}, raised ${counted(count, 'time')}, last at ${last_raised_at}):`,
        message,
      )
    }),
  resolve: async ({ alert_id }, { alerts }) => {
    const { status, count } = await alerts.find(alert_id)
    return { status, count }
  },
  async run(ctx, { alert_id }) {
    ctx.note({ object: (await ctx.alerts.find(alert_id)).message })
    return ctx.alerts.acknowledge(alert_id) as never
  },
})

export const alertCapabilities = [send, list, acknowledge]
