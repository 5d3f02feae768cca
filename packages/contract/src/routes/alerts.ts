import { z } from 'zod'
import { Alert, AlertList, AlertStatus } from '../alerts.ts'
import { defineRoutes } from './define-routes.ts'
import { page } from './fields.ts'

export const alertRoutes = defineRoutes({
  listAlerts: {
    method: 'GET',
    path: '/api/alerts',
    summary: 'Alerts of agents and of the service itself, newest first',
    permission: 'read',
    query: z.strictObject({
      status: AlertStatus.optional(),
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
})
