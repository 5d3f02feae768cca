import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasProgram } from '@gatehouse/testkit/programs'
import { until } from '@gatehouse/testkit/until'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Report } from '../packages/cli/src/selftest/report.ts'
import { PackageRegistry } from './support/package-registry.ts'
import { invoke, type Run } from './support/server.ts'

// The package as a user gets it: packed, offered by a registry, fetched and started by npx in an empty folder.

const full = process.env['GATEHOUSE_FULL'] === '1'
const root = new URL('..', import.meta.url).pathname
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-published-'))
const packed = join(folder, 'packed')
const staged = join(packed, 'staged/gatehoused')
const dataDir = join(folder, 'data')
const empty = join(folder, 'empty')

const npmConfig = (name: string): string =>
  execFileSync('npm', ['config', 'get', name], { cwd: root }).toString().trim()

/** npm with a home and a cache of its own, but what it has downloaded before. */
const surroundings = (registry: string): NodeJS.ProcessEnv => {
  const cache = join(folder, 'cache')
  mkdirSync(cache)
  const downloads = join(npmConfig('cache'), '_cacache')
  if (existsSync(downloads)) symlinkSync(downloads, join(cache, '_cacache'))
  // npm gives its own settings and folders to what it runs, such as these tests.
  const kept = Object.entries(process.env).filter(([name]) => !/^npm_|^INIT_CWD$/i.test(name))
  const path = (process.env['PATH'] ?? '').split(':').filter((place) => !place.includes('.bin'))
  return {
    ...Object.fromEntries(kept),
    PATH: path.join(':'),
    HOME: join(folder, 'home'),
    NO_COLOR: '1',
    npm_config_userconfig: npmConfig('userconfig'),
    npm_config_cache: cache,
    npm_config_registry: registry,
    npm_config_update_notifier: 'false',
    // By default npx knows by this what it has fetched.
    npm_config_omit_lockfile_registry_resolved: 'false',
  }
}

let registry: PackageRegistry
let env: NodeJS.ProcessEnv
let service: ChildProcess | undefined
let output = ''
let run: Run

const runFile = join(dataDir, 'run.json')

/** The command that npx has fetched. */
const gatehouse = async (...words: readonly string[]) => {
  const child = spawn('npx', ['gatehoused', ...words, '--data-dir', dataDir], { cwd: empty, env })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  const [code] = await once(child, 'close')
  return { code, stdout, stderr }
}

beforeAll(async () => {
  mkdirSync(empty)
  mkdirSync(join(folder, 'home'))
  execFileSync(process.execPath, ['scripts/pack.mjs', packed], { cwd: root, stdio: 'pipe' })
  const manifest = JSON.parse(readFileSync(join(staged, 'package.json'), 'utf8'))
  const file = join(packed, `gatehoused-${manifest.version}.tgz`)
  registry = await PackageRegistry.open({ file, manifest, others: npmConfig('registry') })
  env = surroundings(registry.url)
  const ports = ['gateway', 'user-api', 'dashboard', 'wake'].flatMap((name) => [
    `--${name}-port`,
    '0',
  ])
  const started = spawn('npx', ['--yes', 'gatehoused', '--data-dir', dataDir, ...ports], {
    cwd: empty,
    env,
  })
  service = started
  for (const stream of [started.stdout, started.stderr])
    stream.on('data', (chunk) => {
      output += chunk
    })
  await until(async () => {
    if (started.exitCode !== null) throw new Error(`npx ended with ${started.exitCode}: ${output}`)
    return existsSync(runFile) && output.includes('In another terminal')
  })
  run = JSON.parse(readFileSync(runFile, 'utf8'))
})

afterAll(async () => {
  if (service && service.exitCode === null) {
    const ended = once(service, 'exit')
    if (existsSync(runFile)) process.kill(run.pid, 'SIGTERM')
    else service.kill()
    await ended
  }
  await registry?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

/** With its own authority, which no machine trusts yet. */
const fetchPage = (path: string): Promise<{ status: number | undefined; text: string }> =>
  new Promise((resolve, reject) => {
    get(new URL(path, run.dashboard_url), { rejectUnauthorized: false }, (response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode, text }))
    }).on('error', reject)
  })

const firstToken = (): string => /^ {2}([0-9a-f]{64})$/m.exec(output)?.[1] ?? ''

test('npx starts the service, and names itself in what it says to type next', async () => {
  expect(output).toContain(
    `In another terminal: npx gatehoused approvals watch --data-dir ${dataDir}`,
  )
  const { code, stdout } = await gatehouse('status')
  expect([code, stdout]).toEqual([0, expect.stringContaining('1 active')])
})

test('the dashboard is served, with the files that it asks for', async () => {
  const page = await fetchPage('/')
  expect(page.status).toBe(200)
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(page.text)?.[1] ?? ''
  expect((await fetchPage(script)).text.length).toBeGreaterThan(10_000)
})

test('calls are governed: one runs, one waits for a person and runs after', async () => {
  const written = await invoke(run, firstToken(), 'filesystem.write', {
    path: 'a.txt',
    content: 'a',
  })
  expect(written.result).toMatchObject({ success: true })
  const held = await invoke(run, firstToken(), 'filesystem.delete', { path: 'a.txt' })
  expect(held.error).toMatchObject({ code: -32002 })
  const id = String(held.error?.data?.['approval_id'])
  const { code, stderr } = await gatehouse('approvals', 'approve', id, '--yes')
  expect([code, stderr]).toEqual([0, expect.any(String)])
  const read = await invoke(run, firstToken(), 'filesystem.read', { path: 'a.txt' })
  expect(read.result?.error?.type).toBe('FileNotFound')
})

test.skipIf(!hasProgram('bwrap'))('a program runs in the sandbox', async () => {
  // The sandbox has a name of its own for the machine.
  const call = { command: 'uname', args: ['-n'] }
  const held = await invoke(run, firstToken(), 'process.run', call)
  const id = String(held.error?.data?.['approval_id'])
  expect((await gatehouse('approvals', 'approve', id, '--yes')).code).toBe(0)
  const { result } = await invoke(run, firstToken(), 'process.run', call)
  expect(result?.data).toMatchObject({ exit_code: 0, stdout: 'gatehouse\n' })
})

test('the selftest of the installed package holds', { timeout: 600_000 }, async () => {
  // Sections that are judged by time are for a machine that does nothing else; selftest.test.ts runs the others with the same program.
  const only = full ? 'kills,attacks,limits' : 'limits'
  const { code, stdout } = await gatehouse('selftest', '--quick', '--json', '--only', only)
  const { sections } = JSON.parse(stdout) as Report
  const failed = sections.flatMap(({ findings }) =>
    findings.filter(({ verdict }) => verdict === 'fails'),
  )
  expect({ failed, code }).toEqual({ failed: [], code: 0 })
  expect(sections.map(({ section }) => section)).toEqual(only.split(','))
})

test.skipIf(!full)('the engine of local models is installed', async () => {
  const { code, stdout, stderr } = await gatehouse('models', 'setup', '--json')
  expect([code, stderr]).toEqual([0, expect.any(String)])
  expect(JSON.parse(stdout)).toMatchObject({ installed: true })
})

test('libraries have the versions and hashes that were tested', () => {
  const [cached] = execFileSync('ls', [join(folder, 'cache/_npx')])
    .toString()
    .split('\n')
  const place = join(folder, 'cache/_npx', cached ?? '', 'node_modules')
  const installed = JSON.parse(readFileSync(join(place, '.package-lock.json'), 'utf8')).packages
  const locked = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  const others = Object.entries<{ integrity: string }>(installed).filter(([where]) =>
    where.startsWith('node_modules/gatehoused/'),
  )
  expect(others.length).toBeGreaterThan(100)
  for (const [where, { integrity }] of others)
    expect([where, integrity]).toEqual([
      where,
      locked[where.replace('node_modules/gatehoused/', '')]?.integrity,
    ])
})

test('the tarball has what runs, its notices and manual pages, and nothing of our own to fetch', () => {
  const list = execFileSync('tar', [
    '-tzf',
    join(packed, `gatehoused-${run.version}.tgz`),
  ]).toString()
  const files = list
    .trim()
    .split('\n')
    .map((file) => file.replace(/^package\//, ''))
  expect(files).toEqual(
    expect.arrayContaining([
      'LICENSE',
      'README.md',
      'THIRD-PARTY-NOTICES.md',
      'npm-shrinkwrap.json',
      'man/gatehouse.1',
      'man/gatehouse-approvals.1',
      'man/gatehouse.yaml.5',
      'packages/cli/completions/gatehouse.bash',
    ]),
  )
  expect(
    files.filter((file) => /\.map$|\.d\.ts$|\.test\.|testkit|\.tsbuildinfo/.test(file)),
  ).toEqual([])
  const manifest = readFileSync(join(staged, 'package.json'), 'utf8')
  expect(manifest).not.toMatch(/"(?:pre|post)?install"|@gatehouse\/|workspace:|\^|~/)
  expect(
    JSON.parse(readFileSync(join(staged, 'npm-shrinkwrap.json'), 'utf8')).packages,
  ).not.toHaveProperty('node_modules/@gatehouse/contract')
})

test.skipIf(!hasProgram('mandoc'))('the manual pages are well formed', () => {
  const pages = readdirSync(join(staged, 'man')).map((name) => join(staged, 'man', name))
  expect(pages.length).toBeGreaterThan(30)
  const { stdout } = spawnSync('mandoc', ['-T', 'lint', '-W', 'warning', ...pages])
  expect(stdout.toString()).toBe('')
})

test('a global installation gives the command, its manual pages and its completion', async () => {
  const prefix = join(folder, 'prefix')
  const options = ['--prefer-offline', '--no-audit', '--no-fund']
  const file = join(packed, `gatehoused-${run.version}.tgz`)
  const install = ['install', '--global', '--prefix', prefix, ...options, file]
  const child = spawn('npm', install, { cwd: empty, env, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (bytes) => {
    said += bytes
  })
  expect(await once(child, 'close'), said).toEqual([0, null])
  expect(existsSync(join(prefix, 'share/man/man1/gatehouse.1'))).toBe(true)
  const path = { ...env, PATH: `${join(prefix, 'bin')}:${env['PATH']}`, SHELL: '/bin/bash' }
  const installed = (words: readonly string[]) =>
    execFileSync(join(prefix, 'bin/gatehouse'), words, {
      ...{ cwd: empty, env: path, stdio: 'pipe' },
    }).toString()
  expect(installed(['status', '--data-dir', dataDir])).toContain('1 active')
  expect(installed(['completion', '--install', '--yes'])).toContain('Undo: gatehouse completion')
  const completed = execFileSync(
    'bash',
    [
      '-c',
      `. "$HOME/.bashrc"; COMP_WORDS=(gatehouse app); COMP_CWORD=1; _gatehouse; echo "\${COMPREPLY[@]}"`,
    ],
    { cwd: empty, env: path },
  )
  expect(completed.toString()).toBe('approvals\n')
})
