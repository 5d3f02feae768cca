import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { GatehouseError } from '@gatehouse/contract'
import type { Kit } from '@gatehouse/testkit'
import { hasProgram } from '@gatehouse/testkit/programs'
import { expect, test } from 'vitest'
import { asking, openProcessKit } from './process-kit.ts'

const times = process.env['GATEHOUSE_FULL'] ? 10_000 : 60

/** xorshift32: a failure prints its seed, and the same seed does the same. */
const randomOf = (seed: number) => {
  let state = seed | 1
  return (below: number): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}

const withHosts = (host: string) =>
  `version: 1\nrules:\n  - { match: process.run, tier: approval_required, network: ["${host}"] }\nlimits:\n  - { match: "process.*", limit: 100000, window: 1m }\n`

/** Puts one thing in the place of another and back, as fast as it can, until it is killed. */
const swapper = (script: string, ...args: string[]): ChildProcess =>
  spawn(
    '/usr/bin/perl',
    ['-e', `${script} while (1) { one(); select(undef, undef, undef, 0.0001); two(); }`, ...args],
    {
      stdio: 'ignore',
    },
  )
const swapFile =
  'sub put { link($_[0], "$ARGV[0].n"); rename("$ARGV[0].n", $ARGV[0]) } sub one { put($ARGV[2]) } sub two { put($ARGV[1]) }'
const swapFolder =
  'my ($at, $a, $b) = @ARGV; sub one { rename($at, $a); symlink($b, $at) } sub two { unlink($at); rename($a, $at) }'

const stop = async (child: ChildProcess) => {
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

test.skipIf(!hasProgram('bwrap'))(
  `of ${times} requests that are tampered with after they were made, none runs as anything but what was approved`,
  { timeout: 240_000 + times * 2_000 },
  async () => {
    await using kit: Kit = await openProcessKit(asking)
    const at = (...names: string[]) => join(kit.workspace('alpha'), ...names)
    const seed = Math.floor(Math.random() * 2 ** 31)
    const random = randomOf(seed)
    const evil = `#!/bin/sh\necho evil\ntouch ${at('EVIL')}\n`
    const restore = () => {
      for (const name of ['job', 'aside', 'other'])
        rmSync(at(name), { recursive: true, force: true })
      for (const [folder, word] of [
        ['job', 'good'],
        ['other', 'evil'],
      ] as const) {
        mkdirSync(at(folder, 'in'), { recursive: true })
        writeFileSync(at(folder, 'in', 'who'), `${word}\n`)
        writeFileSync(
          at(folder, 'in', 'tool.sh'),
          word === 'good' ? '#!/bin/sh\necho good\n' : evil,
        )
        chmodSync(at(folder, 'in', 'tool.sh'), 0o755)
      }
    }
    const tool = () => at('job', 'in', 'tool.sh')
    const commands = {
      program: { command: './job/in/tool.sh' },
      script: { command: 'sh', args: ['job/in/tool.sh'] },
      folder: { command: 'cat', args: ['who'], working_directory: 'job/in' },
    }
    type What = keyof typeof commands
    const overwrite = () => writeFileSync(tool(), evil)
    const replace = () => renameSync(at('other', 'in', 'tool.sh'), tool())
    const swap = () => {
      renameSync(at('job'), at('aside'))
      symlinkSync('other', at('job'))
    }
    const rebuild = () => {
      rmSync(at('job', 'in'), { recursive: true })
      renameSync(at('other', 'in'), at('job', 'in'))
    }
    const changes: Readonly<Record<What, readonly (() => unknown)[]>> = {
      program: [overwrite, replace, swap, rebuild],
      script: [overwrite, replace, swap, rebuild],
      folder: [swap, rebuild],
    }
    const race = (what: What) =>
      what === 'folder' || random(2) === 0
        ? swapper(swapFolder, at('job'), at('aside'), at('other'))
        : swapper(swapFile, tool(), at('good.sh'), at('evil.sh'))
    for (const [name, text] of [
      ['good.sh', '#!/bin/sh\necho good\n'],
      ['evil.sh', evil],
    ] as const) {
      writeFileSync(at(name), text)
      chmodSync(at(name), 0o755)
    }

    const seen = { ran: 0, stale: 0 }
    for (let i = 0; i < times; i += 1) {
      restore()
      await kit.app.savePolicy(kit.operator(), { text: asking })
      const what = (['program', 'script', 'folder'] as const)[random(3)] as What
      const request = { ...commands[what], environment: { RUN: String(i) } }
      const id = await kit.pending('alpha', 'process.run', request)
      const mutate = changes[what][random(changes[what].length)] as () => unknown
      let racing: ChildProcess | null = null
      const how = random(5)
      if (how === 0) mutate()
      if (how === 1)
        await kit.app.savePolicy(kit.operator(), { text: withHosts(`h${i}.example:443`) })
      if (how === 2) racing = race(what)
      const other = how === 4 ? { ...request, args: ['/etc/passwd'] } : null
      // Another request must not become the one that was decided on.
      const another = other ? await kit.pending('alpha', 'process.run', other) : null
      if (racing) await new Promise((resolve) => setTimeout(resolve, random(20)))
      const refusal = await kit.decide(id, 'approve').then(
        () => null,
        (error: GatehouseError) => error.type,
      )
      if (refusal !== null) await kit.decide(id, 'reject')
      if (how === 3) {
        await new Promise((resolve) => setTimeout(resolve, random(40)))
        mutate()
      }
      const { result } = await kit.resolved('alpha', id)
      if (racing) await stop(racing)
      if (another) await kit.decide(another, 'reject')
      const told = `seed ${seed}, turn ${i}: ${what} ${how} ${JSON.stringify(result)}`
      if (result?.success) {
        seen.ran += 1
        // A folder that was emptied while the program ran in it is still the one that was approved.
        const emptied = how === 3 && what === 'folder' && mutate === rebuild
        expect(emptied ? ['good\n', ''] : ['good\n'], told).toContain(result.data['stdout'])
      } else {
        seen.stale += 1
        // A file that vanished between two looks is reported as such; nothing of it ran either.
        expect(refusal ?? result?.error.type, told).toMatch(
          /^(?:ApprovalStale|FileNotFound|NotADirectory|ProgramNotFound)$/,
        )
      }
      expect(existsSync(at('EVIL')), told).toBe(false)
      if (how === 0 || how === 1) expect(result?.success, told).toBe(false)
      if (how === 4) expect(result?.success, told).toBe(true)
    }
    expect(seen.ran).toBeGreaterThan(times / 10)
    expect(seen.stale).toBeGreaterThan(times / 10)
  },
)
