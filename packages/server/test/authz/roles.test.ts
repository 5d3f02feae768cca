import type { Role } from '@gatehouse/contract'
import {
  fakeAlert,
  fakeApproval,
  fakeLogin,
  fakePassword,
  fakeSecret,
} from '@gatehouse/testkit/fake-app'
import {
  fakeDeadLetter,
  fakeRollback,
  fakeService,
  fakeWrite,
} from '@gatehouse/testkit/fake-service'
import { describe, expect, expectTypeOf, test } from 'vitest'
import type { Route } from '../../src/transport/rest/define.ts'
import type { Permission } from '../../src/transport/rest/permissions.ts'
import { createTable } from '../../src/transport/rest/table.ts'
import { createRestKit } from '../rest/kit.ts'

// What the documentation promises, written down apart from the code that grants it.
const read: readonly Role[] = ['viewer', 'approver', 'operator']
const decide: readonly Role[] = ['approver', 'operator']
const manage: readonly Role[] = ['operator']
const promised: Readonly<Record<string, readonly Role[] | 'everybody'>> = {
  getStatus: read,
  getHealth: read,
  probeSandbox: read,
  isAlive: 'everybody',
  isReady: 'everybody',
  getMetrics: read,
  pauseAll: manage,
  resumeAll: manage,
  listActivity: read,
  streamActivity: read,
  listAlerts: read,
  acknowledgeAlert: manage,
  listState: read,
  showState: read,
  setState: manage,
  deleteState: manage,
  listAgents: read,
  createAgent: manage,
  showAgent: read,
  pauseAgent: manage,
  resumeAgent: manage,
  rotateAgent: manage,
  revokeAgent: manage,
  restoreAgent: manage,
  listApprovals: read,
  streamApprovals: read,
  showApproval: read,
  approveApproval: decide,
  rejectApproval: decide,
  decideApprovals: decide,
  listGrants: read,
  revokeGrant: decide,
  listProcesses: read,
  showProcess: read,
  readProcessLog: read,
  killProcess: manage,
  listSchedules: read,
  deleteSchedule: manage,
  makeBackup: manage,
  listNotifications: read,
  listFailedNotifications: read,
  testNotification: manage,
  retryNotifications: manage,
  queryAudit: read,
  exportAudit: read,
  showAuditEntry: read,
  proveAuditEntry: read,
  verifyAudit: read,
  acknowledgeAudit: manage,
  reindexAudit: manage,
  listModels: read,
  showModel: read,
  showEngine: read,
  setUpEngine: manage,
  startEngine: manage,
  stopEngine: manage,
  releaseModel: manage,
  tryModel: read,
  inspectModel: manage,
  installModel: manage,
  cancelInstall: manage,
  verifyModel: manage,
  removeModel: manage,
  refreshCatalog: manage,
  setDefaultModel: manage,
  showJob: read,
  listUserTokens: read,
  createUserToken: manage,
  revokeUserToken: manage,
  showVault: manage,
  lockVault: manage,
  unlockVault: manage,
  setVaultPassphrase: manage,
  rotateVaultKey: manage,
  listSecrets: manage,
  addSecret: manage,
  showSecret: manage,
  changeSecret: manage,
  rotateSecret: manage,
  deleteSecret: manage,
  checkSecret: manage,
  showSession: read,
  logIn: 'everybody',
  logOut: read,
  showSetup: 'everybody',
  setUp: 'everybody',
  createSetupLink: manage,
  listOperators: read,
  setPassword: manage,
  removeOperator: manage,
  showPolicies: read,
  validatePolicy: read,
  testPolicy: read,
  saveOrganisationPolicy: manage,
  saveAgentPolicy: manage,
  showProxy: read,
  listServiceKinds: read,
  connectService: manage,
  testService: manage,
  syncService: manage,
  disconnectService: manage,
  listWrites: read,
  cancelWrite: decide,
  retryWrite: manage,
  discardWrite: manage,
  listRollbacks: read,
  previewRollback: manage,
  rollBack: manage,
  getOpenApi: read,
}

const bodies: Readonly<Record<string, unknown>> = {
  killProcess: {},
  createAgent: { name: 'newbot' },
  setState: { value: 1 },
  acknowledgeAudit: { reason: 'disk replaced' },
  decideApprovals: { ids: ['appr-1'], decision: 'reject' },
  logIn: { password: fakePassword },
  setUp: { token: 's', password: fakePassword },
  setPassword: { password: fakePassword },
  makeBackup: { passphrase: fakePassword },
  createUserToken: { label: 'phone', role: 'viewer' },
  setDefaultModel: { id: null },
  startEngine: {},
  tryModel: { prompt: 'hi' },
  setVaultPassphrase: { passphrase: fakePassword },
  addSecret: { name: 'github_token', value: 'not a real one' },
  rotateSecret: { value: 'not a real one' },
  validatePolicy: { text: 'version: 1' },
  testPolicy: { agent: 'mailbot', capability: 'email.send' },
  saveOrganisationPolicy: { text: 'version: 1' },
  saveAgentPolicy: { text: 'version: 1' },
  connectService: { kind: 'mail', agents: ['*'] },
  syncService: {},
  disconnectService: {},
}

const approval = fakeApproval(7)

const ofTheProxy: Readonly<Record<string, string>> = {
  testService: fakeService.name,
  syncService: fakeService.name,
  disconnectService: fakeService.name,
  cancelWrite: fakeWrite.id,
  retryWrite: fakeDeadLetter.id,
  discardWrite: fakeDeadLetter.id,
  previewRollback: fakeRollback.id,
  rollBack: fakeRollback.id,
}

function pathOf({ path, operationId }: Route): string {
  const id = operationId.endsWith('Approval')
    ? approval.id
    : operationId === 'revokeUserToken'
      ? 'ut-00000000000000000000000001'
      : operationId.includes('Process')
        ? 'proc-00000000000000000000000001'
        : operationId === 'deleteSchedule'
          ? 'sched-00000000000000000000000001'
          : 'aud-00000000000000000000000000'
  const name = operationId.endsWith('Secret')
    ? fakeSecret.name
    : operationId === 'removeOperator'
      ? 'ana'
      : 'mailbot'
  const query = operationId === 'checkSecret' ? '?agent=mailbot&capability=git.push' : ''
  const thing = ofTheProxy[operationId]
  if (thing) return path.replace(/:name|:id/, thing)
  return `${path}${query}`
    .replace(':name', name)
    .replace(':id', operationId === 'acknowledgeAlert' ? fakeAlert.id : id)
    .replace(':agent', 'mailbot')
    .replace(':key', 'notes%2Fa')
}

async function statusOf(route: Route, role: Role | undefined): Promise<number> {
  const kit = createRestKit({}, { forBrowsers: true })
  kit.fake.tell(approval)
  if (route.operationId === 'resumeAgent') {
    const agent = kit.fake.agents.get('mailbot')
    if (agent) kit.fake.agents.set('mailbot', { ...agent, status: 'paused' })
  }
  const before = kit.fake.calls.length
  const stopping = AbortSignal.abort()
  const login = await kit.fake.app.authenticateWebSession(fakeLogin)
  const { status } = await kit.call(route.method, pathOf(route), {
    ...(role ? { role } : {}),
    ...(route.operationId in bodies ? { body: bodies[route.operationId] } : {}),
    visit: { stopping, ...(login ? { login } : {}) },
  })
  const acted = kit.fake.calls.slice(before).filter((name) => !name.startsWith('authenticate'))
  if (status === 401 || status === 403) expect(acted).toEqual([])
  return status
}

const table = createTable('1.2.3')

test('promises something for each route, and for no other', () => {
  expect(table.map((route) => route.operationId).toSorted()).toEqual(
    Object.keys(promised).toSorted(),
  )
})

describe.each(table.map((route) => [route.operationId, route] as const))('%s', (name, route) => {
  const roles = promised[name] ?? []
  test('is refused to nobody or to a stranger as promised', async () => {
    const status = await statusOf(route, undefined)
    expect(status).toBe(roles === 'everybody' ? (route.success ?? 200) : 401)
  })
  test.each(['viewer', 'approver', 'operator'] as const)(
    'answers a %s as promised',
    async (role) => {
      const status = await statusOf(route, role)
      const allowed = roles === 'everybody' || roles.includes(role)
      expect(status).toBe(allowed ? (route.success ?? 200) : 403)
    },
  )
})

test('no route compiles without a permission', () => {
  expectTypeOf<Route['permission']>().toEqualTypeOf<Permission | 'public'>()
})

test('names the permission that is missing', async () => {
  const answer = await createRestKit().call('POST', '/api/agents/mailbot/pause', { role: 'viewer' })
  expect(answer.body).toMatchObject({
    status: 403,
    code: 'PermissionDenied',
    detail: 'The role viewer may not do this; it needs agents.manage.',
  })
})

test('gives an agent nothing, by token or by claim', async () => {
  const kit = createRestKit()
  const bearer = { authorization: `Bearer ${'0'.repeat(64)}` }
  const byToken = await kit.call('GET', '/api/status', { headers: bearer })
  expect(byToken.status).toBe(401)
  expect(byToken.body.detail).toContain('user tokens')
  const actor = { kind: 'agent', name: 'mailbot', generation: 1, credential: 1 } as never
  const byClaim = await kit.call('GET', '/api/status', { visit: { actor } })
  expect(byClaim.status).toBe(401)
  expect(kit.fake.calls).toEqual([])
})

test('serves a person whom the door itself has established', async () => {
  const actor = { kind: 'user', label: 'ana', role: 'viewer', token_id: 'ut-1' } as const
  const kit = createRestKit()
  expect((await kit.call('GET', '/api/status', { visit: { actor } })).status).toBe(200)
  const refused = await kit.call('POST', '/api/agents/mailbot/pause', { visit: { actor } })
  expect(refused.status).toBe(403)
})
