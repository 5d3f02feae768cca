import { activityRoutes } from './activity.ts'
import { agentRoutes } from './agents.ts'
import { alertRoutes } from './alerts.ts'
import { approvalRoutes } from './approvals.ts'
import { auditRoutes } from './audit.ts'
import { backupRoutes } from './backup.ts'
import { configurationRoutes } from './configuration.ts'
import { engineRoutes } from './engine.ts'
import { figureRoutes } from './figures.ts'
import { grantRoutes } from './grants.ts'
import { healthRoutes } from './health.ts'
import { hookRoutes } from './hooks.ts'
import { loginRoutes } from './logins.ts'
import { modelRoutes } from './models.ts'
import { nodeRoutes } from './nodes.ts'
import { notificationRoutes } from './notifications.ts'
import { openApiRoutes } from './openapi.ts'
import { operatorRoutes } from './operators.ts'
import { pauseRoutes } from './pause.ts'
import { policyRoutes } from './policies.ts'
import { processRoutes } from './processes.ts'
import { progressRoutes } from './progress.ts'
import { proxyRoutes } from './proxy.ts'
import { questionRoutes } from './questions.ts'
import { sandboxRoutes } from './sandbox.ts'
import { scheduleRoutes } from './schedules.ts'
import { sessionRoutes } from './session.ts'
import { stateRoutes } from './state.ts'
import { statusRoutes } from './status.ts'
import { upstreamRoutes } from './upstreams.ts'
import { userTokenRoutes } from './user-tokens.ts'
import { vaultRoutes } from './vault.ts'

/** Every route there is. Of two that fit one path the earlier answers, so fixed words precede names. */
export const routes = {
  ...statusRoutes,
  ...healthRoutes,
  ...sandboxRoutes,
  ...configurationRoutes,
  ...agentRoutes,
  ...pauseRoutes,
  ...activityRoutes,
  ...approvalRoutes,
  ...grantRoutes,
  ...hookRoutes,
  ...alertRoutes,
  ...stateRoutes,
  ...processRoutes,
  ...scheduleRoutes,
  ...auditRoutes,
  ...figureRoutes,
  ...backupRoutes,
  ...engineRoutes,
  ...modelRoutes,
  ...notificationRoutes,
  ...nodeRoutes,
  ...userTokenRoutes,
  ...vaultRoutes,
  ...sessionRoutes,
  ...loginRoutes,
  ...operatorRoutes,
  ...policyRoutes,
  ...progressRoutes,
  ...proxyRoutes,
  ...upstreamRoutes,
  ...questionRoutes,
  ...openApiRoutes,
}

export type Routes = typeof routes
export type RouteName = keyof Routes

export type { Permission, Route, StreamKind } from './define-routes.ts'
export { pathName } from './fields.ts'
export type { Frozen, ParsedInput, RouteAnswer, RouteInput } from './types.ts'
