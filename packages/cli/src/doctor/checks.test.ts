import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { RunFile } from '@gatehouse/contract'
import type { Client } from '@gatehouse/rest-client'
import { makeTemporaryFolder } from '@gatehouse/testkit/temporary-folder'
import { expect, test } from 'vitest'
import { clients, type Place } from '../clients/client.ts'
import { hookSpecs } from '../clients/client-hooks.ts'
import { codexHookHash } from '../clients/codex-trust.ts'
import { checks } from './checks.ts'
import { runChecks } from './run-checks.ts'

const component = { status: 'healthy' as const }
const healthy = {
  getHealth: async () => ({
    status: 'healthy',
    reasons: [],
    components: {
      gateway: { ...component, uptime: 1 },
      audit: { ...component, entries: 2 },
      policy: { ...component, version: 'sha256:0' },
      storage: { ...component, engine: 'sqlite' },
      log: { ...component, dropped_lines: 0 },
    },
    resources: { cpu_percent: 1, memory_percent: 1, disk_percent: 1 },
  }),
  probeSandbox: async () => ({ usable: true, backend: 'bubblewrap', detail: 'all', remedy: null }),
  showVault: async () => ({
    status: 'healthy',
    secrets: 1,
    tampered: [],
    reason: null,
    remedy: null,
  }),
  showEngine: async () => ({
    package: { installed: true, version: '3.22.1', problem: null, remedy: null },
    model: null,
    quarantined: [],
    last_failure: null,
  }),
  listModels: async () => ({ models: [] }),
  queryAudit: async () => ({ integrity: 'verified', total: 2, entries: [] }),
  showPolicies: async () => ({ version: 'sha256:0', files: [], problems: [] }),
}

const running = {
  state: 'running',
  run: { pid: 1, user_api_url: 'http://127.0.0.1:1' } as RunFile,
} as const

const placeOf = (home: string): Place => ({
  env: { HOME: home },
  platform: 'linux',
  folder: join(home, 'project'),
})
const nowhere = placeOf('/does/not/exist')

async function examine(change: object = {}, mode = 0o700) {
  const dataDir = makeTemporaryFolder()
  await chmod(dataDir, mode)
  const api = { ...healthy, ...change } as unknown as Client
  const report = await runChecks(checks, { api, dataDir, found: running, place: nowhere })
  return { report, finding: (name: string) => report.checks.find((check) => check.name === name) }
}

test('finds nothing wrong where nothing is', async () => {
  const { report } = await examine()
  const failed = report.checks.filter(({ status }) => status === 'failed')
  expect(failed).toEqual([])
  expect(report.ok).toBe(true)
})

test('asks for a key file of the vault that nobody else can read', async () => {
  const dataDir = makeTemporaryFolder()
  const file = join(dataDir, 'vault.key')
  await writeFile(file, 'key', { mode: 0o600 })
  const found = async () => {
    const report = await runChecks(checks, {
      api: healthy as unknown as Client,
      dataDir,
      found: running,
      place: nowhere,
    })
    return report.checks.find(({ name }) => name === 'Vault key')
  }
  expect(await found()).toMatchObject({ status: 'ok' })
  await chmod(file, 0o640)
  expect(await found()).toMatchObject({
    status: 'failed',
    fix: expect.stringContaining('chmod 600'),
  })
})

test.each([
  ['Data directory', {}, 0o755, 'chmod 700'],
  [
    'Policy',
    {
      showPolicies: async () => ({
        version: 'sha256:0',
        files: [],
        problems: [
          { file: 'organisation.yaml', line: 3, column: 5, message: 'no', severity: 'error' },
        ],
      }),
    },
    0o700,
    'correct the file',
  ],
  [
    'Audit log',
    { queryAudit: async () => ({ integrity: 'failed', kind: 'modified', first_bad_id: 'aud-1' }) },
    0o700,
    'gatehouse audit verify',
  ],
  [
    'Health',
    {
      async getHealth() {
        throw new Error('no answer')
      },
    },
    0o700,
    'see the message',
  ],
] as const)('names the fix for: %s', async (name, change, mode, fix) => {
  const { report, finding } = await examine(change, mode)
  expect(report.ok).toBe(false)
  expect(finding(name)).toMatchObject({ status: 'failed', fix: expect.stringContaining(fix) })
})

test('names damage that keeps the data from being opened once, and not in each check that needs them', async () => {
  const dataDir = makeTemporaryFolder()
  const file = join(dataDir, 'store.json')
  await writeFile(file, '{')
  const refused = async () => {
    throw new Error(`${file}: is damaged; restore it from a backup`)
  }
  const api = { ...healthy, probeSandbox: refused, queryAudit: refused } as unknown as Client
  const report = await runChecks(checks, { api, dataDir, found: running, place: nowhere })
  const failed = report.checks.filter(({ status }) => status === 'failed')
  expect(failed.map(({ name }) => name)).toEqual(['Files'])
  expect(failed[0]?.detail).toContain(file)
})

test('warns where programs do not run or run without a sandbox, and names what to do', async () => {
  const lack = { usable: false, backend: 'none', detail: 'no bubblewrap', remedy: 'install it' }
  const none = await examine({ probeSandbox: async () => lack })
  expect(none.finding('Sandbox')).toEqual({
    name: 'Sandbox',
    status: 'warning',
    detail: 'programs do not run: no bubblewrap',
    fix: 'install it',
  })
  const chosen = { usable: true, backend: 'unconfined', detail: 'chosen', remedy: 'choose again' }
  const open = await examine({ probeSandbox: async () => chosen })
  expect(open.finding('Sandbox')).toMatchObject({ status: 'warning', fix: 'choose again' })
  expect(open.report.ok).toBe(true)
})

test('warns of lines of the log that nobody read', async () => {
  const { components } = await healthy.getHealth()
  const getHealth = async () => ({
    ...(await healthy.getHealth()),
    components: { ...components, log: { ...component, dropped_lines: 3 } },
  })
  expect((await examine({ getHealth })).finding('Log')).toMatchObject({
    status: 'warning',
    detail: expect.stringContaining('3 lines were dropped'),
  })
})

test('says what of local models is not as it should be', async () => {
  const program = { installed: false, version: '3', problem: 'no glibc', remedy: 'another system' }
  const engine = { ...(await healthy.showEngine()), package: program }
  const looked = async (change: object) => (await examine(change)).finding('Local models')
  expect(await looked({ showEngine: async () => engine })).toMatchObject({ status: 'ok' })
  const listModels = async () => ({ models: [{ installed: true }] })
  expect(await looked({ showEngine: async () => engine, listModels })).toMatchObject({
    status: 'warning',
    detail: 'no glibc',
    fix: 'another system',
  })
  const quarantined = [{ id: 'odd', reason: 'it aborts' }]
  expect(
    await looked({ showEngine: async () => ({ ...(await healthy.showEngine()), quarantined }) }),
  ).toMatchObject({ status: 'warning', detail: 'odd is in quarantine: it aborts' })
})

test('says of each client that is there whether it is connected, and what bypasses the gate, without secrets', async () => {
  const home = makeTemporaryFolder()
  const put = async (path: string, text: string) => {
    await mkdir(dirname(join(home, path)), { recursive: true })
    await writeFile(join(home, path), text)
  }
  const found = async () => {
    const api = healthy as unknown as Client
    const input = { api, dataDir: home, found: running, place: placeOf(home) }
    const { checks: findings } = await runChecks(checks, input)
    const titles = new Set(clients.map(({ title }) => title))
    return findings.filter(({ name }) => titles.has(name))
  }
  expect(await found()).toEqual([])
  await mkdir(join(home, '.cursor'))
  const token = join(home, 'codex.token')
  await put('codex.token', 'x')
  const toml = `[mcp_servers.gate]\ncommand = "node"\nargs = ["x", "mcp", "--token-file", "${token}"]\n`
  await put('.codex/config.toml', toml)
  await put(
    '.claude.json',
    '{"mcpServers": {"gatehouse": {}, "files": {"env": {"KEY": "s3cret"}}, "off": {"disabled": true}},' +
      '"projects": {"/srv/app": {"mcpServers": {"board": {}, "gatehouse": {}}}}}',
  )
  await put('project/.mcp.json', '{"mcpServers": {"github": {}}}')
  await put('.gemini/settings.json', '{"mcpServers": {"mail": {}}}')
  await put('.config/zed/settings.json', '{\n"a" 1}')
  const findings = await found()
  expect(findings.map(({ name, status, detail }) => `${name}: ${status}: ${detail}`)).toEqual([
    'Claude Code: warning: connected; its own tools bypass Gatehouse; these of its servers bypass Gatehouse: files, board (in /srv/app), github',
    'Cursor: warning: not connected; its own tools bypass Gatehouse',
    'Codex: warning: connected; its own tools bypass Gatehouse',
    'Gemini CLI: warning: not connected; its own tools bypass Gatehouse; these of its servers bypass Gatehouse: mail',
    `Zed: warning: ${join(home, '.config/zed/settings.json')}:2:5: Colon expected.`,
  ])
  expect(findings.map(({ fix }) => fix).slice(0, 4)).toEqual([
    'gatehouse connect claude-code',
    'gatehouse connect cursor',
    'gatehouse connect codex',
    'gatehouse connect gemini, then gatehouse import gemini',
  ])
  expect(JSON.stringify(findings)).not.toContain('s3cret')

  const hooksFile = join(home, '.codex/hooks.json')
  const line = `/usr/bin/node '/opt/gatehouse.js' hook codex --token-file ${token} || exit 2`
  const hooks = (timeout: number) => ({
    PreToolUse: [{ hooks: [] }, { hooks: [{ type: 'command', command: line, timeout }] }],
  })
  const ofCodex = async () => (await found()).find(({ name }) => name === 'Codex')?.detail
  await put('.codex/hooks.json', JSON.stringify({ hooks: hooks(60) }))
  const untrusted = 'Codex leaves the hook out until you trust it'
  expect(await ofCodex()).toBe(`connected; its hooks were changed; ${untrusted}`)
  await put('.codex/hooks.json', JSON.stringify({ hooks: hooks(600) }))
  expect(await ofCodex()).toBe(`connected; ${untrusted}`)
  const trusted = (hash: string | null) =>
    `[hooks.state."${hooksFile}:pre_tool_use:1:0"]\ntrusted_hash = "${hash}"\n`
  await put('.codex/config.toml', `${toml}${trusted('sha256:0')}`)
  const other = 'Codex leaves the hook out, which has changed since you trusted it'
  expect(await ofCodex()).toBe(`connected; ${other}`)
  const state = trusted(codexHookHash(hooks(600).PreToolUse[1] ?? {}, 'linux'))
  await put('.codex/config.toml', `${toml}${state}`)
  expect(await ofCodex()).toBe('connected; its own tools are decided by the gate')
  await put('.codex/config.toml', `${toml}${state}enabled = false\n`)
  expect(await ofCodex()).toBe('connected; the hook is switched off in Codex')
  await put('.codex/config.toml', `${toml}${state}\n[features]\nhooks = false\n`)
  expect(await ofCodex()).toBe('connected; features.hooks switches its hooks off')
  await rm(token)
  expect((await found()).find(({ name }) => name === 'Codex')).toMatchObject({
    status: 'warning',
    fix: 'gatehouse connect codex',
  })
})

test('says that calls of Copilot CLI are asked about twice where Claude Code has hooks in the project', async () => {
  const home = makeTemporaryFolder()
  const put = async (path: string, value: object) => {
    await mkdir(dirname(join(home, path)), { recursive: true })
    await writeFile(join(home, path), JSON.stringify(value))
  }
  const place = placeOf(home)
  const itemsOf = (client: string) => {
    const line = `/usr/bin/node '/opt/gatehouse.js' hook ${client} --data-dir /d || exit 2`
    const items = hookSpecs[client]?.items(line, place.platform) ?? {}
    return Object.fromEntries(Object.entries(items).map(([event, item]) => [event, [item]]))
  }
  const ofCopilot = async () => {
    const api = healthy as unknown as Client
    const { checks: findings } = await runChecks(checks, {
      api,
      dataDir: home,
      found: running,
      place,
    })
    return findings.find(({ name }) => name === 'Copilot CLI')
  }
  await put('.copilot/mcp-config.json', { mcpServers: { gatehouse: {} } })
  await put('.copilot/hooks/gatehouse.json', { version: 1, hooks: itemsOf('copilot') })
  await put('.claude/settings.json', { hooks: itemsOf('claude-code') })
  expect(await ofCopilot()).toMatchObject({ status: 'ok' })
  await put('project/.claude/settings.local.json', { hooks: itemsOf('claude-code') })
  expect(await ofCopilot()).toMatchObject({
    status: 'warning',
    detail: expect.stringContaining('asked about twice') as unknown,
    fix: 'gatehouse disconnect claude-code --scope project, then gatehouse connect claude-code',
  })
})
