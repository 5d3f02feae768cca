import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { GatehouseError } from '@gatehouse/contract'
import { hasProgram } from '@gatehouse/testkit/programs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { spawnInLandlock } from '../../src/sandbox/landlock.ts'
import { judgeLandlock, landlockProbeSpec } from '../../src/sandbox/landlock-probe.ts'
import { prepareTools } from '../../src/sandbox/prepare-tools.ts'
import { runInSandbox } from '../../src/sandbox/run-in-sandbox.ts'
import type { SandboxTools } from '../../src/sandbox/sandbox-tools.ts'
import { tryLandlock } from '../../src/sandbox/try-landlock.ts'
import { hasLandlock, ownUser, SandboxKit } from './sandbox-kit.ts'

/** A folder of programs that holds just these: a script of our own, or a link to the system's. */
const binsOf = (programs: Readonly<Record<string, string | null>>): readonly string[] => {
  // Not /tmp: where the service is root, the launcher has a folder of its own there.
  const folder = realpathSync(mkdtempSync('/var/tmp/gatehouse-bins-'))
  chmodSync(folder, 0o755)
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, script] of Object.entries(programs))
    if (script === null) symlinkSync(`/usr/bin/${name}`, join(folder, name))
    else writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return [folder]
}

/** A shell's words to leave a program behind in a group of its own, with the output open. */
const leaving = (script: string): string =>
  `setsid sh -c 'echo $$ >pid; ${script}' & until [ -s pid ]; do sleep 0.01; done`

/** A kit without a sandbox that ends what was left behind, also after a test that waited for it in vain. */
const openLeaving = (): SandboxKit => {
  const kit = new SandboxKit({ mode: 'unconfined' })
  onTestFinished(async () => {
    try {
      const pid = Number(readFileSync(join(kit.workspace, 'pid'), 'utf8'))
      // A number that is missing would mean the group of the tests themselves.
      if (pid > 1) process.kill(pid, 'SIGKILL')
    } catch {
      // One that writes has ended with its output.
    }
    await kit[Symbol.asyncDispose]()
  })
  return kit
}

describe.runIf(process.platform === 'linux')('where no sandbox holds', () => {
  test.each([
    ['bubblewrap is missing', {}, 'bubblewrap is not installed', /bubblewrap/],
    ['perl is missing', { bwrap: 'exit 0' }, 'perl is not installed', /perl/],
    [
      'the kernel refuses',
      {
        bwrap: 'echo "bwrap: setting up uid map: Permission denied" >&2; exit 1',
        perl: null,
      },
      'setting up uid map: Permission denied',
      /./,
    ],
    [
      'bubblewrap is too old',
      { bwrap: 'echo "bwrap: Unknown option --disable-userns" >&2; exit 1', perl: null },
      'Unknown option',
      /0\.8/,
    ],
    // Says that all is well and keeps nothing: what decides is what a program inside finds.
    ['bubblewrap only pretends', { bwrap: 'exit 0', perl: null }, 'the launcher ended with 0', /./],
  ])('because %s, nothing runs, and what to do is said', async (_, programs, reason, remedy) => {
    await using kit = new SandboxKit({ mode: 'bubblewrap', bins: binsOf(programs) })
    const state = await kit.sandbox.probe()
    expect(state).toMatchObject({ usable: false, reason: expect.stringContaining(reason) })
    expect(state).toMatchObject({ remedy: expect.stringMatching(remedy) })
    const failure: unknown = await kit.shell('touch ran').catch((cause: unknown) => cause)
    if (!(failure instanceof GatehouseError)) throw failure
    expect([failure.type, failure.facts]).toEqual([
      'SandboxUnavailable',
      { reason: expect.stringContaining('an operator finds the cause with gatehouse doctor') },
    ])
    // Messages of the launcher and the probe are for operators alone.
    expect(failure.message).not.toContain(reason)
    await expect(kit.sandbox.spawn(kit.spec('true', []))).rejects.toMatchObject({
      type: 'SandboxUnavailable',
    })
  })

  test.each([
    ['perl is missing', {}],
    ['Landlock only pretends', { perl: 'exit 0' }],
    ['the launcher does not come up', { perl: 'echo "gatehouse: landlock off" >&2; exit 125' }],
  ])('and no weaker one either, because %s, nothing runs', async (_, programs) => {
    await using kit = new SandboxKit({ bins: binsOf(programs) })
    expect(await kit.sandbox.probe()).toMatchObject({
      usable: false,
      reason: expect.stringContaining('bubblewrap is not installed'),
    })
    await expect(kit.shell('touch ran')).rejects.toMatchObject({ type: 'SandboxUnavailable' })
    expect(existsSync(join(kit.workspace, 'ran'))).toBe(false)
  })

  test('an operator who chose it gets programs without one, and every answer says so', async () => {
    await using kit = new SandboxKit({ mode: 'unconfined', bins: binsOf({}) })
    expect(await kit.sandbox.probe()).toMatchObject({ usable: true, backend: 'unconfined' })
    expect(await kit.shell('pwd; cat; exit 3', { stdin: 'fed' })).toMatchObject({
      backend: 'unconfined',
      code: 3,
      stdout: `${kit.workspace}\nfed`,
    })
    await expect(kit.run('no-such-program', [])).rejects.toMatchObject({ type: 'ProgramNotFound' })
    const mounts = [{ source: kit.workspace, target: '/elsewhere', writable: true }]
    await expect(kit.shell('true', { mounts })).rejects.toMatchObject({ type: 'SandboxRefused' })
    // A path that leads there anyway is where it can be seen.
    const link = join(kit.outside, 'link')
    symlinkSync(kit.workspace, link)
    const linked = [{ source: kit.workspace, target: link, writable: true }]
    expect(await kit.shell('true', { mounts: linked })).toMatchObject({ code: 0 })
    const late = await kit.shell('trap "" TERM; sleep 60 & wait; wait', { timeout_ms: 5_000 })
    expect(late).toMatchObject({ timed_out: true, signal: 'SIGKILL' })
  })

  test.each([
    ['says nothing', 'exec sleep 1000'],
    ['writes now and then', 'while echo more; do sleep 0.02; done'],
    ['writes all the time', 'exec yes'],
  ])('without one a program has ended also where what it left behind %s', async (_, left) => {
    const kit = openLeaving()
    const { code, stderr } = await kit.shell(`${leaving(left)}; echo done >&2`)
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'done\n' })
  })

  test('and what it wrote itself is read whole, however late', async () => {
    const kit = openLeaving()
    const script = `${leaving('exec sleep 1000')}; head -c 150000 /dev/zero; echo done >&2`
    const child = await kit.sandbox.spawn(kit.spec('/bin/sh', ['-c', script]))
    await child.exited
    let size = 0
    for await (const chunk of child.stdout) {
      // Longer than from one look at the output to the next.
      if (size === 0) await setTimeout(400)
      size += chunk.length
    }
    let said = ''
    for await (const chunk of child.stderr) said += new TextDecoder().decode(chunk)
    expect([size, said]).toEqual([150_000, 'done\n'])
  })

  test('without a sandbox the way out is the same proxy', async () => {
    await using kit = new SandboxKit({ mode: 'unconfined' })
    const socket = join(kit.dataDir, 'egress')
    const server = createServer({ allowHalfOpen: true }, (near) => near.pipe(near))
    await new Promise<void>((resolve) => server.listen(socket, resolve))
    const { stdout } = await kit.run(
      process.execPath,
      [
        '-e',
        `const { hostname, port } = new URL(process.env.HTTPS_PROXY)
         const socket = require('node:net').connect(Number(port), hostname, () => socket.end('hello'))
         socket.pipe(process.stdout)`,
      ],
      { network: { kind: 'egress', socket } },
    )
    expect(stdout).toBe('hello')
    await new Promise((resolve) => server.close(resolve))
  })
})

describe.skipIf(!hasProgram('bwrap'))('where the sandbox holds', () => {
  test('it is found by trying, by the first call if nobody tried before', async () => {
    await using kit = new SandboxKit()
    expect(kit.sandbox.state()).toMatchObject({ usable: false, reason: 'it was not tried yet' })
    expect(await kit.shell('echo ran')).toMatchObject({ backend: 'bubblewrap', stdout: 'ran\n' })
    expect(kit.sandbox.state()).toMatchObject({ usable: true, backend: 'bubblewrap' })
  })

  test('a folder mounted inside another keeps its own rule, whatever order they are named in', async () => {
    await using kit = new SandboxKit()
    const inner = join(kit.workspace, 'inner')
    mkdirSync(inner)
    writeFileSync(join(inner, 'kept'), 'kept', { mode: 0o644 })
    const mounts = [
      { source: inner, writable: false },
      { source: kit.workspace, writable: true },
    ]
    const script =
      'cat inner/kept; echo x > inner/new || echo refused; echo y > new && echo written'
    for (const order of [mounts, mounts.toReversed()])
      expect((await kit.shell(script, { mounts: order })).stdout).toBe('keptrefused\nwritten\n')
  })

  test('what was deleted before it could be mounted is named', async () => {
    await using kit = new SandboxKit()
    const gone = join(kit.workspace, 'gone')
    const missing = (source: string) =>
      expect(
        kit.shell('true', { mounts: [{ source, target: '/gone', writable: false }] }),
      ).rejects.toMatchObject({ type: 'FileNotFound' })
    await missing(gone)
    mkdirSync(gone)
    const descriptor = openSync(gone, 'r')
    rmSync(gone, { recursive: true })
    await missing(`/proc/self/fd/${descriptor}`)
    closeSync(descriptor)
    // Deleted while the launcher starts: opened and looked at, and gone when it is to be mounted.
    mkdirSync(gone)
    const racing = missing(gone)
    rmSync(gone, { recursive: true })
    await racing
  })

  test('a mount may be handed over open, and stays the one that was opened', async () => {
    await using kit = new SandboxKit()
    writeFileSync(join(kit.workspace, 'mine'), 'mine', { mode: 0o644 })
    const descriptor = openSync(kit.workspace, 'r')
    // Moved and replaced since: what is mounted is what was looked at.
    const moved = join(kit.dataDir, 'workspaces', 'moved')
    renameSync(kit.workspace, moved)
    mkdirSync(kit.workspace)
    const source = `/proc/self/fd/${descriptor}`
    const { stdout } = await kit.shell('cat mine', {
      mounts: [{ source, target: '/work', writable: true }],
      working_directory: '/work',
    })
    closeSync(descriptor)
    expect(stdout).toBe('mine')
  })

  test('a workspace that lies elsewhere belongs to whoever works in it, and nothing else there does', async () => {
    const elsewhere = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-elsewhere-')))
    onTestFinished(() => rmSync(elsewhere, { recursive: true }))
    chmodSync(elsewhere, 0o711)
    const [shared, beside] = [join(elsewhere, 'shared'), join(elsewhere, 'beside')]
    for (const folder of [join(shared, 'mailbot'), beside]) mkdirSync(folder, { recursive: true })
    await using kit = new SandboxKit({ workspaces: shared })
    const workspace = join(shared, 'mailbot')
    const mounts = [workspace, beside].map((source) => ({ source, writable: true }))
    const { stdout } = await kit.shell('echo mine > here; cat here', {
      ...{ mounts, working_directory: workspace },
    })
    expect(stdout).toBe('mine\n')
    expect(statSync(beside).uid).toBe(process.getuid?.())
  })
})

describe.runIf(hasLandlock)('where bubblewrap does not hold, and Landlock does', () => {
  test.each([
    ['is missing', { perl: null }, 'bubblewrap is not installed'],
    ['fails', { perl: null, bwrap: 'echo "bwrap: No permissions" >&2; exit 1' }, 'No permissions'],
  ])(
    'because it %s, programs run by Landlock, and it is said what is lacking',
    async (_, programs, reason) => {
      await using kit = new SandboxKit({ bins: binsOf(programs), user: ownUser() })
      const { stdout, backend } = await kit.shell('echo ran > here; cat here')
      expect({ stdout, backend }).toEqual({ stdout: 'ran\n', backend: 'landlock' })
      expect(kit.sandbox.state()).toMatchObject({
        usable: true,
        backend: 'landlock',
        detail: expect.stringContaining(reason),
        remedy: expect.stringMatching(/./),
      })
    },
  )

  test('an operator who wants bubblewrap or nothing gets nothing', async () => {
    await using kit = new SandboxKit({ mode: 'bubblewrap', bins: binsOf({ perl: null }) })
    await expect(kit.shell('true')).rejects.toMatchObject({ type: 'SandboxUnavailable' })
  })

  test('it is not used where the data lies in a folder that every program reads', async () => {
    await using kit = new SandboxKit({ mode: 'landlock' })
    const whole = prepareTools({ dataDir: kit.dataDir, user: ownUser() })
    if ('usable' in whole) throw new Error('no tools')
    expect(await tryLandlock(whole)).toMatchObject({ usable: true })
    expect(await tryLandlock({ ...whole, hidden: [whole.own] })).toMatchObject({
      usable: false,
      reason: expect.stringContaining('in a folder of the system'),
    })
  })

  test('an operator may ask for it, and one that is too old for us is named', async () => {
    await using kit = new SandboxKit({ mode: 'landlock' })
    expect(await kit.sandbox.probe()).toMatchObject({ usable: true, backend: 'landlock' })
    await using old = new SandboxKit({ mode: 'landlock', landlockAbi: 99 })
    expect(await old.sandbox.probe()).toMatchObject({
      usable: false,
      reason: expect.stringMatching(/^this kernel has version \d+ of Landlock, and /),
    })
    await expect(old.shell('true')).rejects.toMatchObject({ type: 'SandboxUnavailable' })
  })

  test.each(['paths', 'sockets', 'signals'] as const)(
    'without its part "%s" the probe itself says that it does not hold',
    async (part) => {
      await using kit = new SandboxKit({ mode: 'landlock' })
      const whole = prepareTools({ dataDir: kit.dataDir, user: ownUser() })
      if ('usable' in whole) throw new Error('no tools')
      const { perl, machine } = whole
      const judged = async (tools: SandboxTools) =>
        judgeLandlock(
          await runInSandbox(
            () => spawnInLandlock(landlockProbeSpec(perl, machine), tools),
            { max_output_bytes: 4_096, timeout_ms: 60_000 },
            new AbortController().signal,
          ),
        )
      expect(await judged(whole)).toBeNull()
      expect(await judged({ ...whole, without: [part] })).toMatch(/^(files|sockets|processes) /)
    },
  )
})
