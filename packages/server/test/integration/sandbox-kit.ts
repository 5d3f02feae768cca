import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasProgram } from '@gatehouse/testkit/programs'
import type {
  Sandbox,
  SandboxLimits,
  SandboxResult,
  SandboxRun,
  SandboxSpec,
} from '../../src/ports/sandbox.ts'
import { createSandbox, type SandboxOptions } from '../../src/sandbox/create-sandbox.ts'
import { abiNeeded } from '../../src/sandbox/landlock-rules.ts'

const landlockHere = (): boolean => {
  const { status } = spawnSync('/usr/bin/perl', [
    '-e',
    `exit(syscall(444, 0, 0, 1) < ${abiNeeded})`,
  ])
  return status === 0
}

/** The ways to keep programs that this machine has. */
export const backends = [
  ...(hasProgram('bwrap') ? (['bubblewrap'] as const) : []),
  ...(process.platform === 'linux' && landlockHere() ? (['landlock'] as const) : []),
]
export const hasLandlock = backends.includes('landlock')

/** User that runs programs by Landlock where the tests are root: processes are counted by user, so one for each file. */
export const ownUser = () =>
  process.getuid?.() === 0 ? String(61_000 + (process.pid % 4_000)) : null

export const limits: SandboxLimits = {
  memory_bytes: 512 * 1024 * 1024,
  processes: 64,
  cpu_seconds: 30,
  file_bytes: 64 * 1024 * 1024,
  temporary_bytes: 8 * 1024 * 1024,
}

export type Answer = Omit<SandboxResult, 'stdout' | 'stderr'> & {
  readonly stdout: string
  readonly stderr: string
}

type Change = Partial<Omit<SandboxSpec, 'limits'>> &
  Partial<Omit<SandboxRun, 'stdin'>> & {
    readonly limits?: Partial<SandboxLimits>
    readonly stdin?: string
    readonly signal?: AbortSignal
  }

/** A sandbox over a data folder of its own, with the workspace of one agent in it. */
export class SandboxKit implements AsyncDisposable {
  readonly dataDir: string
  readonly workspace: string
  /** A folder beside the data, as of somebody else. */
  readonly outside: string
  readonly sandbox: Sandbox & AsyncDisposable
  readonly #root: string

  constructor(options: Partial<SandboxOptions> = {}) {
    this.#root = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-sandbox-')))
    this.dataDir = join(this.#root, 'data')
    this.workspace = join(this.dataDir, 'workspaces', 'mailbot')
    this.outside = join(this.#root, 'outside')
    for (const folder of [this.workspace, this.outside])
      mkdirSync(folder, { recursive: true, mode: 0o700 })
    // As a folder of the system: nobody lists it, all may go through.
    chmodSync(this.#root, 0o711)
    const log = { debug() {}, info() {}, warn() {}, error() {} }
    this.sandbox = createSandbox({
      dataDir: this.dataDir,
      mode: 'auto',
      user: options.mode === 'landlock' ? ownUser() : null,
      log,
      ...options,
    })
  }

  spec(program: string, args: readonly string[], change: Change = {}): SandboxSpec {
    return {
      program,
      args,
      environment: {},
      working_directory: this.workspace,
      mounts: [{ source: this.workspace, writable: true }],
      network: { kind: 'none' },
      ...change,
      limits: { ...limits, ...change.limits },
    }
  }

  async run(program: string, args: readonly string[], change: Change = {}): Promise<Answer> {
    const { timeout_ms = 20_000, max_output_bytes = 65_536, stdin, signal } = change
    const result = await this.sandbox.run(
      this.spec(program, args, change),
      {
        timeout_ms,
        max_output_bytes,
        ...(stdin === undefined ? {} : { stdin: new TextEncoder().encode(stdin) }),
      },
      signal ?? new AbortController().signal,
    )
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
    return { ...result, stdout: text(result.stdout), stderr: text(result.stderr) }
  }

  shell(script: string, change: Change = {}): Promise<Answer> {
    return this.run('/bin/sh', ['-c', script], change)
  }

  perl(script: string, change: Change = {}): Promise<Answer> {
    return this.run('/usr/bin/perl', ['-e', script], change)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.sandbox[Symbol.asyncDispose]()
    rmSync(this.#root, { recursive: true, force: true })
  }
}
