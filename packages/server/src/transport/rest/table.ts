import { z } from 'zod'
import { defineRoute, ok, type Route } from './define.ts'
import { createOpenApi } from './openapi.ts'
import { activityRoutes } from './routes/activity.ts'
import { agentRoutes } from './routes/agents.ts'
import { alertRoutes } from './routes/alerts.ts'
import { approvalRoutes } from './routes/approvals.ts'
import { auditRoutes } from './routes/audit.ts'
import { backupRoutes } from './routes/backup.ts'
import { engineRoutes } from './routes/engine.ts'
import { grantRoutes } from './routes/grants.ts'
import { healthRoutes } from './routes/health.ts'
import { modelRoutes } from './routes/models.ts'
import { notificationRoutes } from './routes/notifications.ts'
import { operatorRoutes } from './routes/operators.ts'
import { pauseRoutes } from './routes/pause.ts'
import { policyRoutes } from './routes/policies.ts'
import { processRoutes } from './routes/processes.ts'
import { proxyRoutes } from './routes/proxy.ts'
import { sandboxRoutes } from './routes/sandbox.ts'
import { scheduleRoutes } from './routes/schedules.ts'
import { sessionRoutes } from './routes/session.ts'
import { stateRoutes } from './routes/state.ts'
import { statusRoutes } from './routes/status.ts'
import { userTokenRoutes } from './routes/user-tokens.ts'
import { vaultRoutes } from './routes/vault.ts'

/** Every route there is. Of two that fit one path the earlier answers, so fixed words precede names. */
const nouns: readonly Route[] = [
  ...statusRoutes,
  ...healthRoutes,
  ...sandboxRoutes,
  ...agentRoutes,
  ...pauseRoutes,
  ...activityRoutes,
  ...approvalRoutes,
  ...grantRoutes,
  ...alertRoutes,
  ...stateRoutes,
  ...processRoutes,
  ...scheduleRoutes,
  ...auditRoutes,
  ...backupRoutes,
  ...engineRoutes,
  ...modelRoutes,
  ...notificationRoutes,
  ...userTokenRoutes,
  ...vaultRoutes,
  ...sessionRoutes,
  ...operatorRoutes,
  ...policyRoutes,
  ...proxyRoutes,
]

export function createTable(version: string): readonly Route[] {
  let document: object | undefined
  const openapi = defineRoute({
    method: 'GET',
    path: '/api/openapi.json',
    operationId: 'getOpenApi',
    summary: 'This description of the API, made from the routes themselves',
    permission: 'read',
    response: z.looseObject({}),
    errors: [],
    handle() {
      document ??= createOpenApi(table, version)
      return Promise.resolve(ok({ ...document }))
    },
  })
  const table: readonly Route[] = [...nouns, openapi]
  return table
}
