import type { Routes } from '@gatehouse/contract/routes'
import type { Handlers } from './handler.ts'
import { createOpenApi } from './openapi.ts'
import { activityHandlers } from './routes/activity.ts'
import { agentHandlers } from './routes/agents.ts'
import { alertHandlers } from './routes/alerts.ts'
import { approvalHandlers } from './routes/approvals.ts'
import { auditHandlers } from './routes/audit.ts'
import { backupHandlers } from './routes/backup.ts'
import { configurationHandlers } from './routes/configuration.ts'
import { engineHandlers } from './routes/engine.ts'
import { figureHandlers } from './routes/figures.ts'
import { grantHandlers } from './routes/grants.ts'
import { healthHandlers } from './routes/health.ts'
import { hookHandlers } from './routes/hooks.ts'
import { loginHandlers } from './routes/logins.ts'
import { modelHandlers } from './routes/models.ts'
import { nodeHandlers } from './routes/nodes.ts'
import { notificationHandlers } from './routes/notifications.ts'
import { operatorHandlers } from './routes/operators.ts'
import { pauseHandlers } from './routes/pause.ts'
import { policyHandlers } from './routes/policies.ts'
import { processHandlers } from './routes/processes.ts'
import { progressHandlers } from './routes/progress.ts'
import { proxyHandlers } from './routes/proxy.ts'
import { questionHandlers } from './routes/questions.ts'
import { sandboxHandlers } from './routes/sandbox.ts'
import { scheduleHandlers } from './routes/schedules.ts'
import { sessionHandlers } from './routes/session.ts'
import { stateHandlers } from './routes/state.ts'
import { statusHandlers } from './routes/status.ts'
import { upstreamHandlers } from './routes/upstreams.ts'
import { userTokenHandlers } from './routes/user-tokens.ts'
import { vaultHandlers } from './routes/vault.ts'

/** The handler of each route. */
export function createHandlers(version: string): Handlers<Routes> {
  let document: Readonly<Record<string, unknown>> | undefined
  return {
    ...statusHandlers,
    ...healthHandlers,
    ...hookHandlers,
    ...sandboxHandlers,
    ...configurationHandlers,
    ...agentHandlers,
    ...pauseHandlers,
    ...activityHandlers,
    ...approvalHandlers,
    ...grantHandlers,
    ...alertHandlers,
    ...stateHandlers,
    ...processHandlers,
    ...scheduleHandlers,
    ...auditHandlers,
    ...figureHandlers,
    ...backupHandlers,
    ...engineHandlers,
    ...modelHandlers,
    ...notificationHandlers,
    ...nodeHandlers,
    ...userTokenHandlers,
    ...vaultHandlers,
    ...sessionHandlers,
    ...loginHandlers,
    ...operatorHandlers,
    ...policyHandlers,
    ...progressHandlers,
    ...proxyHandlers,
    ...upstreamHandlers,
    ...questionHandlers,
    getOpenApi: () => (document ??= createOpenApi(version)),
  }
}
