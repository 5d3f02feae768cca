import {
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
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { GatehouseError } from '@gatehouse/contract'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type EngineInstallerOptions, NpmEngineInstaller } from './npm-engine-installer.ts'

const lockFile = fileURLToPath(new URL('../../../engine/engine-lock.json', import.meta.url))
const version = '3.22.1'
const never = new AbortController().signal

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gatehouse-engine-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

/** An npm that writes down what it was called with, and then does this. */
const npmThat = (does: string) => {
  const file = join(root, 'npm.mjs')
  const begins = `import fs from 'node:fs'
fs.writeFileSync(${JSON.stringify(join(root, 'called.json'))}, JSON.stringify({
  args: process.argv.slice(2), cwd: process.cwd(), environment: process.env,
  manifest: JSON.parse(fs.readFileSync('package.json', 'utf8')),
  lock: JSON.parse(fs.readFileSync('package-lock.json', 'utf8')),
}))
const put = (name, version) => {
  fs.mkdirSync('node_modules/' + name, { recursive: true })
  fs.writeFileSync('node_modules/' + name + '/package.json', JSON.stringify({ version }), { mode: 0o600 })
}
`
  writeFileSync(file, begins + does)
  return [process.execPath, file] as const
}
const works = `console.error('npm http fetch GET 200 https://r.example/a/-/a-1.0.0.tgz 12ms')
put('node-llama-cpp', '${version}')
put('@node-llama-cpp/linux-x64', '${version}')
`
const called = () => JSON.parse(readFileSync(join(root, 'called.json'), 'utf8'))

const installerWith = (change: Partial<EngineInstallerOptions> = {}) =>
  new NpmEngineInstaller({
    folder: join(root, 'engine'),
    lockFile,
    environment: { PATH: '/bin' },
    npm: change.npm === undefined ? npmThat(works) : change.npm,
    platform: 'linux-x64',
    glibc: '2.36',
    ...change,
  })

const failureOf = async (installer: NpmEngineInstaller, signal = never) => {
  const thrown: unknown = await installer.install(() => {}, signal).catch((cause: unknown) => cause)
  if (!(thrown instanceof GatehouseError)) throw new Error(`no failure but ${String(thrown)}`)
  return { type: thrown.type, message: thrown.message, recovery: thrown.recovery }
}

const left = () => (existsSync(join(root, 'engine')) ? readdirSync(join(root, 'engine')) : [])

test('installs what is pinned, with the hash of each package and without their scripts', async () => {
  const installer = installerWith()
  expect(await installer.state()).toMatchObject({
    installed: false,
    remedy: 'gatehouse models setup',
  })
  const told: (readonly number[])[] = []
  await installer.install((...progress) => told.push(progress), never)
  expect(await installer.state()).toEqual({ installed: true, version, problem: null, remedy: null })
  expect(left()).toEqual([version])
  const { args, environment, manifest, lock } = called()
  expect(args).toEqual(expect.arrayContaining(['ci', '--ignore-scripts', '--omit=optional']))
  expect(environment).toMatchObject({ PATH: '/bin' })
  expect(environment).not.toHaveProperty('HOME')
  expect(manifest.dependencies).toEqual({
    'node-llama-cpp': version,
    '@node-llama-cpp/linux-x64': version,
  })
  const packages = Object.entries(lock.packages as Record<string, { integrity?: string }>)
  expect(packages.length).toBeGreaterThan(100)
  for (const [name, { integrity }] of packages)
    if (name !== '') expect(integrity).toMatch(/^sha512-[\w+/]{86}==$/)
  const total = packages.length - 1
  expect(told[0]).toEqual([0, total])
  expect(told).toContainEqual([1, total])
  expect(told.at(-1)).toEqual([total, total])
})

test('lets whoever runs the engine read it, whatever the umask of the service is', async () => {
  await installerWith().install(() => {}, never)
  const place = join(root, 'engine', version, 'node_modules/node-llama-cpp')
  expect(statSync(place).mode & 0o755).toBe(0o755)
  expect(statSync(join(place, 'package.json')).mode & 0o444).toBe(0o444)
})

test.each([
  ['EINTEGRITY sha512-x', 'is not the one that was reviewed'],
  ['EAI_AGAIN registry.example', 'cannot be reached'],
  ['ENOSPC: no space left', 'the disk is full'],
  ['code E404', 'does not have it'],
  ['something else', 'npm ended with 1'],
])('leaves nothing behind where npm says %s, and says what to do', async (said, message) => {
  const npm = npmThat(`${works}; console.error('npm error ${said}'); process.exit(1)`)
  const installer = installerWith({ npm })
  const failure = await failureOf(installer)
  expect(failure).toMatchObject({ type: 'EngineSetupFailed' })
  expect(failure.message).toContain(message)
  expect(failure.recovery.length).toBeGreaterThan(0)
  expect(left()).toEqual([])
  expect((await installer.state()).installed).toBe(false)
})

test('takes nothing that is not whole, though npm says it went well', async () => {
  const other = `put('node-llama-cpp', '9.9.9'); put('@node-llama-cpp/linux-x64', '${version}')`
  expect((await failureOf(installerWith({ npm: npmThat(other) }))).message).toContain('9.9.9')
  const half = `put('node-llama-cpp', '${version}')`
  expect((await failureOf(installerWith({ npm: npmThat(half) }))).message).toContain('not at all')
  expect(left()).toEqual([])
})

test('sweeps what a killed installation and earlier versions left, and never shows it', async () => {
  const broken = join(root, 'engine', '.setup-old')
  mkdirSync(broken, { recursive: true })
  mkdirSync(join(root, 'engine', version))
  mkdirSync(join(root, 'engine', '3.0.0'))
  const installer = installerWith()
  expect((await installer.state()).installed).toBe(false)
  await installer.install(() => {}, never)
  expect(left()).toEqual([version])
})

test('ends npm when it is told to', async () => {
  const stopping = new AbortController()
  const npm = npmThat('setTimeout(() => {}, 60_000)')
  const running = installerWith({ npm }).install(() => {}, stopping.signal)
  await expect.poll(() => existsSync(join(root, 'called.json'))).toBe(true)
  stopping.abort(new Error('the service stops'))
  await expect(running).rejects.toThrow('the service stops')
  expect(left()).toEqual([])
})

test('says what the machine lacks', async () => {
  const lacking = async (change: Partial<EngineInstallerOptions>) => {
    const installer = installerWith(change)
    return { state: await installer.state(), failure: await failureOf(installer) }
  }
  const musl = await lacking({ glibc: null })
  expect(musl.state).toMatchObject({ installed: false, problem: expect.stringContaining('glibc') })
  expect(musl.failure.recovery[0]?.description).toContain('Debian')
  const mac = await lacking({ platform: 'darwin-arm64' })
  expect(mac.state.problem).toBe('there is no engine for darwin-arm64')
  const { failure } = await lacking({ npm: null })
  expect(failure.message).toContain('npm is not found')
  expect(failure.recovery[0]?.description).toContain('install npm')
})
