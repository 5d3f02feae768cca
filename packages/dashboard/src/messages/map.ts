import { counted } from '../ui/numbers.ts'

export const mapText = {
  title: 'Map',
  intro: 'Which agents call which capabilities, and what those use behind the gate.',
  picture: 'Map of calls',
  columns: {
    agents: 'Agents',
    groups: 'Capabilities',
    targets: 'Services and MCP servers',
  },
  noTargets: 'None was used.',
  more: (count: number) => `${count} more`,
  kinds: { service: 'service', upstream: 'MCP server' },
  calls: (count: number) => counted(count, 'call'),
  denied: (count: string) => `${count} denied`,
  held: (count: string) => `${count} waited for a person`,
  legend: 'Wider lines have more calls. Point at an item to see its numbers.',
  deniedMark: 'some were denied',
  heldMark: 'some waited for a person',
  arrow: (from: string, to: string) => `${from} → ${to}`,
  table: 'Calls by agent, capabilities and service',
  agent: 'Agent',
  group: 'Capabilities',
  target: 'Service or server',
  noTarget: '–',
  callsHeader: 'Calls',
  deniedHeader: 'Denied',
  heldHeader: 'Waited',
  none: 'No calls in this time',
  noneNext:
    'Choose a longer time, or wait for the first call of an agent: it appears here by itself.',
  most: (count: number) => `The ${count} with the most calls.`,
} as const
