import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import type { Duplex } from 'node:stream'
import { expect, test } from 'vitest'
import { loadLauncher } from './load-launcher.ts'

const machines = { x64: 'x86_64', arm64: 'aarch64' } as const
const machine = machines[process.arch as keyof typeof machines]
const perl = '/usr/bin/perl'

const runPerl = (args: readonly string[], input: string) =>
  spawnSync(perl, args, { input, encoding: 'utf8', env: {} })

test
  .runIf(existsSync(perl))
  .each(['init', 'init-relay', 'root-launcher', 'landlock', 'probe', 'landlock-probe'] as const)(
  'compiles %s, with every variable declared and every call known',
  (launcher) => {
    for (const kind of Object.values(machines)) {
      const args = ['-c', '-Mstrict', '-Mwarnings', '-']
      expect(runPerl(args, loadLauncher(launcher, kind)).stderr).toBe('- syntax OK\n')
    }
  },
)

test.runIf(process.platform === 'linux' && machine && existsSync(perl))(
  'starts nothing where the kernel lacks a version of Landlock',
  () => {
    const args = ['-', '99', '-', '-', '0', '0', '0', '0']
    const { status, stderr } = runPerl(args, loadLauncher('landlock', machine))
    expect(stderr).toMatch(/^gatehouse: landlock (?:\d+|off|none|refused: .*)\n$/)
    expect(status).toBe(125)
  },
)

test.runIf(process.platform === 'linux' && machine && existsSync(perl))(
  'a root launcher that waits for its order ends when the service does',
  async () => {
    const launcher = spawn(perl, ['-e', loadLauncher('root-launcher', machine)], {
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ignore', 'pipe'],
    })
    const ended = once(launcher, 'exit')
    const channel = launcher.stdio[4] as Duplex
    // Effect of a kill of the service on it, in the middle of an order.
    channel.write(Buffer.alloc(3), () => channel.destroy())
    expect(await ended).toEqual([122, null])
  },
)
