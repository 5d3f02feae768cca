// What a coding agent waits for: a decision about a tool of its own, asked over one connection of HTTP and by a process of
// `gatehouse hook`, and the first answer of `gatehouse mcp`. Processes run in turn with a bare Node.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bin, cli, median, startServer, temporaryFolder } from './lib.mjs'

const client = 'claude-code'
const use = JSON.stringify({
  hook_event_name: 'PreToolUse',
  session_id: 'bench',
  cwd: '/',
  tool_name: 'Read',
  tool_input: { file_path: '/etc/hostname' },
})
const processesMax = 40

const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  },
})

/** How long a program takes that reads its input to the end, in ms. */
const timed = async (args, input) => {
  const began = performance.now()
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.on('data', (chunk) => {
    said += chunk
  })
  child.stdin.end(input)
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${said}`)
  return performance.now() - began
}

/** How long the bridge takes until its first answer, in ms. */
const untilAnswered = async (args) => {
  const began = performance.now()
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.write(`${initialize}\n`)
  const [answer] = await once(child.stdout, 'data')
  const ms = performance.now() - began
  const closed = once(child, 'close')
  child.stdin.end()
  await closed
  if (!String(answer).includes('"serverInfo"')) throw new Error(`the bridge answered ${answer}`)
  return ms
}

const overHttp = async (url, token, seconds) => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const took = []
  const until = performance.now() + seconds * 1000
  while (performance.now() < until) {
    const began = performance.now()
    const answer = await fetch(`${url}/api/hooks/${client}`, { method: 'POST', headers, body: use })
    await answer.text()
    if (answer.status !== 200) throw new Error(`a hook was answered with ${answer.status}`)
    took.push(performance.now() - began)
  }
  return median(took)
}

const asProcess = async (folder, hookToken, agentToken, seconds) => {
  const line = [bin, 'hook', client, '--token-file', hookToken, '--data-dir', folder]
  const bridge = [bin, 'mcp', '--token-file', agentToken, '--data-dir', folder]
  const hooks = []
  const bridges = []
  const bare = []
  const until = performance.now() + seconds * 1000
  while (performance.now() < until && hooks.length < processesMax) {
    hooks.push(await timed(line, use))
    bare.push(await timed(['-e', '0'], ''))
    bridges.push(await untilAnswered(bridge))
  }
  return { hook: median(hooks), bare: median(bare), bridge: median(bridges) }
}

export const codingAgents = async ({ rounds, seconds }) => {
  const { folder, remove } = temporaryFolder()
  const server = await startServer(folder)
  const rows = []
  try {
    const agentToken = join(folder, 'agent.token')
    await cli(folder, 'agent', 'create', 'coder', '--token-file', agentToken)
    const tokenFile = join(folder, 'hook.token')
    const flags = ['--label', 'bench', '--role', 'hook', '--agent', 'coder']
    await cli(folder, 'user-token', 'create', ...flags, '--token-file', tokenFile)
    const token = readFileSync(tokenFile, 'utf8').trim()
    for (let round = 0; round < rounds; round += 1)
      rows.push({
        http: await overHttp(server.user_api_url, token, seconds),
        ...(await asProcess(folder, tokenFile, agentToken, seconds)),
      })
  } finally {
    await server.stop()
    remove()
  }
  const of = (pick) => median(rows.map(pick))
  return [
    {
      id: 'hook',
      what: 'decision of a hook over HTTP, one client: p50 (ms)',
      value: of(({ http }) => http),
      yardstick: null,
      ratio: null,
      bar: '≤ 10 ms',
    },
    {
      id: 'hook',
      what: '`gatehouse hook` as a process: p50 (ms; beside it a bare Node)',
      value: of(({ hook }) => hook),
      yardstick: of(({ bare }) => bare),
      ratio: of(({ hook, bare }) => hook / bare),
      bar: '≤ 60 ms',
    },
    {
      id: 'bridge',
      what: '`gatehouse mcp` until its first answer: p50 (ms; beside it a bare Node)',
      value: of(({ bridge }) => bridge),
      yardstick: of(({ bare }) => bare),
      ratio: of(({ bridge, bare }) => bridge / bare),
      bar: '≤ 100 ms',
    },
  ]
}
