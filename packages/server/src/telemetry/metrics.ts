import type { Metric, Registry } from 'prom-client'
import type { Commit } from '../ports/audit.ts'
import type { Gauges, Metrics, MetricValues } from '../ports/metrics.ts'
import { Tally } from './tally.ts'

const callSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const commitSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

type Labels = Readonly<Record<string, string>>
type Value = { readonly metricName?: string; readonly labels: Labels; readonly value: number }
type Calls = { readonly byOutcome: Map<string, number>; readonly seconds: Tally }

const histogram = (name: string, labels: Labels, tally: Tally): Value[] => {
  const { buckets, sum, count } = tally.read()
  return [
    ...buckets.map(({ le, count: value }) => ({
      metricName: `${name}_bucket`,
      labels: { ...labels, le },
      value,
    })),
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ]
}

/**
 * Counts as it goes and speaks Prometheus when asked: its library is loaded by the first who asks, and
 * sees no call.
 */
export const createMetrics = (options: {
  readonly version: string
  readonly node: string
  /** Agents name capabilities as they like: a name that does not exist is no label. */
  readonly isCapability: (name: string) => boolean
  readonly droppedLogLines: () => number
}): Metrics => {
  const calls = new Map<string, Calls>()
  const commits = new Tally(commitSeconds)
  let entries = 0
  let gauges: Gauges | null = null
  let registry: Promise<Registry> | null = null

  const callsOf = (capability: string): Calls => {
    // @SECURITY The closed set of names is the bound on what an agent can make us keep; metrics.test.ts.
    const name = options.isCapability(capability) ? capability : 'unknown'
    const known = calls.get(name)
    if (known) return known
    const made = { byOutcome: new Map<string, number>(), seconds: new Tally(callSeconds) }
    calls.set(name, made)
    return made
  }

  const described = describe({
    calls,
    commits,
    entries: () => entries,
    gauges: () => gauges,
    version: options.version,
    node: options.node,
    droppedLogLines: options.droppedLogLines,
  })

  const open = async (): Promise<Registry> => {
    const prom = await import('prom-client')
    const made = new prom.Registry()
    prom.collectDefaultMetrics({ register: made })
    for (const [name, type, help, values] of described) {
      const metric = {
        name,
        get: async () => ({ name, help, type, aggregator: 'sum', values: values() }),
      }
      made.registerMetric(metric as unknown as Metric)
    }
    return made
  }
  const opened = () => (registry ??= open())

  return {
    committed({ rows, tookMs }: Commit) {
      entries += rows.length
      if (tookMs !== null && rows.length > 0) commits.add(tookMs / 1000)
      for (const { kind, capability, result, policy_decision, duration_ms } of rows) {
        if (kind !== 'call') continue
        if (result === 'pending' && policy_decision === 'autonomous') continue
        const { byOutcome, seconds } = callsOf(capability)
        byOutcome.set(result, (byOutcome.get(result) ?? 0) + 1)
        if (duration_ms !== null) seconds.add(duration_ms / 1000)
      }
    },

    async render(now, others) {
      gauges = now
      return (await addedUp(await opened(), others)).metrics()
    },

    values: async () => (await opened()).getMetricsAsJSON(),
  }
}

/** Metrics of this process with those of others. */
const addedUp = async (
  registry: Registry,
  others: readonly MetricValues[],
): Promise<Pick<Registry, 'metrics'>> => {
  if (others.length === 0) return registry
  const { AggregatorRegistry } = await import('prom-client')
  // Types of the library say single metrics, its code takes lists of them, one for each process.
  const all = [await registry.getMetricsAsJSON(), ...others] as unknown
  return AggregatorRegistry.aggregate(all as Parameters<typeof AggregatorRegistry.aggregate>[0])
}

type Described = readonly [string, string, string, () => Value[]]

type Counted = {
  readonly calls: ReadonlyMap<string, Calls>
  readonly commits: Tally
  readonly entries: () => number
  readonly gauges: () => Gauges | null
  readonly version: string
  readonly node: string
  readonly droppedLogLines: () => number
}

/** Each metric with its type, what it means and how it is read. */
const describe = (counted: Counted): readonly Described[] => [
  [
    'gatehouse_calls_total',
    'counter',
    'Capability calls of agents, by how they ended.',
    () =>
      [...counted.calls].flatMap(([capability, { byOutcome }]) =>
        [...byOutcome].map(([outcome, value]) => ({ labels: { capability, outcome }, value })),
      ),
  ],
  [
    'gatehouse_call_duration_seconds',
    'histogram',
    'How long calls that ran took inside the gate.',
    () =>
      [...counted.calls].flatMap(([capability, { seconds }]) =>
        histogram('gatehouse_call_duration_seconds', { capability }, seconds),
      ),
  ],
  [
    'gatehouse_audit_commit_duration_seconds',
    'histogram',
    'How long it took to make a group of audit entries durable.',
    () => histogram('gatehouse_audit_commit_duration_seconds', {}, counted.commits),
  ],
  [
    'gatehouse_audit_written_total',
    'counter',
    'Audit entries that this process has written.',
    () => [{ labels: {}, value: counted.entries() }],
  ],
  [
    'gatehouse_log_lines_dropped_total',
    'counter',
    'Lines of the log that could not be written: its reader has gone or is too slow, or the disk is full.',
    () => [{ labels: {}, value: counted.droppedLogLines() }],
  ],
  ...gaugesOf(counted.gauges),
  [
    'gatehouse_info',
    'gauge',
    'The version that runs, and the node that runs it.',
    () => [{ labels: { version: counted.version, node: counted.node }, value: 1 }],
  ],
]

type Now = () => Gauges | null
type One = (name: string, help: string, of: (gauges: Gauges) => number) => Described
type Many = (
  name: string,
  help: string,
  label: string,
  of: (gauges: Gauges) => Readonly<Record<string, number>>,
) => Described

const oneOf =
  (now: Now): One =>
  (name, help, of) => [
    name,
    'gauge',
    help,
    () => {
      const gauges = now()
      return gauges ? [{ labels: {}, value: of(gauges) }] : []
    },
  ]

const manyOf =
  (now: Now): Many =>
  (name, help, label, of) => [
    name,
    'gauge',
    help,
    () => {
      const gauges = now()
      if (!gauges) return []
      return Object.entries(of(gauges)).map(([key, value]) => ({ labels: { [label]: key }, value }))
    },
  ]

const gaugesOf = (now: Now): Described[] => {
  const [one, many] = [oneOf(now), manyOf(now)]
  return [
    one('gatehouse_approvals_pending', 'Calls that wait for a person.', (g) => g.approvals_pending),
    one('gatehouse_nodes', 'Nodes on this store that are there.', (g) => g.nodes),
    one('gatehouse_sessions_open', 'Open sessions of agents.', (g) => g.sessions_open),
    one('gatehouse_alerts_open', 'Alerts that nobody has acknowledged.', (g) => g.alerts_open),
    one(
      'gatehouse_processes_running',
      'Programs of agents that run now.',
      (g) => g.processes_running,
    ),
    one('gatehouse_audit_entries', 'Entries of the audit log.', (g) => g.audit_entries),
    many('gatehouse_services', 'Connected services, by status.', 'status', (g) => g.services),
    many(
      'gatehouse_writes',
      'Writes to services: pending ones, and dead ones, which failed and wait for a person.',
      'state',
      (g) => g.writes,
    ),
    many(
      'gatehouse_upstreams',
      'Upstream MCP servers: 1 well, 0.5 waiting for a person, 0 failing.',
      'upstream',
      (g) => g.upstreams,
    ),
    many(
      'gatehouse_audit_target_lag_entries',
      'Entries of the audit log that a target lacks, or that no checkpoint at it is over.',
      'target',
      (g) => g.audit_lag_entries,
    ),
    many(
      'gatehouse_audit_target_lag_seconds',
      'Age of the oldest of those entries.',
      'target',
      (g) => g.audit_lag_seconds,
    ),
    many(
      'gatehouse_audit_target_failing',
      'Targets of the audit log: 1 where the last delivery failed.',
      'target',
      (g) => g.audit_targets_failing,
    ),
    many('gatehouse_agents', 'Agents, by status.', 'status', (g) => g.agents),
    many(
      'gatehouse_health',
      'Parts of the service: 1 well or not there, 0.5 degraded, 0 unhealthy.',
      'component',
      (g) => g.health,
    ),
  ]
}
