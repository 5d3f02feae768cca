import { Health, HealthStatus } from '@gatehouse/contract'
import { z } from 'zod'
import { type Answer, defineRoute, ok, type Route } from '../define.ts'

const health = defineRoute({
  method: 'GET',
  path: '/api/health',
  operationId: 'getHealth',
  summary: 'How each part is, with its reason where it is not well',
  permission: 'read',
  response: Health,
  errors: [],
  handle: async (op, app) => ok(await app.health(op)),
})

const Probe = z.object({ status: HealthStatus })

const alive = defineRoute({
  method: 'GET',
  path: '/healthz',
  operationId: 'isAlive',
  summary: 'Whether the process answers at all',
  permission: 'public',
  response: Probe,
  errors: [],
  handle: async () => ok({ status: 'healthy' as const }),
})

const ready = defineRoute({
  method: 'GET',
  path: '/readyz',
  operationId: 'isReady',
  summary: 'Whether calls can be served: 503 while a part is unhealthy',
  permission: 'public',
  response: Probe,
  mayBeUnavailable: true,
  errors: [],
  async handle(op, app): Promise<Answer<z.infer<typeof Probe>>> {
    // Only the one word: why it is not well is for those who log in.
    const { status } = await app.health(op)
    return { kind: 'json', status: status === 'unhealthy' ? 503 : 200, value: { status } }
  },
})

const metrics = defineRoute({
  method: 'GET',
  path: '/metrics',
  operationId: 'getMetrics',
  summary: 'Numbers for a monitoring system, in the Prometheus text format',
  permission: 'read',
  response: 'text',
  errors: [],
  handle: async (op, app) => ({
    kind: 'text',
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    text: await app.renderMetrics(op),
  }),
})

export const healthRoutes: readonly Route[] = [health, alive, ready, metrics]
