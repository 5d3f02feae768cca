import { z } from 'zod'

/** Events that people can be notified of, outside the dashboard. */
export const NotificationEvent = z.enum([
  'approval.pending',
  'approval.resolved',
  'question.pending',
  'alert.raised',
  'capability.notified',
])
export type NotificationEvent = z.infer<typeof NotificationEvent>

export const NotificationKind = z.enum(['webhook', 'ntfy', 'slack', 'mail'])
export type NotificationKind = z.infer<typeof NotificationKind>

/** A place that is told. Where exactly it lies, and its secret, are never shown. */
export const NotificationTarget = z.object({
  name: z.string(),
  kind: NotificationKind,
  origin: z.string(),
  events: z.array(NotificationEvent),
  has_secret: z.boolean(),
  waiting: z.number().int(),
  failed: z.number().int(),
  last_delivered_at: z.string().nullable(),
  last_failure: z.string().nullable(),
})
export type NotificationTarget = z.infer<typeof NotificationTarget>

export const NotificationTargetList = z.object({ targets: z.array(NotificationTarget) })
export type NotificationTargetList = z.infer<typeof NotificationTargetList>

export const NotificationTest = z.object({
  name: z.string(),
  delivered: z.boolean(),
  status: z.number().int().nullable(),
  detail: z.string().nullable(),
})
export type NotificationTest = z.infer<typeof NotificationTest>

/** A notification that was given up. */
export const FailedNotification = z.object({
  id: z.string(),
  event: NotificationEvent,
  title: z.string(),
  created_at: z.string(),
  failed_at: z.string().nullable(),
  attempts: z.number().int(),
  detail: z.string().nullable(),
})
export type FailedNotification = z.infer<typeof FailedNotification>

export const FailedNotificationList = z.object({ failed: z.array(FailedNotification) })
export type FailedNotificationList = z.infer<typeof FailedNotificationList>

export const RetriedNotifications = z.object({ name: z.string(), retried: z.number().int() })
export type RetriedNotifications = z.infer<typeof RetriedNotifications>
