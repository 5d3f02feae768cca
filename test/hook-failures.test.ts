import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { hookLine } from '../packages/cli/src/clients/client-hooks.ts'
import { bin, type CliResult } from './support/server.ts'

const call = JSON.stringify({ tool_name: 'Bash', tool_input: { command: 'ls "ä" \\ $HOME' } })
const token = `gatehouse_user_${'a'.repeat(43)}`

type Asked = { url: string | undefined; token: string | undefined; body: string }

let asked: Asked[] = []
let answer: RequestListener = (_request, response) => response.end('{}')
const service = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', (chunk) => {
    body += chunk
  })
  request.on('end', () => {
    asked.push({ url: request.url, token: request.headers.authorization, body })
    answer(request, response)
  })
})
service.listen(0, '127.0.0.1')
await once(service, 'listening')
const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
afterAll(() => {
  service.closeAllConnections()
  service.close()
})

let dataDir = ''
beforeEach(() => {
  asked = []
  dataDir = mkdtempSync(join(tmpdir(), 'gatehouse-hook-'))
  writeFileSync(join(dataDir, 'token'), `${token}\n`, { mode: 0o600 })
  running(process.pid)
  return () => rmSync(dataDir, { recursive: true, force: true })
})

/** As a service says of itself where it listens. */
const running = (pid: number) =>
  writeFileSync(
    join(dataDir, 'run.json'),
    JSON.stringify({ pid, user_api_url: url, gateway_url: 'http://127.0.0.1:1' }),
    { mode: 0o600 },
  )

const problem =
  (status: number, body: object | string): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/problem+json' })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }

type Started = { input?: string; args?: readonly string[]; env?: Record<string, string> }

function start(client: string, { args, env = {} }: Started = {}) {
  const given = args ?? ['--token-file', join(dataDir, 'token'), '--data-dir', dataDir]
  const child = spawn(process.execPath, [bin, 'hook', client, ...given], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  const out = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (chunk) => {
      out[name] += chunk
    })
  // A hook that refuses before it reads closes its input.
  child.stdin.on('error', () => {})
  const ended = once(child, 'close').then((): CliResult => ({ code: child.exitCode ?? -1, ...out }))
  return { child, ended }
}

function ask(client: string, started: Started = {}): Promise<CliResult> {
  const { child, ended } = start(client, started)
  child.stdin.end(started.input ?? call)
  return ended
}

test('passes on what the client says as it is, and answers with what the service says', async () => {
  const decided = { hookSpecificOutput: { permissionDecision: 'deny' }, note: 'ü' }
  answer = (_request, response) => response.end(JSON.stringify(decided))
  const { code, stdout, stderr } = await ask('claude-code')
  expect([code, stderr, JSON.parse(stdout)]).toEqual([0, '', decided])
  expect(asked).toEqual([{ url: '/api/hooks/claude-code', token: `Bearer ${token}`, body: call }])

  const byVariable = await ask('codex', {
    args: ['--url', url],
    env: { GATEHOUSE_HOOK_TOKEN: token },
  })
  expect([byVariable.code, byVariable.stderr]).toEqual([0, ''])
  // The same with flags that only the parser of all commands knows.
  const parsed = await ask('gemini', {
    args: [`--token-file=${join(dataDir, 'token')}`, '--data-dir', dataDir, '--no-color'],
  })
  expect([parsed.code, parsed.stderr]).toEqual([0, ''])
  expect(asked.map((one) => one.url).slice(1)).toEqual(['/api/hooks/codex', '/api/hooks/gemini'])
})

test('waits for a late answer', async () => {
  const held: (() => void)[] = []
  answer = (_request, response) => held.push(() => response.end('{"late":true}'))
  const { child, ended } = start('codex')
  child.stdin.end(call)
  await expect.poll(() => held.length).toBe(1)
  held[0]?.()
  expect(await ended).toEqual({ code: 0, stdout: '{"late":true}\n', stderr: '' })
})

const fails: readonly (readonly [string, () => Started | undefined, string])[] = [
  [
    'no service runs',
    () => {
      rmSync(join(dataDir, 'run.json'))
      return undefined
    },
    'No service runs on',
  ],
  [
    'a service ended without cleaning up',
    () => {
      running(2 ** 30)
      return undefined
    },
    'gatehouse serve --data-dir',
  ],
  [
    'nothing listens',
    () => ({ args: ['--token-file', join(dataDir, 'token'), '--url', 'http://127.0.0.1:1'] }),
    'The service at http://127.0.0.1:1 did not answer.',
  ],
  [
    'the token is wrong',
    () => {
      answer = problem(401, { code: 'Unauthenticated', detail: 'The token is unknown or revoked.' })
      return undefined
    },
    'is unknown or revoked. To fix it: ',
  ],
  [
    'the service refuses',
    () => {
      answer = problem(403, { detail: 'The agent is paused.', recovery: [{ action: 'resume it' }] })
      return undefined
    },
    'The agent is paused. To fix it: resume it',
  ],
  [
    'a field is wrong',
    () => {
      const errors = [{ pointer: '/tool_name', detail: 'is required' }]
      answer = problem(400, { detail: 'The body does not fit.', errors })
      return undefined
    },
    'The body does not fit. /tool_name: is required.',
  ],
  [
    'the service breaks',
    () => {
      answer = problem(500, 'oops')
      return undefined
    },
    'answered with the status 500',
  ],
  [
    'the answer is no JSON',
    () => {
      answer = (_request, response) => response.end('<html>')
      return undefined
    },
    'no JSON object',
  ],
  [
    'the answer breaks off',
    () => {
      answer = (_request, response) => {
        response.writeHead(200, { 'content-length': '100' })
        response.write('{}')
        response.socket?.destroySoon()
      }
      return undefined
    },
    'did not answer',
  ],
  ['the input is garbage', () => ({ input: 'garbage' }), 'no JSON object'],
  ['the input is a list', () => ({ input: '[]' }), 'no JSON object'],
  ['the input is empty', () => ({ input: '' }), 'no JSON object'],
  [
    'there is no token',
    () => ({ args: ['--data-dir', dataDir] }),
    'give --token-file FILE, or the variable GATEHOUSE_HOOK_TOKEN',
  ],
  [
    'the token file is gone',
    () => {
      rmSync(join(dataDir, 'token'))
      return undefined
    },
    'There is no ',
  ],
  [
    'others can read the token',
    () => {
      chmodSync(join(dataDir, 'token'), 0o644)
      return undefined
    },
    'To fix it: chmod 600',
  ],
  [
    'the address is of another machine',
    () => ({ args: ['--token-file', join(dataDir, 'token'), '--url', 'http://example.com'] }),
    '--url is the User API on this machine',
  ],
  ['an option is wrong', () => ({ args: ['--tokenfile', 'x'] }), 'There is no option --tokenfile'],
]

test.each(fails)('blocks the call where %s', async (_name, arrange, says) => {
  answer = (_request, response) => response.end('{}')
  const { code, stdout, stderr } = await ask('claude-code', arrange() ?? {})
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(/^Gatehouse could not decide, so the call is blocked\. [^\n]+\n$/)
  expect(stderr).toContain(says)
  expect(stderr).not.toContain(token)
})

test('tells Cursor and Copilot of the block in their own form too', async () => {
  rmSync(join(dataDir, 'run.json'))
  const cursor = await ask('cursor')
  const { permission, user_message } = JSON.parse(cursor.stdout) as Record<string, string>
  expect([cursor.code, permission, `${user_message}\n`]).toEqual([2, 'deny', cursor.stderr])
  const copilot = await ask('copilot')
  expect([copilot.code, JSON.parse(copilot.stdout)]).toEqual([
    2,
    { permissionDecision: 'deny', permissionDecisionReason: copilot.stderr.trim() },
  ])
  const other = await ask('emacs')
  expect([other.code, other.stdout]).toEqual([2, ''])
  expect(other.stderr).toContain('CLIENT is one of claude-code, codex, gemini, cursor, copilot')
})

test('blocks the call where the client ends the hook before there is a decision', async () => {
  const held: number[] = []
  answer = () => held.push(1)
  const { child, ended } = start('gemini')
  child.stdin.end(call)
  await expect.poll(() => held.length).toBe(1)
  child.kill('SIGTERM')
  const { code, stdout, stderr } = await ended
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain('ended the hook before there was a decision')
})

test('blocks the call where nobody can read the answer', async () => {
  answer = (_request, response) => response.end('{}')
  const { child, ended } = start('codex')
  child.stdout.destroy()
  child.stdin.end(call)
  expect((await ended).code).toBe(2)
})

test('asks only once where Cursor has an event of its own for the call', async () => {
  const flags = ['--others', '--token-file', join(dataDir, 'token'), '--data-dir', dataDir]
  const about = (tool_name: string, hook_event_name = 'preToolUse') =>
    ask('cursor', { args: flags, input: JSON.stringify({ hook_event_name, tool_name }) })
  answer = (_request, response) => response.end('{"permission":"deny"}')
  for (const tool of ['Shell', 'MCP:echo'])
    expect(await about(tool)).toEqual({ code: 0, stdout: '{"permission":"allow"}\n', stderr: '' })
  expect(asked).toEqual([])
  for (const tool of ['Write', 'Shells']) expect((await about(tool)).stdout).toContain('deny')
  expect((await about('Shell', 'beforeShellExecution')).stdout).toContain('deny')
  expect(asked).toHaveLength(3)
})

test.each([
  ['is not there', ['/does/not/exist/node', bin]],
  ['is killed', [process.execPath, '-e', 'process.kill(process.pid, "SIGKILL")']],
  ['breaks', [process.execPath, '-e', 'throw new Error("x")']],
])('blocks the call where the program of the hook %s', (_how, words) => {
  const line = hookLine([...words, 'hook', 'codex'], 'linux')
  expect(spawnSync('/bin/sh', ['-c', line]).status).toBe(2)
})
