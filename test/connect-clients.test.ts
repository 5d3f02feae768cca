import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { Installation } from './support/server.ts'

type Connected = {
  file: string
  agent: string
  token_file: string
  backup: string | null
  changed: boolean
  diff: string
}
type Disconnected = { restored: boolean; revoked: string | null }
type Shown = { status: string; mounts: { path: string; read_only: boolean }[] }
type Entry = { command: string; args: string[] }

for (const name of ['XDG_CONFIG_HOME', 'CLAUDE_CONFIG_DIR', 'CODEX_HOME', 'GEMINI_CLI_HOME'])
  delete process.env[name]

const gate = new Installation()
let home = ''
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'gatehouse-home-'))
  process.env['HOME'] = home
  return () => rmSync(home, { recursive: true, force: true })
})
afterAll(() => gate[Symbol.asyncDispose]())

const connect = (client: string, ...flags: string[]) =>
  gate.json<Connected>(['connect', client, '--yes', ...flags])
const disconnect = (client: string, ...flags: string[]) =>
  gate.json<Disconnected>(['disconnect', client, '--yes', ...flags])

const json = '{\n  "theme": "dark",\n  "KEY": {\n    "files": { "command": "npx" }\n  }\n}\n'
const commented = '// mine\n{\n  "KEY": {\n    "files": { "command": "npx" }, // reads\n  },\n}\n'
const toml = '# mine\nmodel = "o4"\n\n[mcp_servers.files]\ncommand = "npx"\n'

const places = [
  ['claude-code', '.claude.json', 'mcpServers', json],
  ['claude-desktop', '.config/Claude/claude_desktop_config.json', 'mcpServers', json],
  ['cursor', '.cursor/mcp.json', 'mcpServers', commented],
  ['vscode', '.config/Code/User/mcp.json', 'servers', commented],
  ['codex', '.codex/config.toml', 'mcp_servers', toml],
  ['gemini', '.gemini/settings.json', 'mcpServers', json],
  ['zed', '.config/zed/settings.json', 'context_servers', commented],
  ['windsurf', '.codeium/windsurf/mcp_config.json', 'mcpServers', commented],
] as const

const entryOf = (text: string, key: string): Entry => {
  if (key === 'mcp_servers') {
    const [, command = '', args = ''] = /\ncommand = (".*")\nargs = (\[.*\])\n$/.exec(text) ?? []
    return { command: JSON.parse(command) as string, args: JSON.parse(args) as string[] }
  }
  const strict = text
    .replaceAll(/^\s*\/\/.*$/gm, '')
    .replaceAll(/ \/\/ \w+$/gm, '')
    .replaceAll(/,(?=\s*\})/g, '')
  const config = JSON.parse(strict) as Record<string, { gatehouse: Entry }>
  const entry = config[key]?.gatehouse
  if (!entry) throw new Error(`no entry in ${text}`)
  return entry
}

/** What an agent hears of itself over the entry that was written. */
async function whoami({ command, args }: Entry): Promise<unknown> {
  const client = new Client({ name: 'connect-test', version: '1.0.0' })
  await client.connect(new StdioClientTransport({ command, args, env: {}, stderr: 'ignore' }))
  const { structuredContent } = await client.callTool({ name: 'agent__whoami', arguments: {} })
  await client.close()
  return structuredContent
}

test.each(places)(
  '%s is connected by one command, works as written, and is taken off byte for byte',
  async (client, path, key, text) => {
    if (!gate.run) await gate.start()
    const file = join(home, path)
    const before = text.replace('KEY', key)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, before, { mode: 0o640 })
    const done = await connect(client)
    expect(done).toMatchObject({ file, agent: client, changed: true })
    expect(readFileSync(done.backup ?? '', 'utf8')).toBe(before)
    const after = readFileSync(file, 'utf8')
    for (const line of before.split('\n').filter((one) => /files|mine|theme/.test(one)))
      expect(after).toContain(`${line}\n`)
    const token = readFileSync(done.token_file, 'utf8').trim()
    expect(`${after}${JSON.stringify(done)}`).not.toContain(token)
    for (const name of [done.token_file, done.backup ?? ''])
      expect(statSync(name).mode & 0o777).toBe(0o600)
    expect(statSync(file).mode & 0o777).toBe(0o640)
    expect(await whoami(entryOf(after, key))).toMatchObject({ name: client })

    expect(await connect(client)).toMatchObject({ changed: false })
    expect(readFileSync(file, 'utf8')).toBe(after)
    expect(await disconnect(client)).toMatchObject({ restored: true, revoked: client })
    expect(readFileSync(file, 'utf8')).toBe(before)
    expect(existsSync(done.token_file)).toBe(false)
    expect(readdirSync(dirname(file))).toEqual([file.split('/').at(-1)])
    expect((await gate.json<Shown>(['agent', 'show', client])).status).toBe('revoked')
  },
)

test('takes only its entry out of a file that changed, and nothing where none was before', async () => {
  if (!gate.run) await gate.start()
  const { file } = await connect('cursor')
  const shared = JSON.parse(readFileSync(file, 'utf8')) as { mcpServers: object }
  writeFileSync(
    file,
    JSON.stringify({ mcpServers: { ...shared.mcpServers, other: { command: 'x' } } }, null, 2),
  )
  expect(await disconnect('cursor')).toMatchObject({ restored: false, revoked: 'cursor' })
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
    mcpServers: { other: { command: 'x' } },
  })

  // The agent is restored, and what did not exist is gone again.
  const made = await connect('windsurf')
  expect(await disconnect('windsurf', '--keep-agent')).toMatchObject({ revoked: null })
  expect(existsSync(dirname(made.file))).toBe(false)
  expect((await gate.json<Shown>(['agent', 'show', 'windsurf'])).status).toBe('active')
  expect((await gate.cli(['disconnect', 'windsurf', '--yes'])).code).toBe(5)
})

test('names the backup of a file that changed since, with what to do with it, and no other', async () => {
  if (!gate.run) await gate.start()
  const file = join(home, '.cursor', 'mcp.json')
  mkdirSync(dirname(file))
  writeFileSync(file, '{ "mcpServers": {}, "theme": "dark" }\n')
  const { backup } = await connect('cursor', '--no-hooks')
  writeFileSync(file, readFileSync(file, 'utf8').replace('dark', 'light'))
  const { stdout } = await gate.cli(['disconnect', 'cursor', '--yes'])
  expect(stdout).toContain(`See the difference: diff ${backup} ${file}\n`)
  expect(stdout).toContain(`rm ${backup}\n`)
  expect(readFileSync(`${backup}`, 'utf8')).toContain('dark')

  await connect('cursor', '--no-hooks')
  const restored = await gate.cli(['disconnect', 'cursor', '--yes'])
  expect(restored.stdout).toContain(`${file} is as it was before.`)
  expect(restored.stdout).not.toContain('diff')
  expect(existsSync(`${backup}`)).toBe(false)
  // Of a file that was none before, nothing is kept.
  rmSync(file)
  await connect('cursor', '--no-hooks')
  writeFileSync(file, readFileSync(file, 'utf8').replace('{', '{ "theme": "light",'))
  expect(await disconnect('cursor')).toMatchObject({ files: [{ restored: false, backup: null }] })
})

test('gives a new token where the present one is not at hand', async () => {
  if (!gate.run) await gate.start()
  const { file, token_file } = await connect('zed')
  const first = readFileSync(token_file, 'utf8')
  rmSync(token_file)
  const written = readFileSync(file, 'utf8')
  expect(await connect('zed')).toMatchObject({ changed: true, diff: '' })
  expect(readFileSync(file, 'utf8')).toBe(written)
  expect(readFileSync(token_file, 'utf8')).not.toBe(first)
  expect(await whoami(entryOf(written, 'context_servers'))).toMatchObject({ name: 'zed' })
  expect(await disconnect('zed')).toMatchObject({ restored: true })
})

test('connects a project with an agent of its own, with folders and with --start', async () => {
  if (!gate.run) await gate.start()
  const folder = join(home, 'My App')
  mkdirSync(folder)
  const flags = ['--scope', 'project', '--folder', folder]
  const done = await connect('vscode', ...flags, '--mount', `${folder}:rw`, '--start')
  expect(done.file).toBe(join(folder, '.vscode', 'mcp.json'))
  expect(done.agent).toMatch(/^vscode-my-app-[0-9a-f]{6}$/)
  expect(statSync(done.file).mode & 0o777).toBe(0o644)
  expect(entryOf(readFileSync(done.file, 'utf8'), 'servers').args).toContain('--start')
  const { mounts } = await gate.json<Shown>(['agent', 'show', done.agent])
  expect(mounts).toEqual([{ path: folder, read_only: false }])
  expect(await disconnect('vscode', ...flags)).toMatchObject({ restored: true })
  expect(readdirSync(folder)).toEqual([])
  for (const line of [
    ['connect', 'windsurf', ...flags],
    ['connect', 'cursor', '--folder', folder],
    ['connect', 'cursr'],
  ])
    expect((await gate.cli(line)).code).toBe(2)
})

test('shows the change with --dry-run, and makes none, not even the data', async () => {
  const dataDir = join(home, 'nothing')
  const shown = await new Installation(dataDir).cli(['connect', 'claude-code', '--dry-run'])
  expect([shown.code, shown.stderr]).toEqual([0, ''])
  expect(shown.stdout).toContain('+    "gatehouse": {')
  expect(readdirSync(home)).toEqual([])
  const refused = await new Installation(dataDir).cli(['connect', 'claude-code'])
  expect(refused.code).toBe(2)
  expect(refused.stderr).toContain('--yes')
  expect(readdirSync(home)).toEqual([])
})

test('follows a link to the file, and leaves alone what it cannot safely write', async () => {
  if (!gate.run) await gate.start()
  const dotfiles = join(home, 'dotfiles')
  mkdirSync(join(home, '.cursor'))
  mkdirSync(dotfiles)
  const target = join(dotfiles, 'mcp.json')
  const link = join(home, '.cursor', 'mcp.json')
  writeFileSync(target, '{}\n')
  symlinkSync(target, link)
  expect((await connect('cursor')).file).toBe(target)
  expect(lstatSync(link).isSymbolicLink()).toBe(true)
  expect(await disconnect('cursor')).toMatchObject({ restored: true })
  expect(readFileSync(target, 'utf8')).toBe('{}\n')

  const refused = async (code: number, says: string) => {
    const ran = await gate.cli(['connect', 'cursor', '--yes'])
    expect([ran.code, ran.stdout]).toEqual([code, ''])
    expect(ran.stderr).toContain(says)
  }
  rmSync(target)
  await refused(4, 'leads nowhere')
  mkdirSync(target)
  await refused(4, 'no regular file')
  rmSync(target, { recursive: true })
  writeFileSync(target, '{\n  "mcpServers": {\n    "a": 1\n    "b": 2\n  }\n}\n')
  await refused(1, `${target}:4:5: Comma expected.`)
  writeFileSync(target, Buffer.from([0x7b, 0xff, 0x7d]))
  await refused(1, 'not valid UTF-8')
  if (process.getuid?.() !== 0) return
  writeFileSync(target, '{}')
  chownSync(target, 65_534, 65_534)
  await refused(4, 'belongs to another user')
})
