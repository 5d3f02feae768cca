import type { Role } from '@gatehouse/contract'
import { type Permission, type Route, type RouteName, routes } from '@gatehouse/contract/routes'
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
import { createRestKit } from '../rest/kit.ts'

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
  showSetup: 'everybody',
  setUp: 'everybody',
  probeSandbox: read,
  verifyAudit: read,
  tryModel: read,
  logOut: read,
  validatePolicy: read,
  testPolicy: read,
  approveApproval: decide,
  rejectApproval: decide,
  decideApprovals: decide,
  revokeGrant: decide,
  cancelWrite: decide,
  showVault: manage,
  listSecrets: manage,
  showSecret: manage,
  checkSecret: manage,
  previewRollback: manage,
}

const promisedTo = (name: RouteName, { method }: Route): Promised =>
  exceptions[name] ?? (method === 'GET' ? read : manage)

const bodies: Readonly<Partial<Record<RouteName, object>>> = {
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
  tryModel: { prompt: 'hi' },
  setVaultPassphrase: { passphrase: fakePassword },
  addSecret: { name: 'github_token', value: 'not a real one' },
  rotateSecret: { value: 'not a real one' },
  validatePolicy: { text: 'version: 1' },
  testPolicy: { agent: 'mailbot', capability: 'email.send' },
  saveOrganisationPolicy: { text: 'version: 1' },
  saveAgentPolicy: { text: 'version: 1' },
  connectService: { kind: 'mail', agents: ['*'] },
}

const approval = fakeApproval(7)

const ofTheProxy: Readonly<Partial<Record<RouteName, string>>> = {
  testService: fakeService.name,
  syncService: fakeService.name,
  disconnectService: fakeService.name,
  cancelWrite: fakeWrite.id,
  retryWrite: fakeDeadLetter.id,
  discardWrite: fakeDeadLetter.id,
  previewRollback: fakeRollback.id,
  rollBack: fakeRollback.id,
}

function pathOf(name: RouteName, { path }: Route): string {
  const id = name.endsWith('Approval')
    ? approval.id
    : name === 'revokeUserToken'
      ? 'ut-00000000000000000000000001'
      : name.includes('Process')
        ? 'proc-00000000000000000000000001'
        : name === 'deleteSchedule'
          ? 'sched-00000000000000000000000001'
          : 'aud-00000000000000000000000000'
  const named = name.endsWith('Secret')
    ? fakeSecret.name
    : name === 'removeOperator'
      ? 'ana'
      : 'mailbot'
  const query = name === 'checkSecret' ? '?agent=mailbot&capability=git.push' : ''
  const thing = ofTheProxy[name]
  if (thing) return path.replace(/:name|:id/, thing)
  return `${path}${query}`
    .replace(':name', named)
    .replace(':id', name === 'acknowledgeAlert' ? fakeAlert.id : id)
    .replace(':agent', 'mailbot')
    .replace(':key', 'notes%2Fa')
}

async function statusOf(name: RouteName, route: Route, role?: Role): Promise<number> {
  const kit = createRestKit({}, { forBrowsers: true })
  kit.fake.tell(approval)
  if (name === 'resumeAgent') {
    const agent = kit.fake.agents.get('mailbot')
    if (agent) kit.fake.agents.set('mailbot', { ...agent, status: 'paused' })
  }
  const before = kit.fake.calls.length
  const stopping = AbortSignal.abort()
  const login = await kit.fake.app.authenticateWebSession(fakeLogin)
  const { status } = await kit.call(route.method, pathOf(name, route), {
    ...(role ? { role } : {}),
    ...(route.body ? { body: bodies[name] ?? {} } : {}),
    visit: { stopping, ...(login ? { login } : {}) },
  })
  const acted = kit.fake.calls.slice(before).filter((call) => !call.startsWith('authenticate'))
  if (status === 401 || status === 403) expect(acted).toEqual([])
  return status
}

const all = Object.entries<Route>(routes).map(
  ([name, route]) => [name as RouteName, route] as const,
)

describe.each(all)('%s', (name, route) => {
  const roles = promisedTo(name, route)
  test('is refused to nobody or to a stranger as promised', async () => {
    const status = await statusOf(name, route)
    expect(status).toBe(roles === 'everybody' ? (route.success ?? 200) : 401)
  })
  test.each(['viewer', 'approver', 'operator'] as const)(
    'answers a %s as promised',
    async (role) => {
      const status = await statusOf(name, route, role)
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

test('serves a person whom the listener itself has established', async () => {
  const actor = { kind: 'user', label: 'ana', role: 'viewer', token_id: 'ut-1' } as const
  const kit = createRestKit()
  expect((await kit.call('GET', '/api/status', { visit: { actor } })).status).toBe(200)
  const refused = await kit.call('POST', '/api/agents/mailbot/pause', { visit: { actor } })
  expect(refused.status).toBe(403)
})
