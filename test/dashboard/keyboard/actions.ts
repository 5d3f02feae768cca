import { password } from '../../support/dashboard.ts'
import { forgeEntry } from '../../support/forge-entry.ts'
import { agentActions } from './agent-actions.ts'
import { approvalActions } from './approval-actions.ts'
import { mailActions } from './mail-actions.ts'
import { policyActions } from './policy-actions.ts'
import { upstreamActions } from './upstream-actions.ts'
import { type Action, agentOf, type World } from './world.ts'

const keptActions = (world: World): readonly Action[] => {
  const secretIs =
    (is: (secret: { readonly description: string } | undefined) => boolean) => async () =>
      is((await world.api.listSecrets()).secrets.find(({ name }) => name === 'post-token'))
  const menu = 'Actions: post-token'
  return [
    {
      does: 'deleteState',
      at: '/state?agent=mailbot',
      first: () => world.call('state.set', { key: 'last', value: 12 }),
      by: async (keys) => {
        await keys.press('View: last')
        await keys.leave()
        await keys.press('Delete: last')
        await keys.fill('Type last to confirm', 'last')
        await keys.press('Delete')
      },
      holds: async (api) => (await api.listState({ agent: 'mailbot' })).keys.length === 0,
    },
    {
      does: 'deleteSchedule',
      at: '/agents/mailbot?tab=schedules',
      first: () => {
        const args = { capability: 'system.time', arguments: {}, delay_seconds: 3600 }
        return world.call('scheduler.create', { ...args, description: '' })
      },
      by: async (keys) => {
        await keys.press('Delete: system.time')
        await keys.fill('Type system.time to confirm', 'system.time')
        await keys.press('Delete')
      },
      holds: async (api) => (await api.listSchedules({})).schedules[0]?.status === 'deleted',
    },
    {
      does: 'addSecret',
      at: '/secrets',
      by: async (keys) => {
        await keys.press('Add a secret')
        await keys.fill('Name', 'post-token')
        await keys.fill('Value', 'a value that nobody sees')
        await keys.fill('Hosts it may go to', 'api.example.org')
        await keys.press('Add a secret')
      },
      holds: secretIs((secret) => secret !== undefined),
    },
    {
      does: 'changeSecret',
      at: '/secrets',
      by: async (keys) => {
        await keys.choose(menu, 'May it be used?')
        await keys.press('Check')
        await keys.leave()
        await keys.choose(menu, 'Change the scope')
        await keys.fill('Description', 'Sends the post')
        await keys.press('Change the scope')
      },
      holds: secretIs((secret) => secret?.description === 'Sends the post'),
    },
    {
      does: 'rotateSecret',
      at: '/secrets',
      by: async (keys) => {
        await keys.choose(menu, 'Set a new value')
        await keys.fill('New value', 'another that nobody sees')
        await keys.press('Set a new value')
      },
      holds: async (api) => (await api.queryAudit({ capability: 'secret.rotated' })).total > 0,
    },
    {
      does: 'deleteSecret',
      at: '/secrets',
      by: async (keys) => {
        await keys.choose(menu, 'Delete')
        await keys.fill('Type post-token to confirm', 'post-token')
        await keys.press('Delete')
      },
      holds: secretIs((secret) => secret === undefined),
    },
    {
      does: 'lockVault',
      at: '/secrets',
      by: (keys) => keys.press('Lock'),
      holds: async (api) => (await api.showVault()).locked,
    },
    {
      does: 'unlockVault',
      at: '/secrets',
      by: async (keys) => {
        await keys.press('Unlock')
        await keys.press('Unlock')
      },
      holds: async (api) => !(await api.showVault()).locked,
    },
  ]
}

const modelActions = (world: World): readonly Action[] => {
  const show = () => world.api.showModel({ id: 'tiny-test' })
  const menu = 'Actions: tiny-test'
  return [
    {
      does: 'refreshCatalog',
      at: '/models',
      by: (keys) => keys.press('Fetch the catalog'),
      holds: async (api) => (await api.listModels()).models.some(({ id }) => id === 'tiny-test'),
    },
    {
      does: 'cancelInstall',
      at: '/models',
      // A minute long, if nobody cancels it.
      first: async () => {
        const slow = { bytes: Math.ceil(world.model.length / 240), ms: 250 }
        world.models.file('/tiny.gguf', world.model, slow)
      },
      by: async (keys) => {
        await keys.press('Install: tiny-test')
        await keys.press('Cancel: tiny-test')
      },
      holds: async () => (await show()).job?.status === 'cancelled',
    },
    {
      does: 'installModel',
      at: '/models',
      first: async () => world.models.file('/tiny.gguf', world.model),
      by: async (keys) => {
        const again = world.dashboard.page.getByRole('button', { name: /^Install.*: tiny-test$/ })
        await keys.press((await again.getAttribute('aria-label')) ?? '')
      },
      holds: async () => (await show()).installed,
    },
    {
      does: 'setDefaultModel',
      at: '/models',
      by: (keys) => keys.choose(menu, 'Use by default'),
      holds: async () => (await show()).default,
    },
    {
      does: 'verifyModel',
      at: '/models',
      by: (keys) => keys.choose(menu, 'Verify the file'),
      holds: async () =>
        world.dashboard.page.getByText('The file matches the catalog.').isVisible(),
    },
    {
      does: 'removeModel',
      at: '/models',
      by: async (keys) => {
        await keys.choose(menu, 'Remove')
        await keys.fill('Type tiny-test to confirm', 'tiny-test')
        await keys.press('Remove')
      },
      holds: async () => !(await show()).installed,
    },
  ]
}

const alertActions = (world: World): readonly Action[] => {
  const handling = () => world.api.showAlertHandling()
  return [
    {
      does: 'muteAlerts',
      at: '/alerts',
      first: () => world.call('alerts.send', { severity: 'warning', message: 'Look here' }),
      by: async (keys) => {
        await keys.press('Mute…')
        await keys.pick('For', '1 day')
        await keys.fill('Reason', 'It is being mended')
        await keys.press('Mute')
      },
      holds: async () => (await handling()).mutes.length === 1,
    },
    {
      does: 'acknowledgeAlert',
      at: '/alerts',
      by: (keys) => keys.press('Acknowledge'),
      holds: async (api) => (await api.listAlerts({ status: 'open' })).alerts.length === 0,
    },
    {
      does: 'unmuteAlerts',
      at: '/alerts?tab=handling',
      by: (keys) => keys.press('Unmute: mailbot'),
      holds: async () => (await handling()).mutes.length === 0,
    },
    {
      does: 'muteAlerts',
      at: '/alerts?tab=handling',
      by: async (keys) => {
        await keys.press('Mute alerts: disk')
        await keys.fill('Reason', 'It is being mended')
        await keys.press('Mute')
      },
      holds: async () => (await handling()).mutes.some(({ kind }) => kind === 'disk'),
    },
    {
      does: 'routeAlerts',
      at: '/alerts?tab=handling',
      by: async (keys) => {
        await keys.press('Where alerts go: disk')
        await keys.pick('Goes to', 'these targets only')
        await keys.check('phone (webhook)')
        await keys.press('Save')
      },
      holds: async () =>
        (await handling()).routes.some(({ targets }) => targets?.join() === 'phone'),
    },
    {
      does: 'testNotification',
      at: '/settings?tab=notifications',
      by: (keys) => keys.press('Send a test'),
      holds: async () => world.dashboard.page.getByText('phone did not take the test').isVisible(),
    },
  ]
}

const settingsActions = (world: World): readonly Action[] => {
  const people = async () => (await world.api.listOperators()).operators
  const tokens = async () => (await world.api.listUserTokens()).user_tokens
  return [
    {
      does: 'setPassword',
      at: '/settings',
      by: async (keys) => {
        await keys.press('Add a person')
        await keys.fill('Name', 'abel')
        await keys.pick('Role', 'Viewer: read')
        await keys.fill('Your current password', password)
        await keys.fill('New password', password)
        await keys.press('Add a person')
      },
      holds: async () =>
        (await people()).some(({ name, role }) => name === 'abel' && role === 'viewer'),
    },
    {
      does: 'setPassword',
      at: '/settings',
      by: async (keys) => {
        await keys.press('Password and role: abel')
        await keys.pick('Role', 'Approver: read, decide, cancel writes')
        await keys.fill('Your current password', password)
        await keys.fill('New password', 'another horse battery')
        await keys.press('Password and role')
      },
      holds: async () => (await people()).some(({ role }) => role === 'approver'),
    },
    {
      does: 'endLogin',
      at: '/settings?tab=logins',
      first: async () => {
        const { context } = await world.dashboard.another()
        await context.request.post(`${world.dashboard.run.dashboard_url}/api/session`, {
          data: { name: 'abel', password: 'another horse battery' },
        })
      },
      by: (keys) => keys.press('End: abel'),
      holds: async (api) => (await api.listLogins()).logins.every(({ name }) => name !== 'abel'),
    },
    {
      does: 'removeOperator',
      at: '/settings',
      by: async (keys) => {
        await keys.press('Remove: abel')
        await keys.fill('Type abel to confirm', 'abel')
        await keys.press('Remove')
      },
      holds: async () => (await people()).length === 1,
    },
    {
      does: 'createUserToken',
      at: '/settings?tab=tokens',
      by: async (keys) => {
        await keys.press('Create a user token')
        await keys.fill('Label', 'board')
        await keys.press('Create a user token')
        await keys.press('Copy')
        await keys.leave()
      },
      holds: async () => (await tokens()).some(({ label }) => label === 'board'),
    },
    {
      does: 'revokeUserToken',
      at: '/settings?tab=tokens',
      by: async (keys) => {
        await keys.press('Revoke: board')
        await keys.fill('Type board to confirm', 'board')
        await keys.press('Revoke')
      },
      holds: async () =>
        (await tokens()).every(({ label, revoked_at }) => label !== 'board' || revoked_at !== null),
    },
    {
      does: 'makeBackup',
      at: '/settings?tab=configuration',
      by: async (keys) => {
        await keys.press('Back up now…')
        await keys.fill('Passphrase of the backup', password)
        await keys.fill('Passphrase again', password)
        await keys.press('Make the backup')
      },
      holds: async () => world.keys.done.includes('makeBackup'),
    },
  ]
}

const serviceActions = (world: World): readonly Action[] => {
  const isPaused = async () => (await agentOf(world, 'mailbot')).status === 'paused'
  return [
    {
      does: 'pauseAll',
      at: '/map',
      by: async (keys) => {
        await keys.key('P')
        await keys.fill('Reason', 'a token has leaked')
        await keys.press('Pause all agents')
      },
      holds: isPaused,
    },
    {
      does: 'resumeAll',
      at: '/activity',
      by: async (keys) => {
        await keys.press('Resume agents…')
        await keys.press('Resume 2 agents')
      },
      holds: async () => !(await isPaused()),
    },
    {
      does: 'verifyAudit',
      at: '/audit',
      by: (keys) => keys.press('Verify now'),
      holds: async () => world.dashboard.page.getByText('The log is verified.').isVisible(),
    },
    {
      does: 'logOut',
      at: '/overview',
      by: (keys) => keys.choose('Account of ana', 'Log out'),
      holds: async (api) => (await api.listLogins()).logins.length === 0,
    },
    {
      does: 'logIn',
      at: null,
      by: async (keys) => {
        await keys.fill('Password', password)
        await keys.press('Log in')
      },
      holds: async (api) => (await api.listLogins()).logins.length === 1,
    },
    {
      does: 'acknowledgeAudit',
      at: '/audit',
      // An entry was changed while the service did not run.
      first: () => world.dashboard.restartAfter((dataDir) => forgeEntry(dataDir, 'approved.txt')),
      by: async (keys) => {
        await keys.press('Acknowledge…')
        await keys.fill('Reason', 'A test changed it')
        await keys.press('Acknowledge the damage')
      },
      holds: async (api) => (await api.queryAudit({})).integrity === 'verified',
    },
  ]
}

/** Every action of the pages by subject, in an order in which each finds what it needs. */
export const actions: Readonly<Record<string, (world: World) => readonly Action[]>> = {
  agents: agentActions,
  approvals: approvalActions,
  policy: policyActions,
  'state, schedules and secrets': keptActions,
  models: modelActions,
  alerts: alertActions,
  services: mailActions,
  'MCP servers': upstreamActions,
  settings: settingsActions,
  'the service': serviceActions,
}
