// A model of many nodes on one PostgreSQL: what each call takes of each part, and which part is full first. Nothing in it is
// random or timed, so the same inputs give the same answer: `node benchmarks/cluster-model.mjs --nodes 50 --agents 10000`.
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

/**
 * Costs and sizes. Those of P14 were measured on 2 cores (AMD EPYC) beside other work, with governed reads of 8 agents over 32
 * connections a node; the others are assumptions about the machines.
 */
export const defaults = {
  nodes: 50,
  agents: 10_000,
  /** Gate processes of a node, each with a core. */
  processes: 1,
  /** P14, three nodes on one database. */
  node_us: 162,
  /** P14, three nodes on one database. */
  database_us: 78,
  /** P14: entry, use of a limit and their indexes. */
  log_bytes: 1_200,
  /** One entry for a call that only reads, two for one that changes something. */
  entries: 1,
  /** Y4, at the disk of a node and of the database each. */
  sync_us: 148,
  /** Hashing a copy of another node's entry: on the node, and in the database. 100,000 entries, three times. */
  copy_node_us: 6.5,
  copy_database_us: 1.7,
  /** Hashing an entry of the own log: P13, 188,321 a second. */
  own_us: 5.3,
  /** Nodes that hash all copies in the background, how often, and how long entries are kept. */
  readers: 1,
  read_every_s: 600,
  kept_hours: 24,
  /** Assumed: cores of the database, its disk, a way to it and back within a data centre, and what a call sends. */
  database_cores: 16,
  disk_bytes_per_s: 500e6,
  network_us: 200,
  network_bytes: 3_000,
  network_bytes_per_s: 1.25e9,
}

const million = 1e6

/** Copies that one reader hashes a second at most. */
const readMax = ({ copy_node_us }) => million / copy_node_us

/** Calls a second at which the processors of the database are full: a reader that falls behind takes no more of them. */
const databaseFull = (of, readPerCall) => {
  const { database_cores, database_us, readers, copy_database_us } = of
  const cores = database_cores * million
  const keepingUp = cores / (database_us + readers * readPerCall * copy_database_us)
  const behind = (cores - readers * readMax(of) * copy_database_us) / database_us
  return Math.max(0, keepingUp, behind)
}

const byCalls = (a, b) => a.calls_per_s - b.calls_per_s

/**
 * Parts with the calls a second of the whole cluster at which each is full. `parts`: those that calls wait for, the first to be full
 * first. `behind`: from when on a verification in the background takes longer than its time; no call waits for it.
 */
export const modelCluster = (given = {}) => {
  const of = { ...defaults, ...given }
  const { nodes, processes, node_us, agents } = of
  const kept = of.entries * of.kept_hours * 3_600
  const readPerCall = (kept * (nodes - 1)) / nodes / of.read_every_s
  /** Time of a call while nothing waits: the node, its disk, the way to the database and back, and a commit there. */
  const answer_us = node_us + of.network_us + of.database_us + 2 * of.sync_us
  const parts = [
    { part: 'processors of the nodes', calls_per_s: (nodes * processes * million) / node_us },
    { part: 'processors of the database', calls_per_s: databaseFull(of, readPerCall) },
    { part: 'disk of the database', calls_per_s: of.disk_bytes_per_s / of.log_bytes },
    { part: 'network of the database', calls_per_s: of.network_bytes_per_s / of.network_bytes },
    { part: 'agents, each with one call at a time', calls_per_s: (agents * million) / answer_us },
  ]
  const behind = [
    { part: 'copies of all nodes, by one of them', calls_per_s: readMax(of) / readPerCall },
    {
      part: 'log of each node, by itself',
      calls_per_s: (nodes * of.read_every_s * million) / (kept * of.own_us),
    },
  ]
  return { answer_us, parts: parts.toSorted(byCalls), behind: behind.toSorted(byCalls) }
}

const show = (number) => Math.round(number).toLocaleString('en')
const rowOf = ({ part, calls_per_s }) => `| ${part} | ${show(calls_per_s)} |`

const printModel = (given) => {
  const { parts, behind, answer_us } = modelCluster(given)
  const [first] = parts
  const lines = [
    '| Full | Calls/s |',
    '|---|---:|',
    ...parts.map(rowOf),
    '',
    '| Verification takes longer than its time | Calls/s |',
    '|---|---:|',
    ...behind.map(rowOf),
    '',
    `First full: ${first.part}, at ${show(first.calls_per_s)} calls/s. A call takes ${show(answer_us)} µs where nothing waits.`,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const options = Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => [
      name.replaceAll('_', '-'),
      { type: /** @type {const} */ ('string'), default: String(value) },
    ]),
  )
  const { values } = parseArgs({ options })
  const given = Object.entries(values).map(([name, value]) => [
    name.replaceAll('-', '_'),
    Number(value),
  ])
  printModel(Object.fromEntries(given))
}
