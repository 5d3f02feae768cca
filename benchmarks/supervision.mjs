// P6, P7, P17: pages of the log, governed calls and figures when there is much of everything, against an empty
// installation in turn. P8: idle connections. P10: the command's own time. P18: pages of the log beside full load.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { bin, cli, load, median, root, startServer, temporaryFolder } from './lib.mjs'
import { fill } from './log-of-a-million.mjs'

const run = promisify(execFile)
const pageQuery = '/api/audit?agent=agent-7&capability=filesystem.read&limit=50'
const pages = 200
const figures = 20
const betweenPagesMs = 50
const agentsMany = 10_000
const idleAgents = 10
const idleEach = 500

const call = { capability: 'filesystem.read', arguments: { path: 'file.txt' } }
const body = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'capabilities.invoke',
  params: call,
})
const limits = 'version: 1\nlimits:\n  - { match: "filesystem.*", limit: 100000, window: 1s }\n'

const withAgent = async (folder, name) => {
  const { token, agent } = JSON.parse(await cli(folder, 'agent', 'create', name, '--json'))
  mkdirSync(agent.workspace, { recursive: true })
  writeFileSync(join(agent.workspace, 'file.txt'), 'x'.repeat(1024))
  return token
}

const allowMany = async (folder) => {
  const file = join(folder, 'bench.yaml')
  writeFileSync(file, limits)
  await cli(folder, 'policy', 'set', file)
}

const governed = (server, token, connections, seconds) =>
  load('http-load.js', new URL(server.gateway_url).port, '/rpc', token, connections, seconds, body)

/** @returns {(path: string, options?: RequestInit) => Promise<any>} */
const asOperator = (server, folder) => {
  const authorization = `Bearer ${readFileSync(join(folder, 'cli-token'), 'utf8').trim()}`
  return async (path, options = {}) => {
    const headers = { authorization, 'content-type': 'application/json' }
    const answer = await fetch(`${server.user_api_url}${path}`, { headers, ...options })
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
    return answer.json()
  }
}

const row = (id, what, value, bar, yardstick = null, ratio = null) => ({
  id,
  what,
  value,
  yardstick,
  ratio,
  bar,
})

const timesOfFigures = async (ask, entries) => {
  const times = []
  for (let i = 0; i < figures; i += 1) {
    const startedAt = performance.now()
    const { calls } = await ask('/api/figures')
    times.push(performance.now() - startedAt)
    const counted = calls.reduce((sum, count) => sum + count, 0)
    if (counted < entries) throw new Error(`figures of ${counted} calls`)
  }
  return times
}

export const muchOfEverything = async ({ rounds, seconds, entries }) => {
  const small = temporaryFolder()
  const large = temporaryFolder()
  let servers = []
  try {
    for (const { folder } of [small, large]) await (await startServer(folder)).stop()
    await fill(large.folder, entries)
    servers = [await startServer(small.folder), await startServer(large.folder)]
    const [few, many] = servers
    const ask = asOperator(many, large.folder)
    for (let made = 0; made < agentsMany; made += 20) {
      const names = Array.from({ length: 20 }, (_, i) => `crowd-${made + i}`)
      const create = (name) =>
        ask('/api/agents', { method: 'POST', body: JSON.stringify({ name }) })
      await Promise.all(names.map(create))
    }
    const times = []
    for (let i = 0; i < pages; i += 1) {
      const startedAt = performance.now()
      const page = await ask(pageQuery)
      times.push(performance.now() - startedAt)
      if (page.entries.length !== 50 || page.integrity !== 'verified')
        throw new Error(`a page of ${page.entries.length} entries, ${page.integrity}`)
    }
    times.sort((a, b) => a - b)
    const figuresMs = await timesOfFigures(ask, entries)
    const tokens = []
    for (const { folder } of [small, large]) {
      await allowMany(folder)
      tokens.push(await withAgent(folder, 'bench'))
    }
    const measured = []
    for (let round = 0; round < rounds; round += 1) {
      const quiet = await governed(few, tokens[0], 32, seconds)
      const grown = await governed(many, tokens[1], 32, seconds)
      measured.push({ quiet: quiet.per_second, grown: grown.per_second })
    }
    const of = (pick) => median(measured.map(pick))
    const size = entries.toLocaleString('en')
    return [
      row(
        'P6',
        `a page of 50 by agent and capability of ${size} entries, p99 (ms)`,
        times[Math.floor(pages * 0.99)],
        '≤ 50 ms',
      ),
      row(
        'P7',
        `governed calls/s with ${size} entries and ${agentsMany.toLocaleString('en')} agents`,
        of(({ grown }) => grown),
        '≥ 0.95 × an empty installation',
        of(({ quiet }) => quiet),
        of(({ quiet, grown }) => grown / quiet),
      ),
      row('P17', `figures of 24 hours with ${size} entries (ms)`, median(figuresMs), '–'),
    ]
  } finally {
    for (const server of servers) await server.stop()
    small.remove()
    large.remove()
  }
}

/** Pages that a person opens one after the other while calls are made; times in milliseconds. */
const timesOfPagesBeside = async (ask, load) => {
  const times = []
  let isOver = false
  const loading = load().finally(() => {
    isOver = true
  })
  while (!isOver) {
    const startedAt = performance.now()
    const page = await ask('/api/audit?limit=50')
    times.push(performance.now() - startedAt)
    if (page.entries.length !== 50 || page.integrity !== 'verified')
      throw new Error(`a page of ${page.entries.length} entries, ${page.integrity}`)
    await new Promise((resolve) => setTimeout(resolve, betweenPagesMs))
  }
  await loading
  return times
}

export const pagesBesideLoad = async ({ rounds, seconds, entries }) => {
  const { folder, remove } = temporaryFolder()
  let server
  try {
    await (await startServer(folder)).stop()
    await fill(folder, entries)
    server = await startServer(folder)
    await allowMany(folder)
    const token = await withAgent(folder, 'bench')
    const ask = asOperator(server, folder)
    await ask('/api/audit?limit=50')
    const [quiet, busy] = [[], []]
    for (let round = 0; round < rounds; round += 1) {
      const pause = () => new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
      quiet.push(...(await timesOfPagesBeside(ask, pause)))
      busy.push(...(await timesOfPagesBeside(ask, () => governed(server, token, 32, seconds))))
    }
    const what = `a page of the newest 50 of ${entries.toLocaleString('en')} entries beside 32 connections, median (ms)`
    return [row('P18', what, median(busy), '≤ 100 ms', median(quiet))]
  } finally {
    await server?.stop()
    remove()
  }
}

const residentKib = (pid) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN)

/** Memory of services to which nothing happens, each some seconds after its start. */
export const idleMemory = async ({ rounds }) => {
  const all = []
  for (let round = 0; round < rounds; round += 1) {
    const { folder, remove } = temporaryFolder()
    const server = await startServer(folder)
    try {
      await new Promise((resolve) => setTimeout(resolve, 5_000))
      all.push(residentKib(server.pid) / 1024)
    } finally {
      await server.stop()
      remove()
    }
  }
  return [row('P15', 'memory of an idle service after its first start (MiB)', median(all), '≤ 120')]
}

export const idleConnections = async ({ rounds, seconds }) => {
  const { folder, remove } = temporaryFolder()
  const server = await startServer(folder)
  let idle
  try {
    await allowMany(folder)
    const token = await withAgent(folder, 'busy')
    const tokens = []
    for (let i = 0; i < idleAgents; i += 1) tokens.push(await withAgent(folder, `idle-${i}`))
    const p99 = async () => {
      const all = []
      for (let round = 0; round < rounds; round += 1)
        all.push((await governed(server, token, 1, seconds)).p99_ms)
      return median(all)
    }
    const quiet = await p99()
    const before = residentKib(server.pid)
    const file = join(root, 'benchmarks/load/idle-sockets.mjs')
    const given = [file, server.mcp_url, String(idleEach), ...tokens]
    idle = spawn(process.execPath, given, { stdio: ['pipe', 'pipe', 'inherit'] })
    await once(idle.stdout, 'data')
    const sockets = idleAgents * idleEach
    const each = ((residentKib(server.pid) - before) * 1024) / sockets / 1000
    const meanwhile = await p99()
    return [
      row('P8', `memory of each of ${sockets} idle WebSockets (KB)`, each, '≤ 20 KB'),
      row(
        'P8',
        'p99 of one busy agent meanwhile, over quiet (ms)',
        meanwhile,
        '≤ 2 × quiet',
        quiet,
        meanwhile / quiet,
      ),
    ]
  } finally {
    idle?.stdin.end()
    if (idle) await once(idle, 'exit')
    await server.stop()
    remove()
  }
}

export const commandTimes = async ({ rounds }) => {
  const { folder, remove } = temporaryFolder()
  const server = await startServer(folder)
  try {
    const timed = async (args) => {
      const all = []
      for (let round = 0; round < rounds * 5; round += 1) {
        const startedAt = performance.now()
        await run(process.execPath, [bin, ...args])
        all.push(performance.now() - startedAt)
      }
      return median(all)
    }
    const node = []
    for (let round = 0; round < rounds * 5; round += 1) {
      const startedAt = performance.now()
      await run(process.execPath, ['-e', ''])
      node.push(performance.now() - startedAt)
    }
    const bare = median(node)
    return [
      row(
        'P10',
        '`gatehouse --help` (ms; beside it a bare Node)',
        await timed(['--help']),
        '≤ 150 ms',
        bare,
      ),
      row(
        'P10',
        '`gatehouse status` of a running server (ms)',
        await timed(['status', '--data-dir', folder]),
        '≤ 150 ms',
        bare,
      ),
    ]
  } finally {
    await server.stop()
    remove()
  }
}
