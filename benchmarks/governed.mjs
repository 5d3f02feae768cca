// P1, P2, P3: governed calls against plain echoes, each pair measured in turn in the same run.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cli, load, median, startServer, startYardstick, temporaryFolder } from './lib.mjs'
import { fdatasyncMicroseconds } from './yardsticks/fdatasync.mjs'

/** A policy of 100 rules with conditions on arguments, ten of them for the call, that lets it through at the end. */
const policy = () => {
  const names = [
    'filesystem.read',
    'filesystem.write',
    'filesystem.list',
    'filesystem.delete',
    'filesystem.search',
    'filesystem.search_content',
    'filesystem.mkdir',
    'filesystem.append',
    'filesystem.edit',
    'filesystem.stat',
  ]
  const rules = Array.from(
    { length: 99 },
    (_, i) =>
      `  - { match: ${names[i % 10]}, when: 'has(args.path) && args.path.startsWith("/never/${i}/")', tier: blocked }`,
  )
  return `version: 1\nrules:\n${rules.join('\n')}\n  - { match: filesystem.read, tier: autonomous }\nlimits:\n  - { match: "filesystem.*", limit: 100000, window: 1s }\n`
}

const call = { capability: 'filesystem.read', arguments: { path: 'file.txt' } }
export const rpcBody = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'capabilities.invoke',
  params: call,
})
const mcpParams = JSON.stringify({ name: 'filesystem__read', arguments: call.arguments })

/** Makes so many agents that read a file, in the service of a data directory; their tokens. */
export const createReaders = async (folder, count) => {
  const file = join(folder, 'bench.yaml')
  writeFileSync(file, policy())
  const tokens = []
  for (let at = 0; at < count; at += 1) {
    const name = `bench-${at}`
    const { token, agent } = JSON.parse(await cli(folder, 'agent', 'create', name, '--json'))
    writeFileSync(join(agent.workspace, 'file.txt'), 'x'.repeat(1024))
    await cli(folder, 'policy', 'set', '--agent', name, file)
    tokens.push(token)
  }
  return tokens
}

/** A service with these workers, and so many agents that read a file. */
const startWith = async (workers, count) => {
  const { folder, remove } = temporaryFolder()
  const server = await startServer(folder, ['--workers', String(workers)])
  const tokens = await createReaders(folder, count)
  const stop = async () => {
    await server.stop()
    remove()
  }
  return { port: new URL(server.gateway_url).port, mcp: server.mcp_url, tokens, stop }
}

/** One gate process and two, in turn, with several agents, with one, and with one lone client. */
export const workers = async ({ rounds, seconds }) => {
  const httpEcho = await startYardstick('bare-server.js')
  const wsEcho = await startYardstick('ws-echo.mjs')
  const started = [await startWith(1, 8), await startWith(2, 8)]
  const rows = []
  try {
    for (let round = 0; round < rounds; round += 1) {
      const row = {
        y1: await load('http-load.js', httpEcho.port, '/', 'none', 32, seconds, rpcBody),
        y2: await load(
          'ws-load.mjs',
          `ws://127.0.0.1:${wsEcho.port}`,
          '',
          32,
          seconds,
          'echo',
          '{}',
        ),
        of: [],
      }
      for (const { port, mcp, tokens } of started) {
        const http = (some, clients) =>
          load('http-load.js', port, '/rpc', some.join(), clients, seconds, rpcBody)
        row.of.push({
          http: await http(tokens, 32),
          ws: await load('ws-load.mjs', mcp, tokens.join(), 32, seconds, 'tools/call', mcpParams),
          one: await http(tokens.slice(0, 1), 32),
          lone: await http(tokens.slice(0, 1), 1),
        })
      }
      rows.push(row)
    }
  } finally {
    for (const { stop } of [...started, httpEcho, wsEcho]) await stop()
  }
  const of = (pick) => median(rows.map(pick))
  const line = (id, what, pick, yardstick, bar) => ({
    id,
    what,
    value: of((row) => pick(row.of[1]).per_second),
    yardstick: of(yardstick),
    ratio: of((row) => pick(row.of[1]).per_second / yardstick(row)),
    bar,
  })
  const http = ({ http: found }) => found
  const ws = ({ ws: found }) => found
  const one = ({ one: found }) => found
  return {
    rows: [
      line('P1', 'two workers, 8 agents, /rpc', http, (row) => row.y1.per_second, '≥ 0.60 × Y1'),
      line(
        'P2',
        'two workers, 8 agents, WebSocket MCP',
        ws,
        (row) => row.y2.per_second,
        '≥ 0.38 × Y2',
      ),
      line('P1', 'the same over one worker', http, (row) => row.of[0].http.per_second, '≥ 1.5'),
      line('P2', 'the same over one worker', ws, (row) => row.of[0].ws.per_second, '≥ 1.5'),
      line(
        'P1',
        'two workers, one agent, over one worker',
        one,
        (row) => row.of[0].one.per_second,
        '≥ 1',
      ),
      {
        id: 'P3',
        what: 'two workers over one: one client, p50 (µs)',
        value: of((row) => row.of[1].lone.p50_ms) * 1000,
        yardstick: of((row) => row.of[0].lone.p50_ms) * 1000,
        ratio: null,
        bar: '≤ 40 µs more',
      },
    ],
  }
}

export const governed = async ({ rounds, seconds }) => {
  const rows = []
  const httpEcho = await startYardstick('bare-server.js')
  const wsEcho = await startYardstick('ws-echo.mjs')
  const server = await startWith(1, 1)
  const { port } = server
  const [token] = server.tokens
  try {
    for (let round = 0; round < rounds; round += 1) {
      rows.push({
        y1: await load('http-load.js', httpEcho.port, '/', 'none', 32, seconds, rpcBody),
        p1: await load('http-load.js', port, '/rpc', token, 32, seconds, rpcBody),
        y1Lone: await load('http-load.js', httpEcho.port, '/', 'none', 1, seconds, rpcBody),
        p3: await load('http-load.js', port, '/rpc', token, 1, seconds, rpcBody),
        y2: await load(
          'ws-load.mjs',
          `ws://127.0.0.1:${wsEcho.port}`,
          '',
          32,
          seconds,
          'echo',
          '{}',
        ),
        p2: await load('ws-load.mjs', server.mcp, token, 32, seconds, 'tools/call', mcpParams),
        y4: fdatasyncMicroseconds(),
      })
    }
  } finally {
    await Promise.all([server.stop(), httpEcho.stop(), wsEcho.stop()])
  }
  const of = (pick) => median(rows.map(pick))
  const y1 = of((row) => row.y1.per_second)
  const p1 = of((row) => row.p1.per_second)
  const y2PerSecond = of((row) => row.y2.per_second)
  const p2 = of((row) => row.p2.per_second)
  const extraMs = of((row) => row.p3.p50_ms - row.y1Lone.p50_ms)
  return {
    y4_microseconds: of((row) => row.y4),
    rows: [
      {
        id: 'P1',
        what: 'governed calls/s, /rpc, 32 connections',
        value: p1,
        yardstick: y1,
        ratio: of((row) => row.p1.per_second / row.y1.per_second),
        bar: '≥ 0.40 × Y1',
      },
      {
        id: 'P2',
        what: 'governed calls/s, WebSocket MCP, 32 clients',
        value: p2,
        yardstick: y2PerSecond,
        ratio: of((row) => row.p2.per_second / row.y2.per_second),
        bar: '≥ 0.28 × Y2',
      },
      {
        id: 'P3',
        what: 'one client, p50 over Y1 p50 (µs)',
        value: extraMs * 1000,
        yardstick: of((row) => row.y1Lone.p50_ms) * 1000,
        ratio: null,
        bar: '≤ 300 µs',
      },
      {
        id: 'P3',
        what: 'one client, p99 (ms)',
        value: of((row) => row.p3.p99_ms),
        yardstick: of((row) => row.y1Lone.p99_ms),
        ratio: null,
        bar: '≤ 5 ms',
      },
    ],
  }
}
