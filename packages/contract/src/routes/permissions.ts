import type { Role } from '../people.ts'
import type { Permission } from './define-routes.ts'

/**
 * @SECURITY Every route is checked against this table; roles.test.ts holds each role against each route.
 */
const granted: Readonly<Record<Role, readonly Permission[]>> = {
  // The token in an editor should be the weakest there is, and a model shows nothing of the service.
  // It lies in an editor's folder, where what the agent runs can read it: it asks, and learns nothing else.
  hook: ['hooks.ask'],
  viewer: ['read', 'models.use'],
  approver: ['read', 'models.use', 'approvals.decide', 'writes.cancel'],
  operator: [
    'read',
    'approvals.decide',
    'agents.manage',
    'alerts.manage',
    'audit.manage',
    'backup.make',
    'models.manage',
    'models.use',
    'nodes.manage',
    'notifications.manage',
    'policies.manage',
    'proxy.manage',
    'processes.manage',
    'schedules.manage',
    'state.manage',
    'upstreams.manage',
    'user_tokens.manage',
    'vault.manage',
    'operators.manage',
    'writes.cancel',
  ],
}

/** Whether people of a role may use routes of a permission: the server decides by it, and pages show by it. */
export const permits = (role: Role, permission: Permission): boolean =>
  granted[role].includes(permission)
