import type { auditRoutes } from '@gatehouse/contract/routes/audit'
import type { Handlers } from '../handler.ts'

export const auditHandlers: Handlers<typeof auditRoutes> = {
  queryAudit: (op, app, input) => app.queryAudit(op, input),
  exportAudit: (op, app) => app.exportAudit(op),
  showAuditEntry: (op, app, input) => app.showAuditEntry(op, input),
  proveAuditEntry: (op, app, input) => app.proveAuditEntry(op, input),
  verifyAudit: (op, app) => app.verifyAudit(op),
  acknowledgeAudit: (op, app, input) => app.acknowledgeAudit(op, input),
  listAuditTargets: async (op, app) => ({ targets: [...(await app.listAuditTargets(op))] }),
  testAuditTarget: (op, app, input) => app.testAuditTarget(op, input),
  showRetention: (op, app) => app.showRetention(op),
  applyRetention: (op, app) => app.applyRetention(op),
  reindexAudit: (op, app) => app.reindexAudit(op),
}
