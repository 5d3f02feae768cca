import { counted } from '../ui/numbers.ts'

/** Numbers of calls over time, and who made them. */
export const figuresText = {
  title: 'Calls over time',
  range: 'Time shown',
  ranges: { '1h': '1 h', '24h': '24 h', '7d': '7 d', '30d': '30 d' },
  noCalls: 'No calls in this time.',
  plots: {
    calls: 'Calls',
    refusals: 'Denied and failed',
    duration: 'Duration',
    wait: 'Wait for a decision',
  },
  series: {
    calls: 'Calls',
    denied: 'Denied',
    failed: 'Failed',
    p50: 'p50',
    p95: 'p95',
    wait: 'p50',
  },
  callsInAll: (calls: number) => counted(calls, 'call'),
  refusalsInAll: (denied: string, failed: string) => `${denied} denied, ${failed} failed`,
  atMost: (name: string, time: string) => `${name} up to ${time}`,
  nothingRan: 'Nothing ran',
  nothingDecided: 'Nothing was decided',
  asTable: 'As a table',
  asPlot: 'As a plot',
  tableOf: (title: string) => `Table: ${title}`,
  time: 'Time',
  none: '–',
} as const
