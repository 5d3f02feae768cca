import type { Role } from '@gatehouse/contract'
import { type Permission, type Route, type RouteName, routes } from '@gatehouse/contract/routes'
import { askQuestion } from '@gatehouse/testkit/installation/ask-question'
import { password, seeded } from '@gatehouse/testkit/installation/seeds'
import { makeTemporaryFolder } from '@gatehouse/testkit/temporary-folder'
import { beforeAll, describe, expect, expectTypeOf, test } from 'vitest'
import { openRestKit, type RestKit, useRestKit } from '../rest/kit.ts'

// Rights as the documentation promises them, written down apart from the code that grants them.
const read: readonly Role[] = ['viewer', 'approver', 'operator']
const decide: readonly Role[] = ['approver', 'operator']
const manage: readonly Role[] = ['operator']
type Promised = readonly Role[] | 'everybody'

/** Every role reads, and operators alone change something, but for these. */
const exceptions: Readonly<Partial<Record<RouteName, Promised>>> = {
  isAlive: 'everybody',
  isReady: 'everybody',
  logIn: 'everybody',
  admitNode: 'everybody',
  showSetup: 'everybody',
  setUp: 'everybody',
  probeSandbox: read,
  verifyAudit: read,
  tryModel: read,
  logOut: read,
  validatePolicy: read,
  testPolicy: read,
  simulatePolicy: read,
  replayPolicy: read,
  answerQuestion: decide,
  approveApproval: decide,
  rejectApproval: decide,
  decideApprovals: decide,
  revokeGrant: decide,
  cancelWrite: decide,
  listLogins: manage,
  showVault: manage,
  listSecrets: manage,
  showSecret: manage,
  checkSecret: manage,
  previewRollback: manage,
  askHook: ['hook'],
}

const certificate = {
  ...{ origin: 'local' as const, fingerprint: 'AB:CD', names: ['one.example'], authority: null },
  ...{ valid_from: '2026-01-01T00:00:00.000Z', valid_until: '2027-01-01T00:00:00.000Z' },
}

const promisedTo = (name: RouteName, { method }: Route): Promised =>
  exceptions[name] ?? (method === 'GET' ? read : manage)

const bodies: Readonly<Partial<Record<RouteName, object>>> = {
  createAgent: { name: 'newbot' },
  moveAgent: { to: seeded.node },
  setState: { value: 1 },
  muteAlerts: { kind: 'disk', seconds: 3600, reason: 'known' },
  unmuteAlerts: { kind: 'disk' },
  routeAlerts: { kind: 'disk', targets: null },
  acknowledgeAudit: { reason: 'disk replaced' },
  answerQuestion: { action: 'decline' },
  decideApprovals: { ids: ['appr-1'], decision: 'reject' },
  logIn: { password },
  setUp: { password },
  setPassword: { password },
  makeBackup: { passphrase: password },
  createUserToken: { label: 'phone', role: 'viewer' },
  askHook: { tool_name: 'TodoWrite', tool_input: {}, cwd: '/' },
  setDefaultModel: { id: null },
  tryModel: { prompt: 'hi' },
  setVaultPassphrase: { passphrase: password },
  addSecret: { name: 'other_token', value: 'not a real one' },
  rotateSecret: { value: 'not a real one' },
  validatePolicy: { text: 'version: 1' },
  testPolicy: { agent: 'mailbot', capability: 'email.send' },
  replayPolicy: { draft: { text: 'version: 1\nrules: []\n' } },
  saveOrganisationPolicy: { text: 'version: 1\nrules: []\n' },
  saveAgentPolicy: { text: 'version: 1\nrules: []\n' },
  loginUpstream: { redirect_url: 'http://127.0.0.1:4711/callback' },
  finishUpstreamLogin: { redirected: 'http://127.0.0.1:4711/callback?code=c&state=s' },
  addUpstream: { name: 'other', server: { kind: 'stdio', command: 'other-server' } },
  connectService: {
    kind: 'mail',
    name: 'other',
    agents: ['*'],
    secrets: { password: 'open sesame' },
  },
}

/** What stands in the path of a route; of the others it is the agent, or an id of the log. */
const things: Readonly<Partial<Record<RouteName, string>>> = {
  showApproval: seeded.approval,
  approveApproval: seeded.approval,
  rejectApproval: seeded.approval,
  revokeGrant: seeded.grant,
  revokeUserToken: seeded.userToken,
  showProcess: seeded.process,
  readProcessLog: seeded.process,
  killProcess: seeded.process,
  deleteSchedule: seeded.schedule,
  acknowledgeAlert: seeded.alert,
  showSecret: seeded.secret,
  changeSecret: seeded.secret,
  rotateSecret: seeded.secret,
  deleteSecret: seeded.secret,
  checkSecret: seeded.secret,
  endLogin: seeded.login,
  removeOperator: 'ana',
  testAuditTarget: 'elsewhere',
  testNotification: 'phone',
  listFailedNotifications: 'phone',
  retryNotifications: 'phone',
  testService: seeded.service,
  syncService: seeded.service,
  disconnectService: seeded.service,
  showQuestion: seeded.question,
  answerQuestion: seeded.question,
  showUpstream: seeded.upstream,
  acceptUpstream: seeded.upstream,
  declineUpstream: seeded.upstream,
  refreshUpstream: seeded.upstream,
  restartUpstream: seeded.upstream,
  editUpstream: seeded.upstream,
  loginUpstream: seeded.waitingUpstream,
  finishUpstreamLogin: seeded.waitingUpstream,
  logoutUpstream: seeded.waitingUpstream,
  suggestUpstreamRules: seeded.upstream,
  removeUpstream: seeded.upstream,
  cancelWrite: seeded.write,
  retryWrite: seeded.deadLetter,
  discardWrite: seeded.deadLetter,
  previewRollback: seeded.rollback,
  rollBack: seeded.rollback,
  showModel: 'tiny',
  inspectModel: 'tiny',
  installModel: 'tiny',
  cancelInstall: 'slow',
  removeModel: 'odd',
  verifyModel: 'tiny',
  tryModel: 'tiny',
  releaseModel: 'tiny',
  drainNode: seeded.node,
  resumeNode: seeded.node,
  forgetNode: seeded.node,
  showJob: 'job-00000000000000000000000001',
}

function pathOf(name: RouteName, { path }: Route): string {
  const query = name === 'checkSecret' ? '?agent=mailbot&capability=git.push' : ''
  return `${path}${query}`
    .replace(':hook_client', 'claude-code')
    .replace(':name', things[name] ?? 'mailbot')
    .replace(':id', things[name] ?? seeded.auditEntry)
    .replace(':agent', 'mailbot')
    .replace(':key', 'notes%2Fa')
}

type Before = (kit: RestKit) => Promise<object | undefined>

const withoutOperator: Before = async ({ kit }) => {
  await kit.app.removeOperator(kit.operator(), { name: 'ana' })
  return undefined
}

/** A call of an upstream tool that waits for an answer. */
const asks: Before = async ({ kit }) => {
  await askQuestion(kit)
  return undefined
}

/** A target of the audit log, which is named by the settings alone. */
const elsewhere = () => ({
  name: 'elsewhere',
  kind: 'files' as const,
  folder: makeTemporaryFolder(),
})

/** What must have happened before, for some routes, and what of it goes into the body. */
/** Only a node that is there is told to drain. */
const comesBack: Before = async ({ kit: { storage } }) => {
  await storage.nodes.beat(seeded.node, { seen_ms: await storage.wallMs(), facts_json: '{}' })
  return undefined
}

const before: Readonly<Partial<Record<RouteName, Before>>> = {
  drainNode: comesBack,
  resumeNode: comesBack,
  async resumeAgent({ kit }) {
    await kit.app.pauseAgent(kit.operator(), { name: 'mailbot' })
    return undefined
  },
  async moveAgent({ kit }) {
    const { storage, parts } = kit
    await kit.app.pauseAgent(kit.operator(), { name: 'mailbot' })
    const [agent, here] = [
      await storage.agents.find('mailbot'),
      await storage.nodes.find(parts.node),
    ]
    if (!agent || !here) throw new Error('there is no mailbot, or no node')
    const program = await storage.processes.find(seeded.process)
    if (program) await storage.processes.update({ ...program, state: 'completed', ended_ms: 1 })
    await storage.nodes.put({ ...here, facts_json: JSON.stringify({ site: 'site-b' }) })
    // One that runs would have to say that no call of the agent runs there.
    const there = { ...here, name: 'node-a', state: 'stopped' } as const
    await storage.nodes.put({ ...there, facts_json: JSON.stringify({ site: 'site-a' }) })
    const next = { ...agent, site: 'site-a', generation: agent.generation + 1 }
    await storage.agents.replace(agent, next)
    return { to: parts.node }
  },
  async restoreAgent({ kit }) {
    await kit.app.revokeAgent(kit.operator(), { name: 'mailbot' })
    return undefined
  },
  answerQuestion: asks,
  createSetupLink: withoutOperator,
  async acceptUpstream({ kit }) {
    const { digest } = await kit.app.showUpstream(kit.operator(), { name: seeded.upstream })
    return { digest }
  },
  async declineUpstream({ kit }) {
    // Nothing of what is offered can be declined.
    const { digest } = await kit.app.showUpstream(kit.operator(), { name: seeded.upstream })
    return { digest, tools: [] }
  },
  async inviteNode({ kit }) {
    Object.assign(kit.storage, { isShared: true, isNetworked: true })
    kit.app.listeners.certificate = () => certificate
    return { url: 'https://one.example:7800' }
  },
  async admitNode({ kit }) {
    Object.assign(kit.storage, { isShared: true, isNetworked: true })
    kit.app.listeners.certificate = () => certificate
    const url = 'https://one.example:7800'
    return { secret: (await kit.app.inviteNode(kit.operator(), { url })).secret }
  },
  async setUp(kit) {
    await withoutOperator(kit)
    const { token } = await kit.kit.app.createSetupLink(kit.kit.operator())
    return { token }
  },
}

/** Routes that are refused, and those that only read, leave everything as it is. */
const shared = useRestKit({}, { forBrowsers: true })

beforeAll(async () => {
  shared().kit.app.listeners.certificate = () => certificate
  await asks(shared())
})

type Asked = { readonly name: RouteName; readonly route: Route; readonly role: Role | undefined }

async function statusOf(
  kit: RestKit,
  { name, route, role }: Asked,
  prepare?: Before,
): Promise<number> {
  const { login } = await kit.logIn()
  const found = await prepare?.(kit)
  kit.calls.length = 0
  const { status } = await kit.call(route.method, pathOf(name, route), {
    ...(role ? { role } : {}),
    ...(route.body ? { body: { ...bodies[name], ...found } } : {}),
    visit: {
      ...(name === 'logOut' && login ? { login } : {}),
      // Streams would last.
      ...(route.path.endsWith('/stream') ? { stopping: AbortSignal.abort() } : {}),
    },
  })
  const acted = kit.calls.filter((call) => !call.startsWith('authenticate'))
  if (status === 401 || status === 403) expect(acted).toEqual([])
  return status
}

const all = Object.entries<Route>(routes).map(
  ([name, route]) => [name as RouteName, route] as const,
)

describe.each(all)('%s', (name, route) => {
  const roles = promisedTo(name, route)
  const isAllowed = (role?: Role) => roles === 'everybody' || (role && roles.includes(role))
  const answered = async (role?: Role): Promise<number> => {
    if (route.method === 'GET' || !isAllowed(role)) return statusOf(shared(), { name, route, role })
    const settings = name === 'testAuditTarget' ? { 'audit.targets': [elsewhere()] } : {}
    await using kit = await openRestKit({ settings }, { forBrowsers: true })
    return await statusOf(kit, { name, route, role }, before[name])
  }
  test('is refused to nobody or to a stranger as promised', async () => {
    expect(await answered()).toBe(isAllowed() ? (route.success ?? 200) : 401)
  })
  test.each(['viewer', 'approver', 'operator', 'hook'] as const)(
    'answers a %s as promised',
    async (role) => {
      expect(await answered(role)).toBe(isAllowed(role) ? (route.success ?? 200) : 403)
    },
  )
})

test('no route compiles without a permission', () => {
  expectTypeOf<Route['permission']>().toEqualTypeOf<Permission | 'public'>()
})

test('names the permission that is missing', async () => {
  const answer = await shared().call('POST', '/api/agents/mailbot/pause', {
    role: 'viewer',
  })
  expect(answer.body).toMatchObject({
    status: 403,
    code: 'PermissionDenied',
    detail: 'The role viewer may not do this; it needs agents.manage.',
  })
})

test('gives an agent nothing, by token or by claim', async () => {
  const kit = shared()
  kit.calls.length = 0
  const bearer = { authorization: `Bearer ${'0'.repeat(64)}` }
  const byToken = await kit.call('GET', '/api/status', { headers: bearer })
  expect(byToken.status).toBe(401)
  expect(byToken.body.detail).toContain('user tokens')
  const actor = { kind: 'agent', name: 'mailbot', generation: 1, credential: 1 } as never
  const byClaim = await kit.call('GET', '/api/status', { visit: { actor } })
  expect(byClaim.status).toBe(401)
  expect(kit.calls).toEqual([])
})

test('serves a person whom the listener itself has established', async () => {
  const actor = { kind: 'user', label: 'ana', role: 'viewer', token_id: 'ut-1' } as const
  const kit = shared()
  expect((await kit.call('GET', '/api/status', { visit: { actor } })).status).toBe(200)
  const refused = await kit.call('POST', '/api/agents/mailbot/pause', { visit: { actor } })
  expect(refused.status).toBe(403)
})
