// Prints one table, as markdown or with --json as JSON: the figures of this machine, now, as ratios to
// yardsticks of the same run. `--rounds N` (3), `--seconds N` (5), `--only P1,P5`; of the gateways in P4 `--calls N` (4000)
// and `--in-flight N` (32).
import { parseArgs } from 'node:util'
import { codingAgents } from './coding-agents.mjs'
import { gateways } from './gateways.mjs'
import { governed } from './governed.mjs'
import { machine } from './lib.mjs'
import { logOfAMillion } from './log-of-a-million.mjs'
import { modelDownload } from './model-download.mjs'
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
const wants = (...ids) => !wanted || ids.some((id) => wanted.includes(id))

const rows = []
let y4
if (wants('P1', 'P2', 'P3')) {
  const result = await governed(options)
  rows.push(...result.rows)
  y4 = result.y4_microseconds
}
if (wants('P4')) rows.push(...(await upstreamCalls(options)), ...(await gateways(options)))
if (wants('P5')) rows.push(...(await policyDecisions(options)))
if (wants('P8')) rows.push(...(await idleConnections(options)))
if (wants('P10')) rows.push(...(await commandTimes(options)))
if (wants('hook', 'bridge')) rows.push(...(await codingAgents(options)))
if (wants('P6', 'P7', 'P17')) rows.push(...(await muchOfEverything(options)))
if (wants('P18')) rows.push(...(await pagesBesideLoad(options)))
if (wants('P11')) rows.push(...(await sandboxedPrograms(options)), ...(await processRun(options)))
if (wants('P9', 'P13')) rows.push(...(await logOfAMillion(options)))
if (wants('P15')) rows.push(...(await idleMemory(options)))
if (wants('P12')) rows.push(...(await modelDownload(options)))

const show = (number) =>
  number === null || number === undefined
    ? '–'
    : number >= 100
      ? Math.round(number).toLocaleString('en')
      : number.toFixed(2)
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
    ...rows.map(
      (row) =>
        `| ${row.id} | ${row.what} | ${show(row.value)} | ${show(row.yardstick)} | ${show(row.ratio)} | ${row.bar} |`,
    ),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}
