import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  accessSync,
  chownSync,
  constants,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hasProgram } from '@gatehouse/testkit/programs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { bubblewrapArguments } from '../../src/sandbox/arguments.ts'
import { LaunchedChild } from '../../src/sandbox/launched-child.ts'
import { RuntimeFolder } from '../../src/sandbox/runtime-folder.ts'
import { loadSystemView } from '../../src/sandbox/system-view.ts'
import { backends } from './sandbox-kit.ts'

const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64'

/** Not below /tmp, which is an empty folder inside. */
const temporary = (): string => {
  const folder = mkdtempSync('/var/tmp/gatehouse-launch-')
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The launcher inside, started with this mount whatever it is told to expect. */
const start = (folder: string, hidden: readonly string[], folders: readonly string[]) => {
  const system = loadSystemView()
  const runtimeFolder = new RuntimeFolder(join(folder, 'sandbox'), machine, system)
  const args = bubblewrapArguments({
    system: { ...system, folders: [...system.folders, ...folders], shown: [] },
    mounts: [{ source: join(folder, 'mounted'), target: '/mounted', writable: false }],
    hidden,
    temporaryBytes: 1_000_000,
    filter: 3,
    command: ['/usr/bin/perl', '/proc/self/fd/5'],
  })
  return spawn('/usr/bin/bwrap', args, {
    cwd: '/',
    env: {},
    detached: true,
    stdio: [
      ...(['pipe', 'pipe', 'pipe'] as const),
      runtimeFolder.openFilter({ machine, sockets: 'local' }),
      'pipe',
      runtimeFolder.openLauncher('init'),
    ],
  })
}

const orderFor = (path: string, args: readonly string[]) => {
  const { dev, ino } = lstatSync(path, { bigint: true })
  return {
    folder: '/tmp',
    limits: {},
    searched: [],
    relay: null,
    mounts: [{ target: '/mounted', device: String(dev), inode: String(ino) }],
    environment: {},
    program: '/bin/sh',
    args,
  }
}

const outputOf = async (process: ChildProcess, child: LaunchedChild): Promise<string> => {
  let text = ''
  for await (const chunk of child.stdout) text += String(chunk)
  if (process.exitCode === null) await once(process, 'exit')
  return text
}

describe.skipIf(!hasProgram('bwrap'))('the launchers', () => {
  test('start nothing where another folder was mounted than the one that was looked at', async () => {
    const folder = temporary()
    for (const name of ['mounted', 'meant']) mkdirSync(join(folder, name))
    const swapped = start(folder, [], [])
    const child = new LaunchedChild(swapped, orderFor(join(folder, 'meant'), ['-c', 'echo ran']))
    expect(await child.started).toEqual({ kind: 'failed', what: 'mount', errno: 116 })
    expect(await outputOf(swapped, child)).toBe('')
    const honest = start(folder, [], [])
    const twin = new LaunchedChild(honest, orderFor(join(folder, 'mounted'), ['-c', 'echo ran']))
    expect(await outputOf(honest, twin)).toBe('ran\n')
  })

  test('cover the data where it lies in a folder of the system', async () => {
    const folder = temporary()
    for (const name of ['mounted', 'data', 'data/vault']) mkdirSync(join(folder, name))
    const order = orderFor(join(folder, 'mounted'), [
      '-c',
      `ls ${folder}/data; touch ${folder}/data/x && echo written; exit 0`,
    ])
    const open = start(folder, [], [folder])
    expect(await outputOf(open, new LaunchedChild(open, order))).toBe('vault\n')
    const covered = start(folder, [join(folder, 'data')], [folder])
    expect(await outputOf(covered, new LaunchedChild(covered, order))).toBe('')
  })
})

const compiled = new URL('../../dist/sandbox/create-sandbox.js', import.meta.url)
const somebody = 60_778

const canRead = (): boolean => {
  try {
    for (let at = dirname(fileURLToPath(compiled)); at !== dirname(at); at = dirname(at)) {
      accessSync(at, constants.X_OK)
      if ((lstatSync(at).mode & 0o5) !== 0o5) return false
    }
    return true
  } catch {
    return false
  }
}

/** Runs one program as an ordinary user would. */
const service = `
import { createSandbox } from '${compiled.href}'
const [dataDir, workspace, mode] = process.argv.slice(1)
const log = { debug() {}, info() {}, warn: console.error, error: console.error }
const sandbox = createSandbox({ dataDir, mode, user: null, log })
const { stdout, backend } = await sandbox.run({
  program: 'sh', args: ['-c', 'id -u; echo made > made; ls ..'],
  environment: {}, working_directory: workspace, mounts: [{ source: workspace, writable: true }],
  network: { kind: 'none' },
  limits: { memory_bytes: 1e9, processes: 32, cpu_seconds: 60, file_bytes: 1e6, temporary_bytes: 1e6 },
}, { max_output_bytes: 1000, timeout_ms: 60000 }, new AbortController().signal)
console.log(JSON.stringify([backend, String(Buffer.from(stdout))]))
process.exit()
`

// The other way round, an ordinary user runs all the suites of the sandbox, and this one is left out.
describe.runIf(process.getuid?.() === 0 && canRead()).each(backends)(
  'a service of an ordinary user, with %s,',
  (mode) => {
    test('keeps its programs in the same sandbox', async () => {
      const folder = temporary()
      const workspace = join(folder, 'workspaces', 'mailbot')
      mkdirSync(workspace, { recursive: true, mode: 0o700 })
      for (const path of [folder, dirname(workspace), workspace])
        chownSync(path, somebody, somebody)
      const child = spawn(
        process.execPath,
        ['--input-type=module', '-e', service, folder, workspace, mode],
        { uid: somebody, gid: somebody, stdio: ['ignore', 'pipe', 'inherit'] },
      )
      let text = ''
      for await (const chunk of child.stdout) text += String(chunk)
      expect(JSON.parse(text)).toEqual(
        mode === 'bubblewrap' ? [mode, '65534\nmailbot\n'] : [mode, `${somebody}\n`],
      )
      expect(lstatSync(join(workspace, 'made')).uid).toBe(somebody)
    })
  },
)
