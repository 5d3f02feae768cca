// P11: what the sandbox adds to starting /usr/bin/true, next to a plain spawn in the same run. The two take
// turns, so that whatever else the machine does falls on both.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createSandbox } from '../packages/server/dist/sandbox/create-sandbox.js'
import { median, temporaryFolder } from './lib.mjs'

const runsEach = 100
const quiet = { debug() {}, info() {}, warn() {}, error() {} }

const plain = async () => {
  const child = spawn('/usr/bin/true', [], { stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdout.resume()
  child.stderr.resume()
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`true ended with ${code}`)
}

export const sandboxedPrograms = async ({ rounds }) => {
  const { folder, remove } = temporaryFolder()
  const workspace = join(folder, 'workspaces', 'bench')
  mkdirSync(workspace, { recursive: true, mode: 0o700 })
  const sandbox = createSandbox({ dataDir: folder, mode: 'auto', user: null, log: quiet })
  /** @type {Parameters<typeof sandbox.run>[0]} */
  const spec = {
    program: '/usr/bin/true',
    args: [],
    environment: {},
    working_directory: workspace,
    mounts: [{ source: workspace, writable: true }],
    network: { kind: 'none' },
    limits: {
      memory_bytes: 512 * 2 ** 20,
      processes: 64,
      cpu_seconds: 10,
      file_bytes: 2 ** 30,
      temporary_bytes: 64 * 2 ** 20,
    },
  }
  const kept = async () => {
    const run = { max_output_bytes: 65_536, timeout_ms: 10_000 }
    const { code, backend } = await sandbox.run(spec, run, new AbortController().signal)
    if (code !== 0 || backend !== 'bubblewrap')
      throw new Error(`ended with ${code} by backend ${backend}`)
  }
  try {
    const state = await sandbox.probe()
    if (state.usable === false) throw new Error(`no sandbox holds here: ${state.reason}`)
    const medians = { plain: [], kept: [] }
    // One round to warm up, which does not count.
    for (let round = 0; round <= rounds; round += 1) {
      const samples = { plain: [], kept: [] }
      for (let i = 0; i < runsEach; i += 1)
        for (const [name, start] of Object.entries({ plain, kept })) {
          const startedAt = performance.now()
          await start()
          samples[name].push(performance.now() - startedAt)
        }
      if (round > 0)
        for (const name of Object.keys(medians)) medians[name].push(median(samples[name]))
    }
    const [value, yardstick] = [median(medians.kept), median(medians.plain)]
    const who = process.getuid?.() === 0 ? 'as root' : 'as an ordinary user'
    return [
      {
        id: 'P11',
        what: `/usr/bin/true in the sandbox over a plain spawn, p50, ${who} (ms)`,
        value: value - yardstick,
        yardstick,
        ratio: value / yardstick,
        bar: '≤ + 8 ms',
      },
    ]
  } finally {
    await sandbox[Symbol.asyncDispose]()
    remove()
  }
}
