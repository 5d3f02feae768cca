// P14: one node on PostgreSQL beside SQLite, and 1, 2 and 3 nodes on one database, in turn: calls per second, and what a
// call takes of the processors on the nodes and in the database.
import { cpSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createDatabase, query } from '../packages/server/dist/storage/postgres/testing.js'
import { startPostgres } from '../packages/testkit/dist/postgres.js'
import { createReaders, rpcBody } from './governed.mjs'
import { cli, load, median, startServer, temporaryFolder } from './lib.mjs'
import { familyMicroseconds, processorMicroseconds } from './processor-time.mjs'
import { fdatasyncMicroseconds } from './yardsticks/fdatasync.mjs'

const agents = 8
const connections = 32
/** Files that nodes have in common, and the folder of workspaces, by a link. */
const keys = ['vault.key', 'policy.key', 'tls/ca.pem', 'tls/ca-key.pem']
const one = ['--workers', '1']

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

const untilSamePolicy = async (folder, count) => {
  for (;;) {
    const { nodes } = JSON.parse(await cli(folder, 'nodes', 'list', '--json'))
    const versions = new Set(nodes.map(({ policy_version }) => policy_version))
    if (nodes.length === count && versions.size === 1) return
    await sleep(200)
  }
}

/** So many nodes with the same agents; without a database one on SQLite. */
const startNodes = async (count, database = null) => {
  const flags = database === null ? one : [...one, '--database-url', database.url]
  const first = await startNode(null, flags)
  const nodes = [first]
  const tokens = await createReaders(first.folder, agents)
  while (nodes.length < count) nodes.push(await startNode(first.folder, flags))
  if (database !== null) await untilSamePolicy(first.folder, count)
  return { nodes, tokens, database }
}

const startNode = async (first, flags) => {
  const { folder, remove } = temporaryFolder()
  if (first !== null) {
    for (const file of keys) cpSync(join(first, file), join(folder, file), { recursive: true })
    symlinkSync(join(first, 'workspaces'), join(folder, 'workspaces'))
  }
  const server = await startServer(folder, flags)
  return {
    folder,
    pid: server.pid,
    port: new URL(server.gateway_url).port,
    stop: async () => {
      await server.stop()
      remove()
    },
  }
}

/** What the database server did so far, for all databases that it has. */
const databaseWork = async ({ url }) => {
  const [pid, commits, wal] = await query(
    url,
    `select split_part(pg_read_file('postmaster.pid'), chr(10), 1) as value`,
    'select sum(xact_commit) as value from pg_stat_database',
    `select pg_current_wal_lsn() - '0/0' as value`,
  )
  const valueOf = ({ rows }) => Number(rows[0].value)
  return {
    microseconds: familyMicroseconds(valueOf(pid)),
    commits: valueOf(commits),
    walBytes: valueOf(wal),
  }
}

const nothing = { microseconds: 0, commits: 0, walBytes: 0 }

/** Calls at all nodes at once, over as many connections to each, and what they took. */
const callAll = async (installations, seconds) => {
  const { database } = installations[0]
  const nodes = installations.flatMap(({ nodes: some, tokens }) =>
    some.map(({ pid, port }) => ({ pid, port, tokens })),
  )
  const work = () => (database === null ? nothing : databaseWork(database))
  const ofNodes = () => nodes.map(({ pid }) => processorMicroseconds(pid))
  const [nodesBefore, before] = [ofNodes(), await work()]
  const found = await Promise.all(
    nodes.map(({ port, tokens }) =>
      load('http-load.js', port, '/rpc', tokens.join(), connections, seconds, rpcBody),
    ),
  )
  const [nodesAfter, after] = [ofNodes(), await work()]
  const add = (numbers) => numbers.reduce((total, number) => total + number, 0)
  const calls = add(found.map(({ total }) => total))
  return {
    perSecond: add(found.map(({ per_second }) => per_second)),
    p50Ms: median(found.map(({ p50_ms }) => p50_ms)),
    nodeMicroseconds: (add(nodesAfter) - add(nodesBefore)) / calls,
    databaseMicroseconds: (after.microseconds - before.microseconds) / calls,
    commits: (after.commits - before.commits) / calls,
    walBytes: (after.walBytes - before.walBytes) / calls,
  }
}

/** An engine compiles code while it runs: nodes are compared after as many calls to each. */
const warmCalls = 30_000

const warm = async ({ nodes, tokens }) => {
  for (const { port } of nodes)
    for (let calls = 0; calls < warmCalls; )
      calls += (await load('http-load.js', port, '/rpc', tokens.join(), connections, 1, rpcBody))
        .total
}

const counts = [1, 2, 3]

/** One node on SQLite; 1, 2 and 3 nodes on a database each; and two more installations of one node. */
const openAll = async (url, opened) => {
  opened.push(await startNodes(1))
  for (const count of [...counts, 1, 1])
    opened.push(await startNodes(count, await createDatabase(url)))
  const [sqlite, single, two, three, second, third] = opened
  const shared = [[single], [two], [three]]
  return { sqlite, shared, apart: [[single], [single, second], [single, second, third]] }
}

const rowsOf = (rounds) => {
  const of = (pick) => median(rounds.map(pick))
  const beside = (what, bar, pick, yardstick) => ({
    id: 'P14',
    what,
    value: of(pick),
    yardstick: of(yardstick),
    ratio: of((round) => pick(round) / yardstick(round)),
    bar,
  })
  const alone = (what, pick) => ({
    id: 'P14',
    what,
    value: of(pick),
    yardstick: null,
    ratio: null,
    bar: '–',
  })
  const more = (count, what, name, bar) =>
    beside(
      `${what}, ${count} nodes over one`,
      bar,
      ({ shared }) => shared[count - 1][name],
      ({ shared }) => shared[0][name],
    )
  const sharing = (count, what, name) =>
    beside(
      `${what}, ${count} nodes on one database over ${count} on one each`,
      '≤ 1.1',
      ({ shared }) => shared[count - 1][name],
      ({ apart }) => apart[count - 1][name],
    )
  const ofNode = ['processor time of a node a call (µs)', 'nodeMicroseconds']
  const ofDatabase = ['processor time of the database a call (µs)', 'databaseMicroseconds']
  const besideSqlite = (what, name, bar) =>
    beside(
      what,
      bar,
      ({ shared }) => shared[0][name],
      ({ sqlite }) => sqlite[name],
    )
  return [
    besideSqlite('governed calls/s, a node on PostgreSQL beside SQLite', 'perSecond', '≥ 5,000'),
    besideSqlite('the same: processor time of the node a call (µs)', 'nodeMicroseconds', '–'),
    more(2, 'calls/s', 'perSecond', '≥ 1.7 on cores of their own'),
    more(3, 'calls/s', 'perSecond', '–'),
    ...[2, 3].flatMap((count) => [
      more(count, ...ofNode, '–'),
      sharing(count, ...ofNode),
      more(count, ...ofDatabase, '–'),
      sharing(count, ...ofDatabase),
    ]),
    more(3, 'commits of the database a call', 'commits', '–'),
    alone('bytes of its log that the database writes a call', ({ shared }) => shared[0].walBytes),
    alone('p50 of a call (ms), one node', ({ shared }) => shared[0].p50Ms),
  ]
}

export const nodesOnPostgres = async ({ rounds, seconds }) => {
  const server = await startPostgres({ max_connections: '300' }, 'disk')
  if ('missing' in server) throw new Error(server.missing)
  const opened = []
  try {
    const { sqlite, shared, apart } = await openAll(server.url, opened)
    for (const cluster of opened) await warm(cluster)
    const measured = []
    for (let round = 0; round < rounds; round += 1) {
      const found = { sqlite: await callAll([sqlite], seconds), shared: [], apart: [] }
      for (const count of counts) {
        found.shared.push(await callAll(shared[count - 1], seconds))
        // One node is the same either way.
        found.apart.push(count === 1 ? found.shared[0] : await callAll(apart[count - 1], seconds))
      }
      measured.push(found)
    }
    return { y4_microseconds: fdatasyncMicroseconds(), rows: rowsOf(measured) }
  } finally {
    for (const { nodes } of opened) for (const { stop } of nodes.toReversed()) await stop()
    await server.stop()
  }
}
