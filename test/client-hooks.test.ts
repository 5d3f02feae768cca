import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { runLine } from './support/run-line.ts'
import { Installation } from './support/server.ts'

type Connected = {
  file: string
  hooks: { file: string; token_file: string; backup: string | null } | null
  agent: string
  changed: boolean
  diff: string
  afterwards: string
}
type Disconnected = {
  restored: boolean
  files: { file: string; restored: boolean }[]
}
type Tokens = {
  user_tokens: { id: string; role: string; agent: string; revoked_at: string | null }[]
}
type Report = { checks: { name: string; status: string; detail: string; fix?: string }[] }

const ofHome = [
  'XDG_CONFIG_HOME',
  'CLAUDE_CONFIG_DIR',
  'CODEX_HOME',
  'GEMINI_CLI_HOME',
  'COPILOT_HOME',
]
for (const name of ofHome) delete process.env[name]

const gate = new Installation()
let home = ''
beforeEach(async () => {
  if (!gate.run) await gate.start()
  home = mkdtempSync(join(tmpdir(), 'gatehouse-home-'))
  process.env['HOME'] = home
  return () => rmSync(home, { recursive: true, force: true })
})
afterAll(() => gate[Symbol.asyncDispose]())

const connect = (client: string, ...flags: string[]) =>
  gate.json<Connected>(['connect', client, '--yes', ...flags])
const disconnect = (client: string, ...flags: string[]) =>
  gate.json<Disconnected>(['disconnect', client, '--yes', ...flags])
const tokensOf = async (agent: string) =>
  (await gate.json<Tokens>(['user-token', 'list'])).user_tokens.filter(
    (token) => token.agent === agent && token.revoked_at === null,
  )
const checkOf = async (name: string) => {
  const { stdout } = await gate.cli(['doctor', '--json'])
  return (JSON.parse(stdout) as Report).checks.find((check) => check.name === name)
}

const mine = { type: 'command', command: './mine.sh' }
const clients = [
  ['claude-code', 'Claude Code', '.claude/settings.json', 'PreToolUse', { hooks: [mine] }],
  ['codex', 'Codex', '.codex/hooks.json', 'PreToolUse', { hooks: [mine] }],
  ['gemini', 'Gemini CLI', '.gemini/settings.json', 'BeforeTool', { hooks: [mine] }],
  ['cursor', 'Cursor', '.cursor/hooks.json', 'preToolUse', { command: './mine.sh' }],
  ['copilot', 'Copilot CLI', '.copilot/hooks/gatehouse.json', 'preToolUse', { bash: './mine.sh' }],
] as const

/** The line of a hook as it was written. */
const linesIn = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/"(?:command|bash)": ("[^\n]* hook [^\n]*")/g)].map(
    ([, text = '']) => JSON.parse(text) as string,
  )

test.each(clients)(
  '%s gets hooks beside those of the user, which are taken out again byte for byte',
  async (client, title, path, event, own) => {
    const file = join(home, path)
    const text = `{\n  "hooks": {\n    "${event}": [\n      ${JSON.stringify(own)}\n    ]\n  }\n}`
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text, { mode: 0o640 })
    const done = await connect(client)
    expect(done).toMatchObject({ hooks: { file }, agent: client, changed: true })
    const { token_file = '', backup } = done.hooks ?? {}
    const kept = JSON.parse(readFileSync(file, 'utf8')) as { hooks: Record<string, unknown[]> }
    expect(kept.hooks[event]?.[0]).toEqual(own)
    expect(kept.hooks[event]).toHaveLength(2)
    expect(statSync(file).mode & 0o777).toBe(0o640)
    for (const name of [token_file, ...(backup ? [backup] : [])])
      expect(statSync(name).mode & 0o777).toBe(0o600)
    const token = readFileSync(token_file, 'utf8').trim()
    expect(`${readFileSync(file, 'utf8')}${JSON.stringify(done)}`).not.toContain(token)
    const [made, ...more] = await tokensOf(client)
    expect([made?.role, more]).toEqual(['hook', []])

    // Once more changes nothing, and makes no other token.
    const after = readFileSync(file, 'utf8')
    expect(await connect(client)).toMatchObject({ changed: false, diff: '' })
    expect(readFileSync(file, 'utf8')).toBe(after)
    expect(await tokensOf(client)).toEqual([made])
    const found = await checkOf(title)
    if (client === 'codex')
      expect(found?.detail).toContain('leaves the hook out until you trust it')
    else
      expect(found).toMatchObject({ status: 'ok', detail: expect.stringContaining('decided by') })

    const lines = linesIn(file)
    expect(await disconnect(client)).toMatchObject({ restored: true })
    expect(readFileSync(file, 'utf8')).toBe(text)
    expect(existsSync(token_file)).toBe(false)
    expect(await tokensOf(client)).toEqual([])
    // A client that still has the hook is blocked.
    for (const line of lines) expect(await runLine(line, '{}', home)).toMatchObject({ code: 2 })
    expect(lines.length).toBeGreaterThan(0)
  },
)

test('leaves nothing where nothing was, and leaves out the hooks on demand', async () => {
  for (const [client, , path] of clients) {
    expect((await connect(client)).hooks?.file).toBe(join(home, path))
    expect(await disconnect(client)).toMatchObject({ restored: true })
  }
  expect(
    readdirSync(home, { recursive: true }).filter((name) => `${name}`.includes('.json')),
  ).toEqual([])

  const done = await connect('claude-code', '--no-hooks')
  expect([done.hooks, existsSync(join(home, '.claude'))]).toEqual([null, false])
  expect(await tokensOf('claude-code')).toEqual([])
  expect(await checkOf('Claude Code')).toMatchObject({
    status: 'warning',
    detail: 'connected; its own tools bypass Gatehouse',
  })
  // Hooks can follow later, and end with the connection.
  expect((await connect('claude-code')).hooks?.file).toBe(join(home, '.claude/settings.json'))
  expect(await disconnect('claude-code')).toMatchObject({ restored: true })
  expect(readdirSync(home)).toEqual([])
  const listed = await gate.cli(['connect'])
  expect([listed.code, listed.stdout.split('\n').length]).toEqual([0, 3])
})

test('takes only its hooks out of files that changed since, and keeps what they were', async () => {
  const before = '{"model": "opus"}'
  const file = join(home, '.claude', 'settings.json')
  mkdirSync(dirname(file))
  writeFileSync(file, before)
  const { hooks } = await connect('claude-code')
  const changed = readFileSync(file, 'utf8').replace(
    '"onFailure": "block"',
    '"onFailure": "continue"',
  )
  writeFileSync(file, changed.replace('"opus"', '"haiku"'))
  expect(await checkOf('Claude Code')).toMatchObject({
    status: 'warning',
    detail: 'connected; its hooks were changed',
  })
  // Connecting again mends them, and the user's change stays.
  expect(await connect('claude-code')).toMatchObject({ changed: true })
  expect(readFileSync(file, 'utf8')).toContain('"onFailure": "block"')
  writeFileSync(file, readFileSync(file, 'utf8').replace('"haiku"', '"sonnet"'))
  const done = await disconnect('claude-code')
  expect(done.files.map(({ restored }) => restored)).toEqual([true, false])
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ model: 'sonnet' })
  expect(readFileSync(hooks?.backup ?? '', 'utf8')).toContain('"haiku"')
})

test('puts the hooks of a project where they are not shared, for an agent of its own', async () => {
  const folder = join(home, 'app')
  mkdirSync(folder)
  const flags = ['--scope', 'project', '--folder', folder]
  const files = {
    'claude-code': '.claude/settings.local.json',
    copilot: '.github/copilot/settings.local.json',
  }
  for (const [client, path] of Object.entries(files)) {
    const { hooks, agent } = await connect(client, ...flags)
    expect(hooks?.file).toBe(join(folder, path))
    const [token] = await tokensOf(agent)
    expect(token).toMatchObject({ role: 'hook', agent })
    expect(await disconnect(client, ...flags)).toMatchObject({ restored: true })
  }
})

test('changes no file where one of them is malformed', async () => {
  const file = join(home, '.codex', 'hooks.json')
  mkdirSync(dirname(file))
  writeFileSync(file, '{"hooks": {},}')
  const refused = await gate.cli(['connect', 'codex', '--yes'])
  expect([refused.code, refused.stdout]).toEqual([1, ''])
  expect(refused.stderr).toContain(`${file}:1:14:`)
  expect(readdirSync(dirname(file))).toEqual(['hooks.json'])
  expect(await tokensOf('codex')).toEqual([])
})

test('gives the hooks a new token where theirs is gone or ended, and ends the one before', async () => {
  const { hooks } = await connect('gemini')
  const [first] = await tokensOf('gemini')
  rmSync(hooks?.token_file ?? '')
  expect(await connect('gemini')).toMatchObject({ changed: true, diff: '' })
  const [second, ...more] = await tokensOf('gemini')
  expect([second?.id === first?.id, more]).toEqual([false, []])
  await gate.json(['user-token', 'revoke', second?.id ?? '', '--yes'])
  expect(await connect('gemini')).toMatchObject({ changed: true })
  expect(await tokensOf('gemini')).toHaveLength(1)
  await disconnect('gemini')
})

test('doctor says which version of Claude Code cannot fail closed', async () => {
  await connect('claude-code')
  const folder = join(home, 'bin')
  mkdirSync(folder)
  const path = process.env['PATH']
  process.env['PATH'] = `${folder}:${path}`
  try {
    const says = (version: string) => {
      writeFileSync(join(folder, 'claude'), `#!/bin/sh\necho '${version} (Claude Code)'\n`)
      chmodSync(join(folder, 'claude'), 0o755)
      return checkOf('Claude Code')
    }
    expect((await says('2.1.294'))?.detail).toContain(
      '2.1.294 lets a call through when a hook times',
    )
    expect((await says('2.1.295'))?.status).toBe('ok')
    expect((await says('nothing'))?.status).toBe('ok')
  } finally {
    process.env['PATH'] = path
  }
  await disconnect('claude-code')
})

test('makes a token for hooks of one agent only', async () => {
  await gate.createAgent('coder')
  const file = join(home, 'token')
  const line = ['user-token', 'create', '--label', 'editor', '--role', 'hook']
  const made = await gate.json<{ role: string; agent: string }>([
    ...line,
    ...['--agent', 'coder', '--token-file', file],
  ])
  expect(made).toMatchObject({ role: 'hook', agent: 'coder' })
  for (const wrong of [line, ['user-token', 'create', '--label', 'x', '--agent', 'coder']])
    expect((await gate.cli(wrong)).code).toBe(2)
})
