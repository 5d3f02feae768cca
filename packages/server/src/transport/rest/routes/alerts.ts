import { Alert, AlertList, AlertStatus } from '@gatehouse/contract'
import { z } from 'zod'
import { defineRoute, ok, type Route } from '../define.ts'
import { pathName, queryInteger } from '../fields.ts'

const list = defineRoute({
  method: 'GET',
  path: '/api/alerts',
  operationId: 'listAlerts',
  summary: 'Alerts of agents and of the service itself, newest first',
  permission: 'read',
  query: z.strictObject({
    status: AlertStatus.optional(),
    limit: queryInteger({ min: 1, max: 1000, default: 100 }),
    offset: queryInteger({ min: 0, max: 1_000_000_000, default: 0 }),
  }),
  response: AlertList,
  errors: [],
  handle: async (op, app, { query: { status, limit, offset } }) =>
    ok(await app.listAlerts(op, { limit, offset, ...(status ? { status } : {}) })),
})

const acknowledge = defineRoute({
  method: 'POST',
  path: '/api/alerts/:id/acknowledge',
  operationId: 'acknowledgeAlert',
  summary: 'Say that somebody has taken note',
  permission: 'alerts.manage',
  params: z.object({ id: pathName }),
  response: Alert,
  errors: ['AlertNotFound'],
  handle: async (op, app, { params: { id } }) =>
    ok(await app.acknowledgeAlert(op, { alert_id: id })),
})

export const alertRoutes: readonly Route[] = [list, acknowledge]
