import { SystemStatus } from '@gatehouse/contract'
import { defineRoute, ok, type Route } from '../define.ts'

const status = defineRoute({
  method: 'GET',
  path: '/api/status',
  operationId: 'getStatus',
  summary: 'What the service is doing, in numbers',
  permission: 'read',
  response: SystemStatus,
  errors: [],
  handle: async (op, app) => ok(await app.status(op)),
})

export const statusRoutes: readonly Route[] = [status]
