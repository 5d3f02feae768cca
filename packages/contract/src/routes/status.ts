import { SystemStatus } from '../service.ts'
import { defineRoutes } from './define-routes.ts'

export const statusRoutes = defineRoutes({
  getStatus: {
    method: 'GET',
    path: '/api/status',
    summary: 'Status of the service, in numbers',
    permission: 'read',
    answer: SystemStatus,
  },
})
