import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hasProgram } from '@gatehouse/testkit/programs'
import { until } from '@gatehouse/testkit/until'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { bin, Installation } from './support/server.ts'

type Imported = {
  imported: { upstream: string; tools: number; from: { client: string; server: string }[] }[]
  left: { server: string; reason: string }[]
  files: { file: string; backup: string }[]
  found: { server: string; secrets: string[]; problem: string | null }[]
}
type Undone = { files: { file: string; restored: boolean }[]; removed: string[] }
type Upstreams = { upstreams: { name: string; credentials: object; grants: object }[] }
type Entry = { command: string; args: string[] }

for (const name of ['XDG_CONFIG_HOME', 'CLAUDE_CONFIG_DIR', 'CODEX_HOME', 'GEMINI_CLI_HOME'])
  delete process.env[name]

const packages = realpathSync(fileURLToPath(new URL('../node_modules', import.meta.url)))
const memory = join(packages, '@modelcontextprotocol/server-memory/dist/index.js')
const secret = 'not-a-real-token-9f3c'

const gate = new Installation()
let home = ''
let notes = ''
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-home-')))
  notes = join(home, 'notes')
  mkdirSync(notes)
  // Programs run as a user of their own where the service is root.
  chmodSync(home, 0o755)
  chmodSync(notes, 0o777)
  process.env['HOME'] = home
  return () => rmSync(home, { recursive: true, force: true })
})
afterAll(() => gate[Symbol.asyncDispose]())

const put = (path: string, text: string): string => {
  const file = join(home, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text, { mode: 0o600 })
  return file
}

const claude = () => `{
  "theme": "dark",
  "mcpServers": {
    "Memory": {
      "type": "stdio",
      "command": ${JSON.stringify(process.execPath)},
      "args": [${JSON.stringify(memory)}],
      "env": { "MEMORY_FILE_PATH": "${notes}/graph.json", "NOTES_TOKEN": "${secret}" }
    },
    "broken": { "command": "/does/not/exist", "args": [] },
    "bare": { "command": "npx", "args": ["x", "--api-key", "${secret}"] }
  },
  "numStartups": 4
}
`

const codex = () => `# mine
model = "o4"

[mcp_servers.memory]
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(memory)}]

# where it keeps what it knows
[mcp_servers.memory.env]
NOTES_TOKEN = "${secret}"
MEMORY_FILE_PATH = "${notes}/graph.json"

[profiles.fast]
model = "o4-mini"
`

async function called({ command, args }: Entry, name: string, given: object): Promise<string> {
  const client = new Client({ name: 'import-test', version: '1.0.0' })
  await client.connect(new StdioClientTransport({ command, args, env: {}, stderr: 'ignore' }))
  const result = await client.callTool({ name, arguments: { ...given } })
  await client.close()
  return JSON.stringify(result)
}

const servers = (file: string) =>
  (JSON.parse(readFileSync(file, 'utf8')) as { mcpServers: Record<string, Entry> }).mcpServers

const undo = (...flags: string[]) => gate.json<Undone>(['import', '--undo', '--yes', ...flags])
const upstreams = async () => (await gate.json<Upstreams>(['upstream', 'list'])).upstreams

/** The import ends with 1 where something was left, and says what. */
async function imported(...flags: string[]): Promise<Imported & { said: string; code: number }> {
  const { code, stdout, stderr } = await gate.cli(['import', '--yes', '--json', ...flags])
  if (stdout === '') throw new Error(stderr)
  return { ...(JSON.parse(stdout) as Imported), code, said: stdout + stderr }
}

describe.skipIf(!hasProgram('bwrap'))('import with a real server', () => {
  test('moves one server of two clients behind the gate, and puts it back byte for byte', async () => {
    await gate.start()
    const texts = [claude(), codex()] as const
    const files = [put('.claude.json', texts[0]), put('.codex/config.toml', texts[1])] as const
    const done = await imported('--server', 'Memory,memory,broken,bare')
    expect(done.code).toBe(1)
    expect(done.said).not.toContain(secret)
    expect(done.imported).toMatchObject([
      {
        upstream: 'memory',
        from: [
          { client: 'claude-code', server: 'Memory' },
          { client: 'codex', server: 'memory' },
        ],
      },
    ])
    expect(done.imported[0]?.tools).toBeGreaterThan(5)
    expect(done.left.map(({ server }) => server).toSorted()).toEqual(['bare', 'broken'])
    for (const { backup } of done.files) expect(statSync(backup).mode & 0o777).toBe(0o600)

    expect(Object.keys(servers(files[0])).toSorted()).toEqual(['bare', 'broken', 'gatehouse'])
    const toml = readFileSync(files[1], 'utf8')
    expect(toml).not.toContain(secret)
    expect(toml).toContain('[profiles.fast]')
    expect(await upstreams()).toMatchObject([
      {
        name: 'memory',
        credentials: { NOTES_TOKEN: {} },
        grants: { environment: { MEMORY_FILE_PATH: `${notes}/graph.json` } },
      },
    ])
    const rules = 'version: 1\nrules:\n  - {match: memory.*, tier: autonomous}\n'
    expect((await gate.cli(['policy', 'set', '-', '--yes'], rules)).code).toBe(0)
    const entry = servers(files[0])['gatehouse'] as Entry
    expect(await called(entry, 'memory__read_graph', {})).toContain('entities')

    expect(await imported('--server', 'broken')).toMatchObject({ code: 1, imported: [], files: [] })
    const undone = await undo()
    expect(undone.removed).toEqual(['memory'])
    expect(undone.files.map(({ restored }) => restored)).toEqual([true, true])
    for (const [at, file] of files.entries()) expect(readFileSync(file, 'utf8')).toBe(texts[at])
    expect(await upstreams()).toEqual([])
    expect(readdirSync(join(gate.dataDir, 'imports'))).toEqual([])
    expect((await gate.cli(['import', '--undo', '--yes'])).code).toBe(5)
  })

  test('keeps a connection of before, what others changed, and the server that another import needs', async () => {
    if (!gate.run) await gate.start()
    const file = put('.claude.json', claude())
    const other = put('.codex/config.toml', codex())
    await gate.json(['connect', 'claude-code', '--yes'])
    const line = ['claude-code', '--server', 'Memory', '--grant', `${notes}:rw`]
    const done = await imported(...line)
    expect(done.imported).toMatchObject([{ upstream: 'memory' }])
    const added = await imported('codex', '--server', 'memory')
    expect(added.imported).toMatchObject([{ upstream: 'memory', added: false }])
    const said = await called(servers(file)['gatehouse'] as Entry, 'memory__create_entities', {
      entities: [{ name: 'gate', entityType: 'thing', observations: [] }],
    })
    expect(said).toContain('gate')
    expect(readFileSync(join(notes, 'graph.json'), 'utf8')).toContain('gate')

    writeFileSync(file, readFileSync(file, 'utf8').replace('"dark"', '"light"'))
    expect(await undo('claude-code')).toMatchObject({ removed: [], files: [{ restored: false }] })
    const { mcpServers } = JSON.parse(claude()) as { mcpServers: Record<string, Entry> }
    expect(servers(file)).toMatchObject(mcpServers)
    expect(servers(file)).toHaveProperty('gatehouse')
    expect(readFileSync(file, 'utf8')).toContain('"light"')

    writeFileSync(other, `${readFileSync(other, 'utf8')}\n[tools]\nweb = true\n`)
    expect(await undo()).toMatchObject({ removed: ['memory'], files: [{ restored: false }] })
    const text = readFileSync(other, 'utf8')
    expect(text).toContain('[mcp_servers.memory]')
    expect(text).toContain(secret)
    expect(text).toContain('web = true')
    expect(text).not.toContain('mcp_servers.gatehouse')
    expect(existsSync(done.files[0]?.backup ?? '')).toBe(false)
  })
})

describe.skipIf(!hasProgram('bwrap'))('import that is killed', () => {
  test('is told of by doctor, and undone byte for byte', async () => {
    if (!gate.run) await gate.start()
    const texts = [claude(), codex()] as const
    const files = [put('.claude.json', texts[0]), put('.codex/config.toml', texts[1])] as const
    const journal = join(gate.dataDir, 'imports', 'journal.json')
    const line = [bin, '--data-dir', gate.dataDir, 'import', '--yes', '--server', 'Memory,memory']
    // One that is through before it is killed is undone and made again.
    await until(async () => {
      const child = spawn(process.execPath, line, { stdio: 'ignore' })
      const ended = once(child, 'exit')
      await until(async () => existsSync(journal) || child.exitCode !== null)
      child.kill('SIGKILL')
      await ended
      if (existsSync(journal)) return true
      await undo()
      return false
    })
    const { stdout } = await gate.cli(['doctor'])
    expect(stdout).toContain('Import: one was interrupted')
    await undo()
    for (const [at, file] of files.entries()) expect(readFileSync(file, 'utf8')).toBe(texts[at])
    expect(readdirSync(join(gate.dataDir, 'imports'))).toEqual([])
    expect((await gate.cli(['doctor'])).stdout).not.toContain('Import:')
  })
})

test('lists with --dry-run, starts and writes nothing, and shows no secret', async () => {
  const file = put('.claude.json', claude())
  const dataDir = join(home, 'nothing')
  const shown = await new Installation(dataDir).cli(['import', '--dry-run'])
  expect([shown.code, shown.stderr]).toEqual([0, ''])
  expect(shown.stdout).toContain('Memory of claude-code: NOTES_TOKEN goes into the vault')
  expect(shown.stdout).toContain(
    'bare of claude-code stays where it is: one of its arguments looks like a secret',
  )
  expect(shown.stdout).not.toContain(secret)
  expect(existsSync(dataDir)).toBe(false)
  expect(readFileSync(file, 'utf8')).toBe(claude())
})
