import type { GateProcesses, Health } from '@gatehouse/contract'

export const overviewText = {
  title: 'Overview',
  health: { healthy: 'Healthy', degraded: 'Degraded', unhealthy: 'Unhealthy', disabled: 'Off' },
  service: 'The service',
  components: 'Components',
  component: {
    gateway: 'Gateway',
    vault: 'Vault',
    models: 'Local models',
    audit: 'Audit log',
    proxy: 'Service proxy',
    upstreams: 'MCP servers',
    dashboard: 'Dashboard',
    policy: 'Policy',
    storage: 'Store',
    sandbox: 'Sandbox',
    log: 'Log',
    nodes: 'Nodes',
  } satisfies Readonly<Record<keyof Health['components'], string>>,
  figures: {
    pending_approvals: 'Waiting for a person',
    active_agents: 'Active agents',
    active_sessions: 'Open sessions',
    capabilities_invoked_24h: 'Calls that ran in 24 h',
    policy_violations_24h: 'Denied in 24 h',
  },
  needs: 'Needs a person',
  oldest: 'Oldest request',
  nothingNeeds: 'Nothing needs a person right now.',
  alerts: (count: number) => (count === 1 ? '1 open alert' : `${count} open alerts`),
  questions: (count: number) =>
    count === 1 ? 'An MCP server asks a question' : `MCP servers ask ${count} questions`,
  servers: (count: number) =>
    count === 1
      ? 'An MCP server waits for a review or a login'
      : `${count} MCP servers wait for a review or a login`,
  failedWrites: (count: number) => (count === 1 ? '1 write failed' : `${count} writes failed`),
  writes: (count: number) =>
    count === 1 ? '1 write is about to run' : `${count} writes are about to run`,
  recent: 'Recent activity',
  allActivity: 'All activity',
  nothingYet: 'Nothing has happened yet.',
  first: 'Waiting for your first agent',
  firstIntro:
    'Create an agent and give its token to a client. What it does appears here by itself.',
  firstCreate: 'Create an agent',
  firstConnected: (name: string) => `${name} is connected. Its first call appears here.`,
  firstWaiting: (name: string) => `${name} has not connected yet. On the machine of the service:`,
  gateProcesses: ({ count, down }: GateProcesses) =>
    down.length === 0
      ? `${count} gate processes, all serving`
      : `${count - down.length} of ${count} gate processes serving; down: ${down.join(', ')}`,
  uptime: (text: string) => `Up for ${text}`,
  version: (version: string) => `Version ${version}`,
  resources: { cpu_percent: 'Processor', memory_percent: 'Memory', disk_percent: 'Disk' },
} as const
