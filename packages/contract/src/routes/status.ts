import { SystemStatus } from '../service.ts'
import { defineRoutes } from './define-routes.ts'

export const statusRoutes = defineRoutes({
  getStatus: {
    method: 'GET',
    path: '/api/status',
    summary: 'What the service is doing, in numbers',
    permission: 'read',
    answer: SystemStatus,
  },
})
