import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

export const root = new URL('..', import.meta.url).pathname
export const bin = join(root, 'packages/cli/bin/gatehouse.js')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const run = promisify(execFile)

export const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]

export const machine = () => ({
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memory_gib: Math.round(totalmem() / 2 ** 30),
  node: process.version,
})

/** Those that `gatehouse selftest` has too are compiled with it. */
const programOf = (folder, file) =>
  join(root, file.endsWith('.js') ? 'packages/cli/dist/selftest' : folder, file)

/** A child that prints its port first and ends on SIGTERM. */
export const startYardstick = async (file) => {
  const child = spawn(process.execPath, [programOf('benchmarks/yardsticks', file)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [port] = await once(child.stdout, 'data')
  return { port: Number(String(port).trim()), stop: () => stopChild(child) }
}

export const stopChild = async (child) => {
  if (child.exitCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

/** Options that `npm start` gives Node. */
const asStarted = manifest.scripts.start.match(/--\S+/g) ?? []

/** Starts the server and resolves when it is ready, with how long that took from the spawn. */
export const startServer = async (dataDir, more = []) => {
  const startedAt = performance.now()
  const flags = [
    '--data-dir',
    dataDir,
    '--gateway-port',
    '0',
    '--user-api-port',
    '0',
    '--dashboard-port',
    '0',
    '--wake-port',
    '0',
    '--no-first-agent',
    ...more,
  ]
  const child = spawn(
    process.execPath,
    [...asStarted, bin, 'serve', ...flags, '--log-level', 'error'],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
  const file = join(dataDir, 'run.json')
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`)
    if (existsSync(file)) {
      const info = JSON.parse(readFileSync(file, 'utf8'))
      if (info.pid === child.pid)
        return {
          ...info,
          child,
          readyMs: performance.now() - startedAt,
          stop: () => stopChild(child),
        }
    }
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

export const cli = async (dataDir, ...args) => {
  const { stdout } = await run(process.execPath, [bin, '--data-dir', dataDir, ...args], {
    maxBuffer: 64 * 2 ** 20,
  })
  return stdout
}

export const load = async (file, ...args) => {
  const { stdout } = await run(process.execPath, [
    programOf('benchmarks/load', file),
    ...args.map(String),
  ])
  const result = JSON.parse(stdout)
  if (result.failures > 0)
    throw new Error(`${result.failures} calls failed, the first: ${result.firstFailure}`)
  return result
}

export const temporaryFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
