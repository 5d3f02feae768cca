import { z } from 'zod'
import { AlertId, Timestamp } from './ids.ts'

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
