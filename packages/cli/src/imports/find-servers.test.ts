import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import type { Place, Scope } from '../clients/client.ts'
import { candidatesOf, fittingName, namesFor, type UsableServer } from './candidates.ts'
import { findServers } from './find-servers.ts'

let home = ''
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-home-')))
  return () => rmSync(home, { recursive: true, force: true })
})

const put = (path: string, content: string | object): void => {
  mkdirSync(dirname(join(home, path)), { recursive: true })
  writeFileSync(
    join(home, path),
    typeof content === 'string' ? content : JSON.stringify(content, null, 2),
  )
}

const find = (env: Record<string, string> = {}, ids: string[] = [], scope?: Scope) => {
  const place: Place = {
    env: { HOME: home, ...env },
    platform: 'linux',
    folder: join(home, 'project'),
  }
  return findServers({ ids, scope, place })
}

/** What was found, in short: where, and what it is or why it stays. */
async function found(env: Record<string, string> = {}) {
  const { servers } = await find(env)
  return servers.map(({ config, name, definition, problem }) => [
    `${config.client.id}/${config.scope}/${name}`,
    problem ?? definition,
  ])
}

const stdio = (command: string, args: string[] = [], values = {}) => ({
  server: { kind: 'stdio', command, args },
  values,
})
const http = (url: string, values = {}) => ({ server: { kind: 'http', url }, values })

test('reads the servers of every client as it has them', async () => {
  put('.claude.json', {
    mcpServers: {
      files: { type: 'stdio', command: 'npx', args: ['-y', 'x'], env: { A: '${A}', B: '${B:-b}' } },
      remote: {
        type: 'http',
        url: 'https://a.example/mcp',
        headers: { Authorization: 'Bearer ${A}' },
      },
      gatehouse: { command: 'node', args: ['x', 'mcp'] },
    },
  })
  put('.config/Claude/claude_desktop_config.json', {
    mcpServers: { plain: { command: 'uvx', args: ['${A}'] } },
  })
  put(
    '.cursor/mcp.json',
    '// mine\n{"mcpServers": {"c": {"command": "x", "env": {"T": "${env:A}"},},},}\n',
  )
  put('.config/Code/User/mcp.json', {
    inputs: [{ id: 'key' }],
    servers: {
      asks: { command: 'x', env: { KEY: '${input:key}' } },
      filed: { command: 'x', envFile: '.env' },
      web: { type: 'sse', url: 'https://b.example/sse' },
    },
  })
  put(
    '.codex/config.toml',
    '[mcp_servers.tool]\ncommand = "x"\nenv_vars = ["A"]\n[mcp_servers.tool.env]\nB = "1"\n' +
      '[mcp_servers.web]\nurl = "https://c.example/mcp"\nbearer_token_env_var = "A"\nhttp_headers = { X = "1" }\n' +
      '[mcp_servers.off]\ncommand = "x"\nenabled = false\n',
  )
  put('.gemini/settings.json', {
    mcpServers: { g: { httpUrl: 'https://d.example/mcp' }, h: { command: 'x', env: { T: '$A' } } },
  })
  put('.config/zed/settings.json', {
    context_servers: {
      old: { command: { path: 'x', args: ['1'], env: { B: 'b' } } },
      ext: { source: 'extension', settings: {} },
    },
  })
  put('.codeium/windsurf/mcp_config.json', {
    mcpServers: {
      w: { serverUrl: 'https://e.example/sse' },
      off: { command: 'x', disabled: true },
    },
  })
  expect(await found({ A: 'a1' })).toEqual([
    ['claude-code/user/files', stdio('npx', ['-y', 'x'], { A: 'a1', B: 'b' })],
    ['claude-code/user/remote', http('https://a.example/mcp', { Authorization: 'Bearer a1' })],
    ['claude-desktop/user/plain', stdio('uvx', ['${A}'])],
    ['cursor/user/c', stdio('x', [], { T: 'a1' })],
    ['vscode/user/asks', 'only VS Code can fill in ${input:key}'],
    ['vscode/user/filed', 'its environment is in a file (envFile)'],
    ['vscode/user/web', http('https://b.example/sse')],
    ['codex/user/tool', stdio('x', [], { A: 'a1', B: '1' })],
    ['codex/user/web', http('https://c.example/mcp', { X: '1', authorization: 'Bearer a1' })],
    ['codex/user/off', 'it is switched off'],
    ['gemini/user/g', http('https://d.example/mcp')],
    ['gemini/user/h', stdio('x', [], { T: 'a1' })],
    ['zed/user/old', stdio('x', ['1'], { B: 'b' })],
    ['zed/user/ext', 'it comes with an extension'],
    ['windsurf/user/w', http('https://e.example/sse')],
    ['windsurf/user/off', 'it is switched off'],
  ])
  const unset = await found()
  expect(unset[0]?.[1]).toBe('it takes A from the environment, where that is not set')
})

test('reads the servers of a project from its folder, and knows a client that is connected above', async () => {
  put('.claude.json', { mcpServers: { gatehouse: { command: 'node' } } })
  put('project/server.js', '')
  put('project/.mcp.json', {
    mcpServers: { here: { command: './run', args: ['./server.js', './gone.js', '--x'] } },
  })
  put('project/.vscode/mcp.json', {
    servers: { there: { command: 'x', args: ['${workspaceFolder}/a'] } },
  })
  const project = join(home, 'project')
  const { servers } = await find()
  expect(servers.map(({ config, definition }) => [config.connected, definition])).toEqual([
    [true, stdio(join(project, 'run'), [join(project, 'server.js'), './gone.js', '--x'])],
    [false, stdio('x', [join(project, 'a')])],
  ])
})

test('reads the servers that Claude Code keeps for single folders, each as it is in its own', async () => {
  const [app, other] = [join(home, 'project'), join(home, 'other')]
  put('project/server.js', '')
  put('other/.mcp.json', { mcpServers: { gate: { args: ['mcp', '--token-file', 'x'] } } })
  put('.claude.json', {
    mcpServers: { all: { command: 'x' } },
    projects: {
      [app]: { mcpServers: { here: { command: 'x', args: ['./server.js'] } }, history: [] },
      [other]: { mcpServers: { there: { command: './run' } } },
      '/empty': { mcpServers: {} },
      '/odd': null,
      '/odder': { mcpServers: [] },
    },
  })
  put('project/.mcp.json', { mcpServers: { shared: { command: 'y' } } })
  const shown = async (scope: Scope | undefined) => {
    const { servers } = await find({}, [], scope)
    return servers.map(({ config, name, definition }) => [
      ...[name, config.scope, config.list.join(' '), config.connected],
      definition?.server.kind === 'stdio' && [definition.server.command, ...definition.server.args],
    ])
  }
  const all = ['all', 'user', 'mcpServers', false, ['x']]
  const local = [
    ['here', 'local', `projects ${app} mcpServers`, false, ['x', join(app, 'server.js')]],
    ['there', 'local', `projects ${other} mcpServers`, true, [join(other, 'run')]],
  ]
  const shared = ['shared', 'project', 'mcpServers', false, ['y']]
  expect(await shown(undefined)).toEqual([all, ...local, shared])
  expect(await shown('user')).toEqual([all])
  expect(await shown('project')).toEqual([local[0], shared])
  put('.claude.json', { projects: 'none' })
  expect(await shown(undefined)).toEqual([shared])
})

test('says why a server stays where it is, and goes on with the others', async () => {
  put('.cursor/mcp.json', '{"mcpServers": {"a" 1}}')
  put('.codex/config.toml', 'mcp_servers = { a = { command = "x" } }\n')
  put('.gemini/settings.json', {
    mcpServers: {
      number: 1,
      none: {},
      args: { command: 'x', args: 'y' },
      env: { command: 'x', env: { A: ['b'] } },
      secret: { command: 'x', args: ['--token', 'abc'] },
      address: { url: 'https://ana:pw@a.example/mcp' },
      file: { url: 'file:///etc/passwd' },
      fine: { command: 'x' },
    },
  })
  const { servers, unread } = await find()
  expect(unread).toEqual([
    { client: 'Cursor', problem: `${join(home, '.cursor/mcp.json')}:1:21: Colon expected.` },
  ])
  const problems = servers.map(({ name, problem }) => `${name}: ${problem}`)
  expect(problems[0]).toContain('cannot be changed without changing more')
  expect(problems.slice(1).map((line) => line.slice(0, 48))).toEqual([
    'number: its entry is no table',
    'none: it has neither a command nor an address',
    'args: args is no list of texts',
    'env: A of env is no text',
    'secret: one of its arguments looks like a secret',
    'address: its address looks like it holds a secre',
    'file: its address is none of HTTP',
    'fine: null',
  ])
  expect((await find({}, ['codex'])).servers).toHaveLength(1)
})

test('makes one candidate of the same server in two clients, and finds names that fit', async () => {
  put('.claude.json', {
    mcpServers: { 'My Files!': { command: 'x', env: { A: '1', B_TOKEN: 't' } } },
  })
  put('.cursor/mcp.json', {
    mcpServers: { files: { command: 'x', env: { B_TOKEN: 't', A: '1' } } },
  })
  put('.gemini/settings.json', { mcpServers: { files: { command: 'x', env: { B_TOKEN: 'u' } } } })
  const { servers } = await find()
  const usable = servers as UsableServer[]
  const [both, other, ...none] = candidatesOf(usable, [], ['A'])
  expect(none).toEqual([])
  expect(both?.from.map(({ config }) => config.client.id)).toEqual(['claude-code', 'cursor'])
  expect(both?.secrets).toEqual(['A', 'B_TOKEN'])
  expect(both && namesFor(both).slice(0, 3)).toEqual([
    'my-files',
    'my-files-claude-code',
    'my-files-claude-code-2',
  ])
  const kept = { servers: [{ name: 'x', upstream: 'known', definition: other?.fingerprint ?? '' }] }
  const [, again] = candidatesOf(usable, [kept] as never, [])
  expect(again?.known).toBe('known')
})

test.each([
  ['github', 'github'],
  ['GitHub MCP', 'github-mcp'],
  ['123', 'mcp-123'],
  ['@scope/näme_x', 'scope-na-me-x'],
  ['日本', 'mcp'],
  ['a'.repeat(30) + '-b', 'a'.repeat(30)],
])('%s becomes %s', (name, fitting) => {
  expect(fittingName(name)).toBe(fitting)
  expect(fitting).toMatch(/^[a-z][a-z0-9-]{0,30}$/)
})
