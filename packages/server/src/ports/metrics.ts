import type { Commit } from './audit.ts'

/** Gauges, looked up when somebody asks for the metrics. */
export type Gauges = {
  readonly agents: Readonly<Record<'active' | 'paused' | 'revoked', number>>
  /** Of this store, this one included. */
  readonly nodes: number
  readonly sessions_open: number
  readonly approvals_pending: number
  readonly alerts_open: number
  /** Programs of agents. */
  readonly processes_running: number
  /** Connected services, by status. */
  readonly services: Readonly<Record<'connected' | 'syncing' | 'degraded', number>>
  /** Writes to services: those that wait for their time, those that failed and wait for a person. */
  readonly writes: Readonly<Record<'pending' | 'dead', number>>
  /** 1 for an upstream server that is well, 0.5 for one that waits for a person, 0 for one that fails. */
  readonly upstreams: Readonly<Record<string, number>>
  readonly audit_entries: number
  /** By target: entries that it lacks, the age of the oldest in seconds, and whether its last delivery failed. */
  readonly audit_lag_entries: Readonly<Record<string, number>>
  readonly audit_lag_seconds: Readonly<Record<string, number>>
  readonly audit_targets_failing: Readonly<Record<string, number>>
  /** 1 for a part that is well or not there, 0.5 for a degraded one, 0 for one that is not. */
  readonly health: Readonly<Record<string, number>>
}

/** Metrics of one process, as data of the library that renders them. */
export type MetricValues = readonly object[]

/** Numbers for a monitoring system. No label has values that an agent can choose. */
export interface Metrics {
  /** Must count what a commit holds, at next to no cost: calls wait for it. */
  committed(commit: Commit): void

  /** Must return the Prometheus text format, with what other processes of this node counted added up. */
  render(gauges: Gauges, others: readonly MetricValues[]): Promise<string>

  /** Must return what this process counted, for the one that speaks for all. */
  values(): Promise<MetricValues>
}
