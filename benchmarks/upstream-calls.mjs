// P4: a tool of an upstream server over standard streams, called through the gate, next to a capability of our own that
// writes as many entries, and next to the same server called by the official client without a gate. In turns.
import { realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { cli, load, median, root, startServer, temporaryFolder } from './lib.mjs'
import { processorMicroseconds } from './processor-time.mjs'

const packages = realpathSync(join(root, 'node_modules'))
const program = join(packages, '@modelcontextprotocol/server-everything/dist/index.js')

const policy = `version: 1
rules:
  - { match: "everything.*", tier: autonomous }
  - { match: "filesystem.*", tier: autonomous }
limits:
  - { match: "everything.*", limit: 100000, window: 1s }
  - { match: "filesystem.*", limit: 100000, window: 1s }
`

const bodyOf = (capability, args) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'capabilities.invoke',
    params: { capability, arguments: args },
  })
const upstream = bodyOf('everything.echo', { message: 'x'.repeat(256) })
// It has an effect, too, and does next to nothing once the folder is there.
const own = bodyOf('filesystem.mkdir', { path: 'a' })

const direct = async (seconds) => {
  const client = new Client({ name: 'bench', version: '1' })
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [program, 'stdio'] }),
  )
  const took = []
  const until = performance.now() + seconds * 1000
  while (performance.now() < until) {
    const began = performance.now()
    await client.callTool({ name: 'echo', arguments: { message: 'x'.repeat(256) } })
    took.push(performance.now() - began)
  }
  await client.close()
  return median(took)
}

export const upstreamCalls = async ({ rounds, seconds }) => {
  const { folder, remove } = temporaryFolder()
  const server = await startServer(folder)
  const rows = []
  try {
    const { token } = JSON.parse(await cli(folder, 'agent', 'create', 'bench', '--json'))
    const flags = ['--json', '--yes', '--folder', packages, '--']
    await cli(folder, 'upstream', 'add', 'everything', ...flags, process.execPath, program, 'stdio')
    const file = join(folder, 'bench.yaml')
    writeFileSync(file, policy)
    await cli(folder, 'policy', 'set', file)
    const { port } = new URL(server.gateway_url)
    const measured = async (connections, body) => {
      const before = processorMicroseconds(server.pid)
      const result = await load('http-load.js', port, '/rpc', token, connections, seconds, body)
      return {
        ...result,
        cpu: (processorMicroseconds(server.pid) - before) / (result.per_second * seconds),
      }
    }
    for (let round = 0; round < rounds; round += 1)
      rows.push({
        upstream: await measured(1, upstream),
        own: await measured(1, own),
        direct: await direct(seconds),
        loaded: await measured(32, upstream),
        ownLoaded: await measured(32, own),
      })
  } finally {
    await server.stop()
    remove()
  }
  const of = (pick) => median(rows.map(pick))
  return [
    {
      id: 'P4',
      what: 'an upstream tool over stdio, one client: p50 above one of our own (µs)',
      value: of(({ upstream: one, own: other }) => (one.p50_ms - other.p50_ms) * 1000),
      yardstick: of((row) => row.direct * 1000),
      ratio: null,
      bar: '≤ 150 µs',
    },
    {
      id: 'P4',
      what: 'the same, 32 connections: processor time of the service a call, over one of our own (µs)',
      value: of(({ loaded }) => loaded.cpu),
      yardstick: of(({ ownLoaded }) => ownLoaded.cpu),
      ratio: of(({ loaded, ownLoaded }) => loaded.cpu / ownLoaded.cpu),
      bar: '–',
    },
  ]
}
