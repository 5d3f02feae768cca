import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runLine } from './support/run-line.ts'
import { Installation } from './support/server.ts'

type Settings = { hooks: { PreToolUse: { hooks: { command: string }[] }[] } }
type Approvals = { approvals: { id: string }[] }

const gate = new Installation()
const home = mkdtempSync(join(tmpdir(), 'gatehouse-home-'))
const folder = join(home, 'app')
let line = ''

const policy = `version: 1
rules:
  - match: process.run
    when: args.command == "node"
    tier: autonomous
  - match: process.run
    when: args.command == "npm"
    tier: blocked
    reason: nothing is published from here
`

beforeAll(async () => {
  process.env['HOME'] = home
  delete process.env['CLAUDE_CONFIG_DIR']
  mkdirSync(folder)
  await gate.start()
  await gate.json(['connect', 'claude-code', '--yes', '--mount', `${folder}:rw`])
  const set = await gate.cli(['policy', 'set', '-', '--agent', 'claude-code', '--yes'], policy)
  if (set.code !== 0) throw new Error(set.stderr)
  const settings = readFileSync(join(home, '.claude', 'settings.json'), 'utf8')
  line = (JSON.parse(settings) as Settings).hooks.PreToolUse[0]?.hooks[0]?.command ?? ''
})
afterAll(async () => {
  await gate[Symbol.asyncDispose]()
  rmSync(home, { recursive: true, force: true })
})

const bash = (command: string) =>
  runLine(
    line,
    JSON.stringify({
      session_id: 's',
      cwd: folder,
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: { command },
      tool_use_id: 'toolu_1',
    }),
    home,
  )

const waiting = async () =>
  (await gate.json<Approvals>(['approvals', 'list', '--status', 'pending'])).approvals

/** The request that a held call makes. */
async function heldRequest(): Promise<string> {
  await expect.poll(async () => (await waiting()).length).toBe(1)
  return (await waiting())[0]?.id ?? ''
}

test('lets a line of Claude Code through that policy allows, and says nothing of its own', async () => {
  expect(await bash('node --version && ls')).toEqual({ code: 0, stdout: '{}\n', stderr: '' })
})

test('refuses a line that policy blocks, with the reason', async () => {
  const { code, stdout, stderr } = await bash('node build.js && npm publish')
  expect([code, stderr]).toEqual([0, ''])
  const { decision, reason, hookSpecificOutput } = JSON.parse(stdout) as Record<string, unknown>
  expect(decision).toBe('block')
  expect(reason).toContain('nothing is published from here')
  expect(hookSpecificOutput).toMatchObject({ permissionDecision: 'deny' })
})

test('holds a line until a person decides', async () => {
  const held = bash('make install')
  const id = await heldRequest()
  await gate.json(['approvals', 'approve', id, '--yes'])
  const { code, stdout, stderr } = await held
  expect([code, stderr]).toEqual([0, ''])
  expect(JSON.parse(stdout)).toMatchObject({ hookSpecificOutput: { permissionDecision: 'allow' } })

  const other = bash('make clean')
  await gate.json(['approvals', 'reject', await heldRequest(), '--reason', 'not today'])
  const refused = await other
  expect(refused.code).toBe(0)
  expect(JSON.parse(refused.stdout)).toMatchObject({ decision: 'block' })
  expect(refused.stdout).toContain('not today')
})

test('blocks every line once the token has ended or the service is away', async () => {
  const { user_tokens } = await gate.json<{ user_tokens: { id: string; role: string }[] }>([
    'user-token',
    'list',
  ])
  const token = user_tokens.find(({ role }) => role === 'hook')
  await gate.json(['user-token', 'revoke', token?.id ?? '', '--yes'])
  const ended = await bash('node --version')
  expect([ended.code, ended.stdout]).toEqual([2, ''])
  expect(ended.stderr).toContain('unknown or revoked')
  await gate.stop()
  const away = await bash('node --version')
  expect([away.code, away.stdout]).toEqual([2, ''])
  expect(away.stderr).toContain('No service runs on')
})
