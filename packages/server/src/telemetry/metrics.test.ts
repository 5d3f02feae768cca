import { expect, test } from 'vitest'
import type { AuditRow } from '../ports/audit-rows.ts'
import type { Gauges } from '../ports/metrics.ts'
import { createMetrics } from './metrics.ts'

const gauges: Gauges = {
  agents: { active: 2, paused: 1, revoked: 0 },
  nodes: 2,
  sessions_open: 3,
  approvals_pending: 4,
  alerts_open: 5,
  processes_running: 6,
  services: { connected: 1, syncing: 0, degraded: 2 },
  writes: { pending: 7, dead: 8 },
  upstreams: { github: 0.5 },
  audit_entries: 6,
  audit_lag_entries: { archive: 12 },
  audit_lag_seconds: { archive: 30 },
  audit_targets_failing: { archive: 1 },
  health: { audit: 0.5 },
}

const row = (capability: string, over: Partial<AuditRow> = {}): AuditRow => ({
  chain: 'main',
  seq: 0,
  id: 'aud-1',
  hash: '',
  body: '{}',
  timestamp: '2026-01-01T00:00:00.000Z',
  kind: 'call',
  agent: 'mailbot',
  capability,
  result: 'success',
  policy_decision: 'autonomous',
  session_id: null,
  duration_ms: 7,
  intent_id: null,
  approval_id: null,
  detail: null,
  ...over,
})

const open = () =>
  createMetrics({
    version: '1.2.3',
    node: 'node-a',
    isCapability: (name) => name === 'filesystem.read',
    droppedLogLines: () => 7,
  })

test('counts calls by how they ended, once each', async () => {
  const metrics = open()
  metrics.committed({
    rows: [
      row('filesystem.read', { result: 'pending', duration_ms: null }),
      row('filesystem.read'),
      row('filesystem.read', { result: 'denied', duration_ms: null }),
      row('agent.paused', { kind: 'act' }),
    ],
    tookMs: 3,
  })
  const text = await metrics.render(gauges, [])
  const name = 'capability="filesystem.read"'
  expect(text).toContain(`gatehouse_calls_total{${name},outcome="success"} 1\n`)
  expect(text).toContain(`gatehouse_calls_total{${name},outcome="denied"} 1\n`)
  expect(text).not.toContain('outcome="pending"')
  expect(text).toContain(`gatehouse_call_duration_seconds_bucket{${name},le="0.005"} 0\n`)
  expect(text).toContain(`gatehouse_call_duration_seconds_bucket{${name},le="0.01"} 1\n`)
  expect(text).toContain(`gatehouse_call_duration_seconds_count{${name}} 1\n`)
  expect(text).toContain('gatehouse_audit_commit_duration_seconds_bucket{le="0.005"} 1\n')
  expect(text).toContain('gatehouse_audit_written_total 4\n')
  expect(text).toContain('gatehouse_log_lines_dropped_total 7\n')
})

test('makes no label of a name that an agent made up', async () => {
  const metrics = open()
  const rows = ['x.1', 'x.2', '"} 1\nfake 1'].map((name) => row(name, { result: 'error' }))
  metrics.committed({ rows, tookMs: 1 })
  const text = await metrics.render(gauges, [])
  expect(text).toContain('gatehouse_calls_total{capability="unknown",outcome="error"} 3\n')
  expect(text).not.toContain('x.1')
  expect(text).not.toContain('fake')
})

test('shows how things stand when it is asked, and how the process is', async () => {
  const metrics = open()
  await metrics.render(gauges, [])
  const text = await metrics.render({ ...gauges, approvals_pending: 9 }, [])
  for (const line of [
    'gatehouse_approvals_pending 9',
    'gatehouse_sessions_open 3',
    'gatehouse_alerts_open 5',
    'gatehouse_processes_running 6',
    'gatehouse_services{status="degraded"} 2',
    'gatehouse_writes{state="pending"} 7',
    'gatehouse_writes{state="dead"} 8',
    'gatehouse_audit_entries 6',
    'gatehouse_audit_target_lag_entries{target="archive"} 12',
    'gatehouse_audit_target_lag_seconds{target="archive"} 30',
    'gatehouse_audit_target_failing{target="archive"} 1',
    'gatehouse_agents{status="paused"} 1',
    'gatehouse_health{component="audit"} 0.5',
    'gatehouse_info{version="1.2.3",node="node-a"} 1',
    'gatehouse_nodes 2',
  ])
    expect(text).toContain(`${line}\n`)
  expect(text).toMatch(/^nodejs_eventloop_lag_seconds /m)
  expect(text).toMatch(/^process_resident_memory_bytes /m)
})
