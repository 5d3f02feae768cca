// Hooks: a decision about a coding agent's own tool, asked over one connection of HTTP, and by a process of
// `gatehouse hook` in turn with a bare Node.
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

const asProcess = async (folder, tokenFile, seconds) => {
  const line = [bin, 'hook', client, '--token-file', tokenFile, '--data-dir', folder]
  const hooks = []
  const bare = []
  const until = performance.now() + seconds * 1000
  while (performance.now() < until && hooks.length < processesMax) {
    hooks.push(await timed(line, use))
    bare.push(await timed(['-e', '0'], ''))
  }
  return { hook: median(hooks), bare: median(bare) }
}

export const hookDecisions = async ({ rounds, seconds }) => {
  const { folder, remove } = temporaryFolder()
  const server = await startServer(folder)
  const rows = []
  try {
    await cli(folder, 'agent', 'create', 'coder', '--json')
    const tokenFile = join(folder, 'hook.token')
    const flags = ['--label', 'bench', '--role', 'hook', '--agent', 'coder']
    await cli(folder, 'user-token', 'create', ...flags, '--token-file', tokenFile)
    const token = readFileSync(tokenFile, 'utf8').trim()
    for (let round = 0; round < rounds; round += 1)
      rows.push({
        http: await overHttp(server.user_api_url, token, seconds),
        ...(await asProcess(folder, tokenFile, seconds)),
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
  ]
}
