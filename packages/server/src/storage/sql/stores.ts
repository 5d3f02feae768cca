import type { Stores } from '../../ports/storage.ts'
import { sqlAgents } from './agents.ts'
import { sqlAlerts } from './alerts.ts'
import { sqlApprovals } from './approvals.ts'
import { sqlClock } from './clock.ts'
import { sqlGrants } from './grants.ts'
import { sqlJobs } from './jobs.ts'
import { sqlMessages, sqlSubscriptions } from './messages.ts'
import { sqlMeta } from './meta.ts'
import { sqlModels } from './models.ts'
import { sqlNodes } from './nodes.ts'
import { sqlOperators, sqlWebSessions } from './operators.ts'
import { sqlProcesses } from './processes.ts'
import { sqlReplica } from './replica.ts'
import { sqlRollbacks } from './rollbacks.ts'
import { sqlSchedules } from './schedules.ts'
import { sqlSecrets } from './secrets.ts'
import { sqlServices } from './services.ts'
import { sqlSessions } from './sessions.ts'
import { sqlSharedEvents } from './shared-events.ts'
import { sqlState } from './state.ts'
import type { StoreDialect } from './store-dialect.ts'
import type { Db } from './tables.ts'
import { sqlUpstreams } from './upstreams.ts'
import { sqlUserTokens } from './user-tokens.ts'
import { sqlWakes } from './wakes.ts'
import { sqlWrites } from './writes.ts'

/** Consequences of groups of the log. */
export const groupStores = (db: Db): Pick<Stores, 'agents' | 'sessions' | 'clock'> => ({
  agents: sqlAgents(db),
  sessions: sqlSessions(db),
  clock: sqlClock(db),
})

export const sqlStores = (db: Db, dialect: StoreDialect): Stores => ({
  ...groupStores(db),
  meta: sqlMeta(db),
  sharedEvents: sqlSharedEvents(db, dialect),
  approvals: sqlApprovals(db),
  grants: sqlGrants(db),
  userTokens: sqlUserTokens(db),
  operators: sqlOperators(db),
  webSessions: sqlWebSessions(db),
  state: sqlState(db),
  alerts: sqlAlerts(db),
  jobs: sqlJobs(db),
  processes: sqlProcesses(db),
  schedules: sqlSchedules(db),
  messages: sqlMessages(db),
  subscriptions: sqlSubscriptions(db),
  wakes: sqlWakes(db),
  models: sqlModels(db),
  nodes: sqlNodes(db),
  upstreams: sqlUpstreams(db),
  services: sqlServices(db),
  writes: sqlWrites(db),
  rollbacks: sqlRollbacks(db),
  replica: sqlReplica(db, dialect.search),
  secrets: sqlSecrets(db),
})
