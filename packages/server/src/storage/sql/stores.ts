import type { AuditRows } from '../../ports/audit-rows.ts'
import type { Stores } from '../../ports/storage.ts'
import { sqlAgents } from './agents.ts'
import { sqlApprovals } from './approvals.ts'
import { sqlAuditRows } from './audit-rows.ts'
import { sqlMeta } from './meta.ts'
import { sqlSessions } from './sessions.ts'
import type { Db } from './tables.ts'
import { sqlUserTokens } from './user-tokens.ts'

export const sqlStores = (db: Db): Stores & { readonly auditRows: AuditRows } => ({
  agents: sqlAgents(db),
  sessions: sqlSessions(db),
  approvals: sqlApprovals(db),
  userTokens: sqlUserTokens(db),
  meta: sqlMeta(db),
  auditRows: sqlAuditRows(db),
})
