import { z } from 'zod'
import {
  Alert,
  AlertHandling,
  AlertList,
  AlertSeverity,
  AlertStatus,
  MuteAlerts,
  RouteAlerts,
  UnmuteAlerts,
} from '../alerts.ts'
import { defineRoutes } from './define-routes.ts'
import { page, period } from './fields.ts'

export const alertRoutes = defineRoutes({
  listAlerts: {
    method: 'GET',
    path: '/api/alerts',
    summary: 'Alerts of agents and of the service itself, newest first',
    permission: 'read',
    query: z.strictObject({
      status: AlertStatus.optional(),
      severity: AlertSeverity.optional(),
      ...period,
      ...page({ max: 1000, default: 100 }),
    }),
    answer: AlertList,
  },
  acknowledgeAlert: {
    method: 'POST',
    path: '/api/alerts/:id/acknowledge',
    summary: 'Say that somebody has taken note',
    permission: 'alerts.manage',
    answer: Alert,
    errors: ['AlertNotFound'],
  },
  showAlertHandling: {
    method: 'GET',
    path: '/api/alerts/handling',
    summary: 'Which kinds of alerts are muted, and who is notified of which',
    permission: 'read',
    answer: AlertHandling,
  },
  muteAlerts: {
    method: 'POST',
    path: '/api/alerts/mute',
    summary: 'Notify nobody of a kind of alerts for a time; they are recorded and shown as ever',
    permission: 'alerts.manage',
    body: MuteAlerts,
    answer: AlertHandling,
  },
  unmuteAlerts: {
    method: 'POST',
    path: '/api/alerts/unmute',
    summary: 'Notify of a kind of alerts again',
    permission: 'alerts.manage',
    body: UnmuteAlerts,
    answer: AlertHandling,
  },
  routeAlerts: {
    method: 'POST',
    path: '/api/alerts/route',
    summary: 'Choose the notification targets that a kind of alerts is sent to',
    permission: 'alerts.manage',
    body: RouteAlerts,
    answer: AlertHandling,
    errors: ['NotificationTargetNotFound', 'Conflict'],
  },
})
