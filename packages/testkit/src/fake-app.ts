import {
  type Agent,
  AgentName,
  type Alert,
  AlertId,
  Approval,
  type AuditEntry,
  AuditId,
  type AuditProof,
  type DecideOutcome,
  GatehouseError,
  Grant,
  type Integrity,
  type Operator,
  type Process,
  ProcessId,
  type Role,
  type Schedule,
  ScheduleId,
  type Secret,
  UserTokenId,
  type VaultStatus,
} from '@gatehouse/contract'
import { describeCall } from '@gatehouse/contract/describe-call'
import type { App } from '@gatehouse/server/app/app'
import { fakeProxy } from './fake-service/fake-proxy.ts'
import { fakeUpstreams } from './fake-upstreams.ts'
import { fakeEngine } from './models/fake-engine.ts'
import { fakeModels } from './models/fake-models.ts'

const time = '2026-03-01T12:00:00.000Z'
const integrity: Integrity = { integrity: 'verified', verified_through: 1, verified_at: time }

/** Ids of the right form that are the same in each run. */
const idOf = (prefix: string, n: number): string => `${prefix}-${String(n).padStart(26, '0')}`

/** User tokens of the right form, one for each role. */
export const fakeTokens: Readonly<Record<Role, string>> = {
  operator: `gatehouse_user_${'o'.repeat(43)}`,
  approver: `gatehouse_user_${'a'.repeat(43)}`,
  viewer: `gatehouse_user_${'v'.repeat(43)}`,
}

/** The password and the login of the one operator there is. */
export const fakePassword = 'correct horse battery'
export const fakeLogin = 'L'.repeat(43)

const operatorOf = (name: string): Operator => ({
  name,
  role: 'operator',
  created_at: time,
  password_changed_at: time,
})

const agentOf = (name: string, purpose: string): Agent => ({
  name: AgentName.parse(name),
  purpose,
  status: 'active',
  created_at: time,
  last_connected: null,
  total_invocations: 3,
  approvals: 'pending',
  workspace: `/data/workspaces/${name}`,
  mounts: [],
  tools: [],
  version: 1,
  token_fingerprint: '0a1b2c3d',
})

const processOf = (state: Process['state']): Process => ({
  process_id: ProcessId.parse(idOf('proc', 1)),
  agent: AgentName.parse('mailbot'),
  command: 'python3',
  args: ['server.py', '--port', '8080'],
  working_directory: '/work/mailbot',
  background: true,
  state,
  exit_code: null,
  signal: null,
  sandbox: 'bubblewrap',
  network: [],
  started_at: time,
  ended_at: null,
  stdout_bytes: 10,
  stderr_bytes: 0,
  cpu_ms: null,
  memory_bytes_max: null,
  detail: null,
})

const scheduleOf = (status: Schedule['status']): Schedule => ({
  schedule_id: ScheduleId.parse(idOf('sched', 1)),
  agent: AgentName.parse('mailbot'),
  capability: 'email.search',
  arguments: { unread: true },
  schedule: '0 9 * * 1-5',
  time_zone: 'Europe/Berlin',
  description: 'Morning mail',
  status,
  next_run_at: status === 'active' ? '2026-03-02T08:00:00.000Z' : null,
  created_at: time,
})

export const fakeApproval = (n: number, change: Partial<Approval> = {}): Approval =>
  Approval.parse({
    id: idOf('appr', n),
    agent: 'mailbot',
    capability: 'email.send',
    arguments: { to: 'ana@example.com', subject: 'Hello' },
    effective_arguments: change.arguments ?? { to: 'ana@example.com', subject: 'Hello' },
    stale: null,
    digest: `sha256:${String(n).repeat(64).slice(0, 64)}`,
    requested_at: time,
    expires_at: '2026-03-02T12:00:00.000Z',
    status: 'pending',
    session_id: null,
    reason: 'Mail leaves the machine',
    agent_reason: null,
    rule: { layer: 'organisation', file: 'organisation.yaml', line: 4, match: 'email.*' },
    critical: false,
    preview: { kind: 'mail', headers: { To: 'ana@example.com', Subject: 'Hello' }, text: 'Hi Ana' },
    decided_at: null,
    decided_by: null,
    decision_reason: null,
    execution: { state: 'waiting' },
    ...change,
  })

const succeeded: Approval['execution'] = {
  state: 'succeeded',
  result: { success: true, data: {} },
}

export const fakeEntry = (n: number, change: Partial<AuditEntry> = {}): AuditEntry => ({
  id: AuditId.parse(idOf('aud', n)),
  timestamp: time,
  kind: 'call',
  agent: 'mailbot',
  capability: 'filesystem.read',
  arguments: { path: 'notes.txt' },
  result: 'success',
  policy_decision: 'autonomous',
  actor: 'agent:mailbot',
  session_id: null,
  request_id: idOf('req', n),
  rule: null,
  duration_ms: 2,
  approval_id: null,
  intent_id: null,
  error: null,
  detail: null,
  chain: 'main',
  seq: n,
  hash: `sha256:${'ab'.repeat(32)}`,
  ...change,
})

export const fakeSecret: Secret = {
  name: 'github_token',
  kind: 'agent',
  description: 'Reads the issues',
  capabilities: ['network.credentialed_request'],
  hosts: ['api.github.com'],
  agents: ['mailbot'],
  version: 1,
  created_at: time,
  rotated_at: time,
  scope_changed_at: time,
  uses: 1,
  last_use: {
    at: time,
    agent: 'mailbot',
    capability: 'network.credentialed_request',
    host: 'api.github.com',
  },
  rotation_request: null,
}

const secret = (name: string): Secret => {
  if (name !== fakeSecret.name) throw new GatehouseError('SecretNotFound', { name })
  return fakeSecret
}

const vaultOf = (locked: boolean): VaultStatus => ({
  status: locked ? 'degraded' : 'healthy',
  locked,
  mode: 'key_file',
  secrets: 1,
  integrity: 'verified',
  tampered: [],
  reason: locked ? 'an operator locked it' : null,
  remedy: locked ? 'run `gatehouse vault unlock`' : null,
})

export const fakeAlert: Alert = {
  id: AlertId.parse(idOf('alert', 1)),
  source: 'agent:mailbot',
  kind: 'agent',
  severity: 'warning',
  message: 'The mailbox is nearly full.',
  context: { percent: 96 },
  status: 'open',
  created_at: time,
  last_raised_at: time,
  count: 2,
  acknowledged_at: null,
  acknowledged_by: null,
}

export const fakeGrant: Grant = Grant.parse({
  id: idOf('grant', 1),
  agent: 'mailbot',
  capability: 'email.send',
  match: 'same_capability',
  arguments: null,
  approval_id: idOf('appr', 1),
  status: 'active',
  created_at: time,
  created_by: 'user:ana',
  expires_at: '2026-03-01T13:00:00.000Z',
  uses: 5,
  used: 2,
  last_used_at: time,
  revoked_at: null,
  revoked_by: null,
})

/** The people's half of the application in memory: enough for the REST routes and the command line. */
export type FakeApp = {
  readonly app: App
  /** Each use case that was called, in order. */
  readonly calls: string[]
  readonly approvals: Map<string, Approval>
  readonly agents: Map<string, Agent>
  readonly entries: AuditEntry[]
  /** Stores an approval and tells those who listen. */
  tell(approval: Approval): void
  /** From now on this token is unknown. */
  forget(role: Role): void
  listeners(): number
}

const never = (name: string) => (): never => {
  throw new Error(`${name} is not part of the fake`)
}

const fakeProof: AuditProof = {
  format: 'gatehouse-audit-proof-v1',
  body: '{}',
  seq: 0,
  size: 1,
  leaf: '0'.repeat(64),
  root: '0'.repeat(64),
  proof: [],
  checkpoint: '',
  public_key: '',
}

export function createFakeApp(override: Partial<App> = {}): FakeApp {
  const calls: string[] = []
  const approvals = new Map<string, Approval>()
  const agents = new Map<string, Agent>([['mailbot', agentOf('mailbot', 'Answers mail')]])
  const entries = [fakeEntry(0), fakeEntry(1, { result: 'denied', capability: 'process.run' })]
  const forgotten = new Set<Role>()
  const listeners = new Set<(approval: Approval) => void>()
  const token = 'f'.repeat(64)

  const agent = (name: string): Agent => {
    const found = agents.get(name)
    if (!found) throw new GatehouseError('AgentNotFound', { agent: name })
    return found
  }
  const change = (name: string, next: Partial<Agent>): Agent => {
    const changed = { ...agent(name), ...next }
    agents.set(name, changed)
    return changed
  }
  const approval = (id: string): Approval => {
    const found = approvals.get(id)
    if (!found) throw new GatehouseError('ApprovalNotFound', { approval_id: id })
    return found
  }
  const tell = (next: Approval) => {
    approvals.set(next.id, next)
    for (const listener of listeners) listener(next)
  }

  const decideOne: App['decideApproval'] = async (
    op,
    { approval_id, decision, digest, reason },
  ) => {
    const current = approval(approval_id)
    if (current.status !== 'pending') return { kind: 'not_pending', approval: current }
    if (digest !== undefined && digest !== current.digest)
      throw new GatehouseError('ApprovalDigestMismatch', { approval_id })
    const next: Approval = {
      ...current,
      status: decision === 'approve' ? 'approved' : 'rejected',
      decided_at: time,
      decided_by: op.actor.kind === 'user' ? `user:${op.actor.label}` : op.actor.kind,
      decision_reason: reason ?? null,
    }
    tell(next)
    if (decision === 'approve') queueMicrotask(() => tell({ ...next, execution: succeeded }))
    return { kind: 'decided', approval: next }
  }

  const people: Partial<App> = {
    version: '1.2.3',
    async authenticateUser(sent) {
      const role = (['operator', 'approver', 'viewer'] as const).find((r) => fakeTokens[r] === sent)
      if (!role || forgotten.has(role)) return null
      const stored = { id: idOf('ut', 1), label: `the ${role}`, role, token_hash: '' }
      return { ...stored, created_ms: 0, last_used_ms: null, revoked_ms: null }
    },
    async createAgent(_op, input) {
      if (agents.has(input.name)) throw new GatehouseError('AgentExists', { agent: input.name })
      const made = { ...agentOf(input.name, input.purpose), approvals: input.approvals }
      agents.set(made.name, { ...made, mounts: input.mounts, tools: input.tools })
      return { agent: agent(made.name), token, warnings: [] }
    },
    async editAgent(_op, { name, changes, versions }) {
      const { version } = agent(name)
      if (versions && !versions.includes(version)) return { kind: 'changed', agent: agent(name) }
      const edited = change(name, { ...changes, version: version + 1 } as Partial<Agent>)
      return { kind: 'edited', agent: edited, warnings: [] }
    },
    listAgents: async () => [...agents.values()],
    showAgent: async (_op, { name }) => ({
      ...agent(name),
      sessions: [],
      stats: { by_capability: [], by_day: [], rate_limits: [] },
    }),
    listToolsOf: async () => [],
    pauseAgent: async (_op, { name }) => change(name, { status: 'paused' }),
    async resumeAgent(_op, { name }) {
      const { status } = agent(name)
      const detail = 'only a paused agent can be resumed'
      if (status !== 'paused')
        throw new GatehouseError('AgentStateConflict', { agent: name, status, detail })
      return change(name, { status: 'active' })
    },
    rotateAgent: async (_op, { name }) => ({ agent: agent(name), token }),
    revokeAgent: async (_op, { name }) => change(name, { status: 'revoked' }),
    restoreAgent: async (_op, { name }) => ({ agent: change(name, { status: 'active' }), token }),
    async listApprovals(_op, { status, agent: of, limit, offset }) {
      const all = [...approvals.values()].filter(
        (a) =>
          (status === undefined || a.status === status) && (of === undefined || a.agent === of),
      )
      return { approvals: all.slice(offset, offset + limit), total: all.length }
    },
    showApproval: async (_op, { approval_id }) => approval(approval_id),
    decideApproval: decideOne,
    async decideApprovals(op, { ids, ...decision }) {
      const outcomes: DecideOutcome[] = []
      for (const id of ids) {
        if (!approvals.has(id)) outcomes.push({ id, outcome: 'not_found' })
        else {
          const decided = await decideOne(op, { approval_id: id, ...decision })
          outcomes.push({ id, outcome: decided.kind, approval: decided.approval })
        }
      }
      return outcomes
    },
    listGrants: async (_op, { all, limit, offset }) => {
      const found = [fakeGrant].filter(({ status }) => all || status === 'active')
      return { grants: found.slice(offset, offset + limit), total: found.length }
    },
    revokeGrant: async (op) => ({
      ...fakeGrant,
      status: 'revoked',
      revoked_at: time,
      revoked_by: op.actor.kind === 'user' ? `user:${op.actor.label}` : op.actor.kind,
    }),
    subscribeApprovals(listener) {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
    async queryAudit(_op, { agent: of, result, limit, offset }) {
      const all = entries.filter(
        (e) =>
          (of === undefined || e.agent === of) && (result === undefined || e.result === result),
      )
      return { entries: all.slice(offset, offset + limit), total: all.length, ...integrity }
    },
    async showAuditEntry(_op, { id }) {
      const found = entries.find((e) => e.id === id)
      if (!found) throw new GatehouseError('NotFound', { path: id })
      return found
    },
    async proveAuditEntry(_op, { id }) {
      if (!entries.some((e) => e.id === id)) throw new GatehouseError('NotFound', { path: id })
      return fakeProof
    },
    verifyAudit: async () => integrity,
    acknowledgeAudit: async () => integrity,
    reindexAudit: async () => integrity,
    listNotifications: async () => [],
    listFailedNotifications: async () => [],
    testNotification: async (_op, { name }) => ({
      name,
      delivered: true,
      status: 200,
      detail: null,
    }),
    retryNotifications: async (_op, { name }) => ({ name, retried: 1 }),
    async makeBackup() {
      return (async function* () {
        yield new TextEncoder().encode('sealed')
      })()
    },
    async *exportAudit() {
      for (const entry of entries) yield JSON.stringify(entry)
    },
    showPolicy: async () => ({
      version: 'sha256:00',
      files: [
        { layer: 'organisation', file: 'organisation.yaml', agent: null, text: 'version: 1\n' },
      ],
      problems: [],
      rules: 12,
      testsPassed: 3,
    }),
    async testPolicy(_op, { agent: of }) {
      agent(of)
      const rule = { layer: 'organisation', file: 'organisation.yaml', line: 4, match: 'email.*' }
      const at = { ...rule, layer: 'organisation' as const }
      return {
        decision: { kind: 'ask', rule: at, reason: 'Mail leaves the machine', notify: false },
        steps: [{ rule: at, outcome: 'decided' }],
      }
    },
    async validatePolicy(_op, { text, file }) {
      if (text.startsWith('version: 1')) return { problems: [], rules: 1, testsPassed: 0 }
      const where = { file, line: 1, column: 1 }
      const problem = { ...where, message: 'version must be 1', severity: 'error' as const }
      return { problems: [problem], rules: 0, testsPassed: 0 }
    },
    async savePolicy(_op, { text, agent: of }) {
      if (of !== undefined) agent(of)
      if (text.startsWith('version: 1'))
        return {
          version: 'sha256:01',
          problems: [],
          previous: `.previous/${of === undefined ? 'organisation' : `agents/${of}`}.yaml`,
        }
      const where = { file: 'organisation.yaml', line: 1, column: 1 }
      return {
        version: 'sha256:00',
        problems: [{ ...where, message: 'version must be 1', severity: 'error' }],
        previous: null,
      }
    },
    listProcesses: async () => ({ processes: [processOf('running')], total: 1 }),
    async showProcess(_op, { process_id }) {
      if (process_id !== idOf('proc', 1))
        throw new GatehouseError('ProcessNotFound', { process_id })
      return processOf('running')
    },
    async readProcessLog(_op, { process_id, stream, offset = 0 }) {
      if (process_id !== idOf('proc', 1))
        throw new GatehouseError('ProcessNotFound', { process_id })
      return {
        process_id: ProcessId.parse(process_id),
        stream,
        state: 'running',
        content: 'listening\n',
        offset,
        next_offset: offset + 10,
        total_bytes: offset + 10,
        lost_bytes: 0,
        truncated: false,
      }
    },
    async killProcess(_op, { process_id, signal }) {
      if (process_id !== idOf('proc', 1))
        throw new GatehouseError('ProcessNotFound', { process_id })
      return { process_id: ProcessId.parse(process_id), state: 'killed', signal_sent: signal }
    },
    listSchedules: async () => ({ schedules: [scheduleOf('active')], total: 1 }),
    async deleteSchedule(_op, { schedule_id }) {
      if (schedule_id !== idOf('sched', 1))
        throw new GatehouseError('ScheduleNotFound', { schedule_id })
      return scheduleOf('deleted')
    },
    createUserToken: async (_op, { label, role }) => ({
      id: UserTokenId.parse(idOf('ut', 2)),
      label,
      role,
      token: `gatehouse_user_${'n'.repeat(43)}`,
    }),
    listUserTokens: async () => [
      {
        id: UserTokenId.parse(idOf('ut', 1)),
        label: 'cli',
        role: 'operator',
        created_at: time,
        last_used_at: null,
        revoked_at: null,
      },
    ],
    async revokeUserToken(_op, { id }) {
      if (id !== idOf('ut', 1)) throw new GatehouseError('UserTokenNotFound', { id })
      return {
        id: UserTokenId.parse(id),
        label: 'cli',
        role: 'operator',
        created_at: time,
        last_used_at: null,
        revoked_at: time,
      }
    },
    showVault: async () => vaultOf(false),
    lockVault: async () => vaultOf(true),
    unlockVault: async () => vaultOf(false),
    setVaultPassphrase: async () => vaultOf(false),
    rotateVaultKey: async () => ({ secrets: 1 }),
    listSecrets: async () => [fakeSecret],
    showSecret: async (_op, { name }) => secret(name),
    addSecret: async (_op, { value: _value, ...facts }) => ({ ...fakeSecret, ...facts }),
    changeSecret: async (_op, { name }) => secret(name),
    rotateSecret: async (_op, { name }) => ({ ...secret(name), version: 2 }),
    async deleteSecret(_op, { name }) {
      secret(name)
      return { name, deleted: true }
    },
    async checkSecret(_op, use) {
      secret(use.name)
      return { ...use, allowed: use.agent === 'mailbot', reason: 'its agents are mailbot' }
    },
    ...fakeModels,
    ...fakeUpstreams(),
    ...fakeEngine,
    ...fakeProxy,
    needsSetup: async () => false,
    createSetupLink: async () => ({ token: 's'.repeat(43), expires_at: time }),
    async login(_op, { password, name = 'ana' }) {
      if (password !== fakePassword)
        throw new GatehouseError('AuthenticationFailed', { detail: 'the password is wrong' })
      return { id: fakeLogin, whoami: { name, role: 'operator', via: 'login', expires_at: time } }
    },
    setUp: async (_op, { name = 'ana' }) => ({
      id: fakeLogin,
      whoami: { name, role: 'operator', via: 'login', expires_at: time },
    }),
    logout: async () => undefined,
    async authenticateWebSession(id) {
      if (id !== fakeLogin) return null
      const actor = {
        kind: 'user',
        label: 'ana',
        role: 'operator',
        token_id: 'operator:ana',
      } as const
      return { actor, id_hash: 'hash', expires_at: time }
    },
    listOperators: async () => [operatorOf('ana')],
    setPassword: async (_op, { name }) => ({ ...operatorOf(name), created: name !== 'ana' }),
    async removeOperator(_op, { name }) {
      if (name !== 'ana') throw new GatehouseError('OperatorNotFound', { name })
      return operatorOf(name)
    },
    status: async () => ({
      version: '1.2.3',
      uptime_seconds: 61,
      active_agents: 1,
      active_sessions: 0,
      pending_approvals: approvals.size,
      capabilities_invoked_24h: 3,
      policy_violations_24h: 1,
      health: 'healthy',
      health_reasons: [],
    }),
    health: async () => ({
      status: 'healthy',
      reasons: [],
      components: {
        gateway: { status: 'healthy', uptime: 61 },
        vault: { status: 'disabled', reason: 'this version has no vault', locked: false },
        models: { status: 'healthy', installed: 1, catalog: 'current' },
        audit: { status: 'healthy', entries: 2 },
        proxy: { status: 'disabled', reason: 'this version has no proxy', services: 0 },
        upstreams: { status: 'healthy', servers: {} },
        dashboard: { status: 'healthy' },
        policy: { status: 'healthy', version: 'sha256:00' },
        storage: { status: 'healthy', engine: 'sqlite' },
        sandbox: { status: 'healthy', backend: 'bubblewrap' },
        log: { status: 'healthy', dropped_lines: 0 },
      },
      resources: { cpu_percent: 1, memory_percent: 2, disk_percent: 3 },
    }),
    readiness: () => 'healthy',
    probeSandbox: async () => ({
      usable: true,
      backend: 'bubblewrap',
      detail: 'everything holds',
      remedy: null,
    }),
    renderMetrics: async () => '# TYPE gatehouse_info gauge\ngatehouse_info 1\n',
    pauseAll: async () => ({ agents: ['mailbot'], count: 1 }),
    resumeAll: async () => ({ agents: ['mailbot'], count: 1 }),
    listActivity: async (_op, { limit, offset }) => ({
      events: entries.map((entry) => ({
        id: entry.id,
        type: 'capability_invoked',
        timestamp: entry.timestamp,
        agent: entry.agent,
        capability: entry.capability,
        object: describeCall(entry.capability, entry.arguments),
        success: entry.result === 'success',
        duration_ms: entry.duration_ms ?? 0,
        result: entry.result,
        policy_decision: entry.policy_decision,
        actor: entry.actor,
        session_id: null,
        approval_id: null,
        error: null,
      })),
      total: entries.length,
      limit,
      offset,
    }),
    async *followActivity(op, { after }) {
      const page = await people.listActivity?.(op, { limit: 50, offset: 0 })
      yield { events: [], place: after ?? 'main:0' }
      const events = page?.events ?? []
      yield {
        events: events.map((event, i) => ({ place: `main:${i + 1}`, event })),
        place: `main:${events.length}`,
      }
    },
    async listState(_op, { agent: of }) {
      if (of !== 'shared') agent(of)
      return { agent: of, keys: [{ key: 'notes/a', size_bytes: 5, version: 2, updated_at: time }] }
    },
    async showState(_op, { agent: of, key }) {
      if (of !== 'shared') agent(of)
      if (key !== 'notes/a') throw new GatehouseError('StateNotFound', { key })
      return { agent: of, key, value: { open: true }, version: 2, updated_at: time }
    },
    async changeState(_op, { agent: of, key, value }) {
      if (of !== 'shared') agent(of)
      return { agent: of, key, value, version: 3, updated_at: time }
    },
    async deleteState(_op, { agent: of, key }) {
      if (of !== 'shared') agent(of)
      if (key !== 'notes/a') throw new GatehouseError('StateNotFound', { key })
      return { agent: of, key, deleted: true }
    },
    listAlerts: async () => ({ alerts: [fakeAlert], total: 1 }),
    async acknowledgeAlert(_op, { alert_id }) {
      if (alert_id !== fakeAlert.id) throw new GatehouseError('AlertNotFound', { alert_id })
      return {
        ...fakeAlert,
        status: 'acknowledged',
        acknowledged_at: time,
        acknowledged_by: 'user:ana',
      }
    },
    ...override,
  }
  const app = new Proxy(people, {
    get(target, name) {
      const part: unknown = Reflect.get(target, name)
      if (part === undefined) return never(String(name))
      if (typeof part !== 'function') return part
      return (...given: unknown[]): unknown => {
        calls.push(String(name))
        return Reflect.apply(part, target, given)
      }
    },
  }) as App

  return {
    app,
    calls,
    approvals,
    agents,
    entries,
    tell,
    forget: (role) => void forgotten.add(role),
    listeners: () => listeners.size,
  }
}
