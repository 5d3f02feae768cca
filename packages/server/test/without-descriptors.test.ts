import { spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { hasProgram } from '@gatehouse/testkit/programs'
import { makeTemporaryFolder } from '@gatehouse/testkit/temporary-folder'
import { withoutDescriptors } from '@gatehouse/testkit/without-descriptors'
import { describe, expect, onTestFinished, test } from 'vitest'
import { GatePool } from '../src/gates/gate-pool.ts'
import { npmInstall } from '../src/inference/engine/npm-install.ts'
import { createWakeCommands } from '../src/platform/wake-commands.ts'
import { ReadyRootLauncher } from '../src/sandbox/ready-root-launcher.ts'
import { spawnUnconfined } from '../src/sandbox/unconfined.ts'

const detail = 'too many files are open (EMFILE)'
const { signal } = new AbortController()
const silent = { debug() {}, info() {}, warn() {}, error() {} }

// An error of a process that nobody hears ends this one, as it would the service.
describe.runIf(hasProgram('prlimit'))('where no descriptor is left, and no process begins,', () => {
  test('a program without a sandbox fails, and says why', async () => {
    const spec = {
      ...{ program: '/bin/true', args: [], environment: {}, working_directory: '/', mounts: [] },
      network: { kind: 'none' as const },
      limits: {
        ...{ memory_bytes: 2 ** 30, processes: 10, cpu_seconds: 10 },
        ...{ file_bytes: 2 ** 20, temporary_bytes: 2 ** 20 },
      },
    }
    await withoutDescriptors(() =>
      expect(spawnUnconfined(spec)).rejects.toMatchObject({
        ...{ type: 'SandboxFailed', facts: { detail } },
      }),
    )
    expect(await (await spawnUnconfined(spec)).exited).toMatchObject({ code: 0 })
  })

  test('a launcher that is to wait for a program is none', async () => {
    let begun = 0
    using ready = new ReadyRootLauncher(() => {
      begun += 1
      return spawn('cat', [], { stdio: 'pipe' })
    })
    await withoutDescriptors(async () => {
      ready.prepare()
      await expect.poll(() => begun).toBe(1)
      expect(ready.take()).toBeNull()
    })
    ready.prepare()
    await expect.poll(() => begun).toBe(2)
    const launcher = ready.take()
    expect(launcher?.pid).toBeGreaterThan(0)
    launcher?.kill('SIGKILL')
  })

  test('the engine is not installed, and the reason is told', async () => {
    const report = () => undefined
    await withoutDescriptors(() =>
      expect(npmInstall(['npm'], makeTemporaryFolder(), {}, report, signal)).rejects.toMatchObject({
        ...{ type: 'EngineSetupFailed', facts: { detail } },
      }),
    )
  })

  test('a command of a wake is not taken for one that runs', async () => {
    const ended = join(makeTemporaryFolder(), 'ended')
    await using commands = createWakeCommands({
      ...{
        commands: { ada: ['touch', ended] },
        environment: { PATH: process.env['PATH'] ?? '' },
        log: silent,
      },
      folder: makeTemporaryFolder(),
    })
    const wanted = async () => true
    await withoutDescriptors(async () => {
      commands.start('ada', 'wake-1', wanted)
    })
    await expect.poll(() => commands.start('ada', 'wake-2', wanted)).toBe('started')
    await expect.poll(() => existsSync(ended)).toBe(true)
  })

  test('a gate process does not start, and is tried again', async () => {
    const program = join(makeTemporaryFolder(), 'gate.mjs')
    writeFileSync(
      program,
      "process.on('message', ({ kind }) => kind === 'stop' ? process.exit() : process.send({ kind: 'ready' }))",
    )
    const pool = new GatePool({ count: 2, program: pathToFileURL(program), log: silent })
    onTestFinished(() => pool[Symbol.asyncDispose]())
    const shared = { flags: {}, page: '', address: '', ports: [], nodeIdentity: null }
    const serving = new Promise<void>((resolve) => {
      pool.link.onServing((_index, serves) => serves && resolve())
    })
    await withoutDescriptors(() =>
      expect(pool.start(shared)).rejects.toThrow(`gate process 2 cannot be started: ${detail}`),
    )
    await serving
  })
})
