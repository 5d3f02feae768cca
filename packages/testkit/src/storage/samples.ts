import type { AgentName } from '@gatehouse/contract'
import type { StoredAgent, StoredSession } from '@gatehouse/server/ports/agents'
import type { StoredApproval } from '@gatehouse/server/ports/approvals'
import type { AuditRow, CommitGroup } from '@gatehouse/server/ports/audit-rows'
import type { StoredJob } from '@gatehouse/server/ports/jobs'
import type { StoredUserToken } from '@gatehouse/server/ports/people'

/** 2026-01-01T00:00:00.000Z. */
export const newYear = 1_767_225_600_000

/** Texts that engines get wrong: case, combining marks, sorting beyond the BMP, quotes, NUL, half a pair. */
export const awkwardText = 'Ünï “q” \'"\\ e\u0301 É 日本 \u{1F600} \uFFFD \0 \uD800 \\u0000 %_*'

/** The largest whole number that JSON carries. */
export const largest = Number.MAX_SAFE_INTEGER

export const agentOf = (name: string, over: Partial<StoredAgent> = {}): StoredAgent => ({
  name: name as AgentName,
  purpose: `does what ${name} does`,
  status: 'active',
  approvals: 'pending',
  workspace: `/data/${name}`,
  site: null,
  mounts: [{ path: '/srv', read_only: true }],
  tools: [],
  limits: [{ match: 'filesystem.*', limit: 10, window: '1h' }],
  created_ms: newYear,
  last_connected_ms: null,
  total_invocations: 0,
  token_hash: `hash of ${name}`,
  token_ms: newYear,
  previous_token_hash: null,
  previous_until_ms: null,
  generation: 1,
  ...over,
})

export const sessionOf = (
  id: string,
  agent: string,
  over: Partial<StoredSession> = {},
): StoredSession => ({
  id,
  agent,
  transport: 'rpc',
  client: { name: 'client', version: '1' },
  created_ms: newYear,
  ended_ms: null,
  invocations: 0,
  ...over,
})

export const approvalOf = (id: string, over: Partial<StoredApproval> = {}): StoredApproval => ({
  id,
  agent: 'mailbot',
  capability: 'email.send',
  arguments_json: '{"to":"a@example.org"}',
  bound_json: '{"arguments":{"to":"a@example.org"}}',
  digest: `sha256:${id}`,
  call_key: 'key',
  requested_ms: newYear,
  expires_ms: newYear + 1_000,
  expires_wall_ms: newYear + 1_000,
  status: 'pending',
  session_id: null,
  request_id: 'req-1',
  reason: null,
  agent_reason: null,
  rule: null,
  critical: false,
  preview: null,
  decided_ms: null,
  decided_by: null,
  decision_reason: null,
  execution: 'waiting',
  exec_id: null,
  result: null,
  result_text: null,
  delivered: 'no',
  sent_json: null,
  edit: null,
  ...over,
})

export const tokenOf = (id: string, over: Partial<StoredUserToken> = {}): StoredUserToken => ({
  id,
  label: `token ${id}`,
  role: 'operator',
  agent: null,
  token_hash: `hash of ${id}`,
  created_ms: newYear,
  last_used_ms: null,
  revoked_ms: null,
  ...over,
})

/** Row `seq` of a chain: one a second, unless told otherwise. */
export const rowOf = (seq: number, over: Partial<AuditRow> = {}): AuditRow => {
  const chain = over.chain ?? 'main'
  return {
    chain,
    seq,
    id: `aud-${chain}-${String(seq).padStart(8, '0')}`,
    hash: seq.toString(16).padStart(64, '0'),
    body: JSON.stringify({ seq, text: 'ünï' }),
    timestamp: new Date(newYear + (seq % 1e9) * 1_000).toISOString(),
    kind: 'call',
    agent: 'mailbot',
    capability: 'filesystem.read',
    result: 'success',
    policy_decision: 'autonomous',
    session_id: null,
    duration_ms: 1.5,
    intent_id: null,
    approval_id: null,
    detail: null,
    ...over,
  }
}

export const groupOf = (
  rows: readonly AuditRow[],
  over: Partial<CommitGroup> = {},
): CommitGroup => ({
  chain: rows[0]?.chain ?? 'main',
  rows,
  stamps: [],
  agentCounts: new Map(),
  sessionCounts: new Map(),
  clockMs: newYear,
  ...over,
})

export const jobOf = (id: string, over: Partial<StoredJob> = {}): StoredJob => ({
  id,
  kind: 'chore',
  subject: 'sched-1',
  agent: 'mailbot',
  payload_json: '{}',
  state: 'waiting',
  due_ms: newYear,
  attempts: 0,
  attempts_max: 3,
  owner: null,
  lease_ms: null,
  created_ms: newYear,
  started_ms: null,
  finished_ms: null,
  outcome_json: null,
  ...over,
})
