import { type Route, type RouteName, routes } from '@gatehouse/contract/routes'
import { expect, test } from 'vitest'
import { commands } from '../src/commands/index.ts'
import { type CliKit, createCliKit } from './kit.ts'
import { commandLines } from './lines.ts'

/** Routes after which something is gone, or has happened outside, that no other command brings back. */
const destructive: readonly RouteName[] = [
  'acknowledgeAudit',
  'applyRetention',
  'deleteSchedule',
  'deleteSecret',
  'deleteState',
  'disconnectService',
  'discardWrite',
  'killProcess',
  'removeModel',
  'removeOperator',
  'removeUpstream',
  'retryWrite',
  'revokeAgent',
  'revokeUserToken',
  'rollBack',
  'rotateAgent',
]

/** Routes that only take in what is given, take back a permission, pause, or can be taken back themselves. */
const harmless: readonly RouteName[] = [
  ...(['acknowledgeAlert', 'addSecret', 'cancelInstall'] as const),
  ...(['muteAlerts', 'unmuteAlerts', 'routeAlerts'] as const),
  ...(['cancelWrite', 'changeSecret', 'connectService', 'createAgent', 'editAgent'] as const),
  ...(['createSetupLink', 'createUserToken', 'endLogin', 'inspectModel'] as const),
  'installModel',
  ...(['admitNode', 'drainNode', 'forgetNode', 'inviteNode', 'resumeNode'] as const),
  ...([
    'lockVault',
    'logIn',
    'logOut',
    'makeBackup',
    'moveAgent',
    'pauseAgent',
    'pauseAll',
  ] as const),
  ...([
    'probeSandbox',
    'refreshCatalog',
    'reindexAudit',
    'rejectApproval',
    'releaseModel',
  ] as const),
  ...(['restoreAgent', 'resumeAgent', 'resumeAll', 'retryNotifications'] as const),
  ...(['revokeGrant', 'rotateSecret', 'rotateVaultKey', 'setDefaultModel'] as const),
  ...(['setPassword', 'setState', 'setUp', 'setUpEngine', 'setVaultPassphrase'] as const),
  ...(['startEngine', 'stopEngine', 'syncService', 'testNotification', 'testPolicy'] as const),
  'testAuditTarget',
  ...(['testService', 'tryModel', 'unlockVault', 'validatePolicy', 'verifyAudit'] as const),
  ...(['addUpstream', 'declineUpstream', 'editUpstream'] as const),
  ...(['refreshUpstream', 'restartUpstream'] as const),
  ...(['finishUpstreamLogin', 'loginUpstream', 'logoutUpstream'] as const),
  'replayPolicy',
  'simulatePolicy',
  'verifyModel',
]

/** Can be undone, but not what a model has read meanwhile: wants a yes, too. */
const trusting: readonly RouteName[] = ['acceptUpstream']

/** Decisions that the command line spells out; asked about at a terminal only. */
const decisions: readonly RouteName[] = [
  ...(['answerQuestion', 'approveApproval', 'askHook', 'decideApprovals'] as const),
  ...(['saveAgentPolicy', 'saveOrganisationPolicy'] as const),
]

test('knows of every operation that changes something whether it can be undone', () => {
  const changing = Object.entries<Route>(routes)
    .filter(([, { method }]) => method !== 'GET')
    .map(([name]) => name)
  expect([...destructive, ...trusting, ...harmless, ...decisions].toSorted()).toEqual(
    changing.toSorted(),
  )
})

const isDestructive = (name: string) =>
  ([...destructive, ...trusting] as readonly string[]).includes(name)

/** The operations of the server that one command line came to, at the service that the ones before it left. */
async function operationsOf(
  kit: CliKit,
  line: readonly string[],
  answer?: string,
): Promise<string[]> {
  const before = kit.operations.length
  const terminal = answer === undefined ? {} : { columns: 80, answer }
  const signal = AbortSignal.abort()
  await kit.gatehouse(line, { input: 'hunter2-hunter2\n', signal, ...terminal })
  return kit.operations.slice(before)
}

const acting = commands.filter(({ name }) => commandLines[name] !== null)

test.each(acting.map(({ name }) => [name]))(
  '%s does nothing that cannot be undone without a yes',
  async (name) => {
    const line = [...name.split(' '), ...(commandLines[name] ?? [])]
    const without = line.filter((word) => word !== '--yes')
    const kit = createCliKit()
    const unasked = await operationsOf(kit, without)
    expect(unasked.filter(isDestructive)).toEqual([])
    expect((await operationsOf(kit, [...without, '--json'])).filter(isDestructive)).toEqual([])
    expect((await operationsOf(kit, without, 'n')).filter(isDestructive)).toEqual([])
    // The twin: with it, it does what it is for; what it asks about and what it does go together.
    const command = await commands.find((entry) => entry.name === name)?.load()
    const done = (await operationsOf(kit, [...without, '--yes'])).filter(isDestructive)
    const asks =
      command !== undefined &&
      'run' in command &&
      command.question !== undefined &&
      !command.goesOnUnasked &&
      // These ask about files of the person, which no operation of the server is about.
      !['trust', 'completion'].includes(name)
    expect(done.length > 0).toBe(asks && name !== 'restore')
  },
)

test('says what was missing where nobody can be asked, and asks where somebody can', async () => {
  const kit = createCliKit()
  const refused = await kit.gatehouse(['agent', 'revoke', 'mailbot'])
  expect([refused.code, refused.out]).toEqual([2, ''])
  expect(refused.err).toContain('--yes')
  const json = await kit.gatehouse(['agent', 'revoke', 'mailbot', '--json'])
  expect(JSON.parse(json.err)).toMatchObject({ error: { type: 'NotConfirmed' } })
  const asked = await kit.gatehouse(['agent', 'revoke', 'mailbot'], { columns: 80, answer: 'y' })
  expect([asked.code, (await kit.agent('mailbot')).status]).toEqual([0, 'revoked'])
})
