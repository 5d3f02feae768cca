// P4: processor time of the gateway a call, ours beside others before the same server, over standard streams and over
// HTTP. Ours is governed and its log durable; the others pass on what comes. In turns: one round asks each of them.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { realpathSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { installForeignProgram } from '../scripts/lib/foreign-programs.mjs'
import { cli, load, median, root, startServer, stopChild, temporaryFolder } from './lib.mjs'

const packages = realpathSync(join(root, 'node_modules'))
const everything = join(packages, '@modelcontextprotocol/server-everything/dist/index.js')
const programs = join(root, 'benchmarks/programs')
const program = (path) => join(programs, 'gateways/node_modules', path)
const stdio = [process.execPath, everything, 'stdio']
const message = 'x'.repeat(256)
/** Calls of each before anything is measured: an engine compiles code while it runs, which takes more than the calls do. */
const warmCalls = 10_000

const policy = `version: 1
rules:
  - { match: "everything.*", tier: autonomous }
  - { match: "remote.*", tier: autonomous }
limits:
  - { match: "everything.*", limit: 100000, window: 1s }
  - { match: "remote.*", limit: 100000, window: 1s }
`

/** A port that nobody has now: these programs take none that the system chooses. */
const freePort = async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  server.close()
  await once(server, 'close')
  return port
}

const answers = async (url) => {
  const deadline = performance.now() + 30_000
  while (performance.now() < deadline) {
    if (
      await fetch(url).then(
        () => true,
        () => false,
      )
    )
      return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`nothing answers at ${url}`)
}

/** A program that serves MCP at a port, once it answers there. What is started is in `stops` before anything can fail. */
const startProgram = async (stops, port, args, env = {}) => {
  const child = spawn(process.execPath, args, {
    stdio: 'ignore',
    env: { ...process.env, PORT: String(port), ...env },
  })
  stops.push(() => stopChild(child))
  const url = `http://127.0.0.1:${port}/mcp`
  await answers(url)
  return { url, headers: {}, pid: child.pid, tool: 'echo' }
}

const startOurs = async (stops, folder, upstreamUrl) => {
  const dataDir = join(folder, 'data')
  const target = new URL(upstreamUrl).host
  const { pid, gateway_url, stop } = await startServer(dataDir, [
    '--outbound-private-targets',
    target,
  ])
  stops.push(stop)
  const { token } = JSON.parse(await cli(dataDir, 'agent', 'create', 'bench', '--json'))
  const add = (name, ...how) => cli(dataDir, 'upstream', 'add', name, '--json', '--yes', ...how)
  await add('everything', '--folder', packages, '--', ...stdio)
  await add('remote', '--url', upstreamUrl)
  const file = join(folder, 'policy.yaml')
  writeFileSync(file, policy)
  await cli(dataDir, 'policy', 'set', file)
  const headers = { authorization: `Bearer ${token}` }
  return { url: `${gateway_url}/mcp`, headers, pid }
}

const startProxy = async (stops) => {
  const port = await freePort()
  const flags = ['--port', port, '--host', '127.0.0.1', '--server', 'stream', '--']
  const args = [program('mcp-proxy/dist/bin/mcp-proxy.mjs'), ...flags, ...stdio]
  return startProgram(stops, port, args)
}

const startSupergateway = async (stops) => {
  const port = await freePort()
  const flags = ['--outputTransport', 'streamableHttp', '--stateful', '--logLevel', 'none']
  const args = ['--port', port, ...flags, '--stdio', stdio.join(' ')]
  return startProgram(stops, port, [program('supergateway/dist/index.js'), ...args])
}

const startHub = async (stops, folder, name, server) => {
  const config = join(folder, `${name}.json`)
  writeFileSync(config, JSON.stringify({ mcpServers: { [name]: server } }))
  const port = await freePort()
  const args = [program('mcp-hub/dist/cli.js'), '--port', port, '--config', config]
  const places = { XDG_STATE_HOME: folder, XDG_CONFIG_HOME: folder }
  const hub = await startProgram(stops, port, args, places)
  return { ...hub, is_sse: true }
}

const rowOf = (over, in_flight, rounds) => {
  const of = (name) => median(rounds.map((round) => round[name].cpu_us))
  const others = Object.keys(rounds[0]).filter((name) => name !== 'Gatehouse')
  const told = others.map((name) => `${name} ${Math.round(of(name))}`).join(', ')
  const lowest = Math.min(...others.map(of))
  return {
    id: 'P4',
    what: `processor time of the gateway a call, server over ${over}, ${in_flight} in flight, beside ${told} (µs)`,
    value: of('Gatehouse'),
    yardstick: lowest,
    ratio: of('Gatehouse') / lowest,
    bar: '≤ 1.00',
  }
}

export const gateways = async ({ rounds, calls, in_flight = 32 }) => {
  if (!(await installForeignProgram('gateways', { folder: programs })))
    throw new Error('the other gateways could not be installed')
  const { folder, remove } = temporaryFolder()
  const stops = []
  try {
    const port = await freePort()
    const remote = await startProgram(stops, port, [everything, 'streamableHttp'])
    const gatehouse = await startOurs(stops, folder, remote.url)
    const [command, ...args] = stdio
    const subjects = {
      'standard streams': {
        Gatehouse: { ...gatehouse, tool: 'everything__echo' },
        'mcp-proxy': await startProxy(stops),
        supergateway: await startSupergateway(stops),
        'mcp-hub': await startHub(stops, folder, 'local', { command, args }),
      },
      HTTP: {
        Gatehouse: { ...gatehouse, tool: 'remote__echo' },
        'mcp-hub': await startHub(stops, folder, 'remote', { url: remote.url }),
      },
    }
    const rows = []
    for (const [over, by] of Object.entries(subjects)) {
      const measured = []
      for (const subject of Object.values(by)) {
        const order = { ...subject, message, in_flight: 32, warm: 0, calls: warmCalls }
        await load('mcp-load.mjs', JSON.stringify(order))
      }
      for (let round = 0; round < rounds; round += 1) {
        const results = {}
        for (const [name, subject] of Object.entries(by)) {
          const order = { ...subject, message, in_flight, warm: 500, calls }
          results[name] = await load('mcp-load.mjs', JSON.stringify(order))
        }
        measured.push(results)
      }
      rows.push(rowOf(over, in_flight, measured))
    }
    return rows
  } finally {
    for (const stop of stops.toReversed()) await stop()
    remove()
  }
}
