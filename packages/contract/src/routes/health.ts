import { z } from 'zod'
import { Health, HealthStatus } from '../service.ts'
import { defineRoutes } from './define-routes.ts'

const Probe = z.object({ status: HealthStatus })

export const healthRoutes = defineRoutes({
  getHealth: {
    method: 'GET',
    path: '/api/health',
    summary: 'How each part is, with its reason where it is not well',
    permission: 'read',
    answer: Health,
  },
  isAlive: {
    method: 'GET',
    path: '/healthz',
    summary: 'Whether the process answers at all',
    permission: 'public',
    answer: Probe,
  },
  isReady: {
    method: 'GET',
    path: '/readyz',
    summary: 'Whether calls can be served: 503 while a part is unhealthy',
    permission: 'public',
    answer: Probe,
    mayBeUnavailable: true,
  },
  getMetrics: {
    method: 'GET',
    path: '/metrics',
    summary: 'Numbers for a monitoring system, in the Prometheus text format',
    permission: 'read',
    answer: 'text',
  },
})
