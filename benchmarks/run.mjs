// Prints one table, as markdown or with --json as JSON: the figures of this machine, now, as ratios to
// yardsticks of the same run. `--rounds N` (3), `--seconds N` (5), `--only P1,P5`; of the gateways in P4 `--calls N` (4000)
// and `--in-flight N` (32).
import { parseArgs } from 'node:util'
import { codingAgents } from './coding-agents.mjs'
import { gateways } from './gateways.mjs'
import { governed, workers } from './governed.mjs'
import { machine } from './lib.mjs'
import { logOfAMillion } from './log-of-a-million.mjs'
import { modelDownload } from './model-download.mjs'
import { nodesOnPostgres } from './nodes-on-postgres.mjs'
import { policyDecisions } from './policy-decisions.mjs'
import { processRun } from './process-run.mjs'
import { sandboxedPrograms } from './sandboxed-programs.mjs'
import {
  commandTimes,
  idleConnections,
  idleMemory,
  muchOfEverything,
  pagesBesideLoad,
} from './supervision.mjs'
import { upstreamCalls } from './upstream-calls.mjs'

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    entries: { type: 'string', default: '1000000' },
    calls: { type: 'string', default: '4000' },
    'in-flight': { type: 'string', default: '32' },
    only: { type: 'string' },
  },
})
const options = {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  entries: Number(values.entries),
  calls: Number(values.calls),
  in_flight: Number(values['in-flight']),
}
const wanted = values.only?.split(',')

const show = (number) =>
  number === null || number === undefined
    ? '–'
    : number >= 100
      ? Math.round(number).toLocaleString('en')
      : number.toFixed(2)
const line = (row) =>
  `| ${row.id} | ${row.what} | ${show(row.value)} | ${show(row.yardstick)} | ${show(row.ratio)} | ${row.bar} |`

const rows = []
let y4
/** Each row is told when it is there: a run takes a quarter of an hour, and one part that fails takes none of the others along. */
const measure = async (ids, part) => {
  if (wanted && !ids.some((id) => wanted.includes(id))) return
  try {
    const result = await part(options)
    y4 = result.y4_microseconds ?? y4
    const measured = result.rows ?? result
    rows.push(...measured)
    for (const row of measured) process.stderr.write(`${line(row)}\n`)
  } catch (error) {
    process.exitCode = 1
    process.stderr.write(`${ids.join(', ')} could not be measured: ${error.stack}\n`)
  }
}
await measure(['P1', 'P2', 'P3'], governed)
await measure(['P1', 'P2', 'P3', 'workers'], workers)
await measure(['P4'], upstreamCalls)
await measure(['P4'], gateways)
await measure(['P5'], policyDecisions)
await measure(['P8'], idleConnections)
await measure(['P10'], commandTimes)
await measure(['hook', 'bridge'], codingAgents)
await measure(['P6', 'P7', 'P17'], muchOfEverything)
await measure(['P18'], pagesBesideLoad)
await measure(['P11'], sandboxedPrograms)
await measure(['P11'], processRun)
await measure(['P9', 'P13'], logOfAMillion)
await measure(['P14'], nodesOnPostgres)
await measure(['P15'], idleMemory)
await measure(['P12'], modelDownload)

const report = {
  measured_at: new Date().toISOString(),
  machine: machine(),
  rounds: options.rounds,
  y4_fdatasync_microseconds: y4,
  rows,
}
if (values.json) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
else {
  const { cpu, cores, memory_gib, node } = report.machine
  const lines = [
    `${cores} cores (${cpu}), ${memory_gib} GiB, Node ${node}; medians of ${options.rounds} rounds; one fdatasync of 600 bytes: ${show(y4)} µs`,
    '',
    '| # | What | Measured | Yardstick | Ratio | Aim |',
    '|---|---|---:|---:|---:|---|',
    ...rows.map(line),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}
