import { z } from 'zod'
import { AgentName, AlertId, Timestamp } from './ids.ts'

export const AlertSeverity = z.enum(['info', 'warning', 'critical'])
export type AlertSeverity = z.infer<typeof AlertSeverity>

/** `resolved`: what the service warned of is no longer so. */
export const AlertStatus = z.enum(['open', 'acknowledged', 'resolved'])
export type AlertStatus = z.infer<typeof AlertStatus>

/** Subjects of alerts: `agent` for those that agents send; all others are the service's own. */
export const alertKinds = [
  'agent',
  'approvals',
  'audit',
  'disk',
  'models',
  'policy',
  'secret_rotation',
  'service',
  'vault',
  'writes',
] as const
export type AlertKind = (typeof alertKinds)[number]

export const Alert = z.object({
  id: AlertId,
  /** `agent:NAME` or `system`. */
  source: z.string(),
  /** One of `alertKinds`. */
  kind: z.string(),
  severity: AlertSeverity,
  message: z.string(),
  context: z.record(z.string(), z.unknown()),
  status: AlertStatus,
  created_at: Timestamp,
  /** When it was last raised, and how often: the same alert is one as long as it is open. */
  last_raised_at: Timestamp,
  count: z.int(),
  acknowledged_at: Timestamp.nullable(),
  acknowledged_by: z.string().nullable(),
})
export type Alert = z.infer<typeof Alert>

export const AlertList = z.object({ alerts: z.array(Alert), total: z.int() })
export type AlertList = z.infer<typeof AlertList>

const AlertSubject = z.enum(alertKinds)

/** While a kind is muted its alerts are recorded and shown as ever, and nobody is notified of them. */
export const AlertMute = z.object({
  kind: AlertSubject,
  /** The one agent whose alerts are muted; null for all of the kind. */
  agent: AgentName.nullable(),
  until: Timestamp,
  reason: z.string(),
  muted_by: z.string(),
  muted_at: Timestamp,
})
export type AlertMute = z.infer<typeof AlertMute>

/** Mutes and routes of alerts. A kind that is in no route goes to every target that takes alerts. */
export const AlertHandling = z.object({
  mutes: z.array(AlertMute),
  routes: z.array(z.object({ kind: AlertSubject, targets: z.array(z.string()) })),
})
export type AlertHandling = z.infer<typeof AlertHandling>

export const MuteAlerts = z
  .strictObject({
    kind: AlertSubject,
    /** Only with the kind `agent`: the alerts of this one alone. */
    agent: AgentName.optional(),
    seconds: z
      .int()
      .min(60)
      .max(30 * 86_400),
    reason: z.string().trim().min(1).max(2000),
  })
  .refine(({ kind, agent }) => agent === undefined || kind === 'agent', {
    path: ['agent'],
    error: 'goes with the kind agent alone',
  })
export type MuteAlerts = z.infer<typeof MuteAlerts>

export const UnmuteAlerts = z.strictObject({ kind: AlertSubject, agent: AgentName.optional() })
export type UnmuteAlerts = z.infer<typeof UnmuteAlerts>

export const RouteAlerts = z.strictObject({
  kind: AlertSubject,
  /** Names of notification targets; null for all that take alerts. */
  targets: z.array(z.string().max(128)).max(64).nullable(),
})
export type RouteAlerts = z.infer<typeof RouteAlerts>
