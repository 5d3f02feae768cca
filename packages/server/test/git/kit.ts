import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import { createFilesFactory } from '../../src/files/create-files-factory.ts'
import { createGit, type GitOptions } from '../../src/git/create-git.ts'
import { createIds } from '../../src/platform/ids.ts'
import type { Files } from '../../src/ports/files.ts'
import type { AgentGit } from '../../src/ports/git.ts'
import type { SandboxSpec } from '../../src/ports/sandbox.ts'
import { createSandbox } from '../../src/sandbox/create-sandbox.ts'

export const patch = { paths: [], patchBytesMax: 100_000, filesMax: 1000 } as const
export const whole = { staged: false, ...patch } as const
export const newest = { limit: 100, offset: 0, ref: 'HEAD' } as const

const plainEnvironment = {
  PATH: process.env['PATH'],
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ana',
  GIT_AUTHOR_EMAIL: 'ana@example.org',
  GIT_COMMITTER_NAME: 'Ana',
  GIT_COMMITTER_EMAIL: 'ana@example.org',
}

/**
 * Ownership: what a test of root makes in a folder that the service gave to the user of its programs is that user's
 * too. Else those programs could not write beside it, and git picks the folder of an object by its hash.
 */
export const giveBack = (place: string): void => {
  if (process.getuid?.() !== 0) return
  const owner = [place, dirname(place)].map((at) => lstatSync(at)).find(({ uid }) => uid !== 0)
  if (!owner) return
  const below = lstatSync(place).isDirectory()
    ? readdirSync(place, { recursive: true, encoding: 'utf8' })
    : []
  for (const name of ['', ...below]) {
    const path = join(place, name)
    // What the service works on meanwhile may be gone again.
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found && found.uid !== owner.uid) lchownSync(path, owner.uid, owner.gid)
  }
}

/** Git as a person has it, beside the service: to make repositories and to look at them. */
export const plainGit = (folder: string, ...args: string[]): string => {
  const said = execFileSync(
    'git',
    ['-c', 'safe.directory=*', '-c', 'protocol.file.allow=always', ...args],
    {
      cwd: folder,
      env: plainEnvironment,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  ).trim()
  giveBack(folder)
  return said
}

/** The git of one agent, in the real sandbox, over folders of its own; and a canary outside of them. */
export class GitKit implements AsyncDisposable {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-git-')))
  readonly dataDir = join(this.root, 'data')
  readonly workspace = join(this.dataDir, 'workspaces', 'coder')
  /** Folder that nothing an agent does may read or change. */
  readonly outside = join(this.root, 'outside')
  /** File that nobody may create. */
  readonly mark = join(this.root, 'outside', 'MARK')
  readonly canary = `CANARY-${Math.random().toString(36).slice(2)}`
  readonly files: Files
  readonly notes: Record<string, unknown>[] = []
  /** Called before each program is run: what somebody else may do just then. */
  beforeRun: (spec: SandboxSpec) => void = () => {}
  readonly #sandbox
  readonly #factory
  readonly #options

  constructor(
    options: Partial<GitOptions> & {
      readonly mounts?: readonly { path: string; read_only: boolean }[]
      readonly mode?: 'auto' | 'landlock' | 'unconfined'
    } = {},
  ) {
    mkdirSync(this.workspace, { recursive: true, mode: 0o700 })
    mkdirSync(this.outside)
    chmodSync(this.root, 0o755)
    chmodSync(this.outside, 0o777)
    writeFileSync(join(this.outside, 'secret.txt'), this.canary)
    const log = { debug() {}, info() {}, warn() {}, error() {} }
    this.#sandbox = createSandbox({
      dataDir: this.dataDir,
      mode: options.mode ?? 'auto',
      user: null,
      log,
    })
    this.#factory = createFilesFactory({
      ids: createIds(),
      clock: { wall: () => Date.now(), now: () => Date.now() },
    })
    this.files = this.#factory.open({
      name: 'coder',
      workspace: this.workspace,
      mounts: options.mounts ?? [],
    })
    const none = () => Promise.reject(new GatehouseError('HostUnreachable', { host: 'none' }))
    this.#options = createGit({
      sandbox: {
        run: (spec, ...rest) => {
          this.beforeRun(spec)
          return this.#sandbox.run(spec, ...rest)
        },
      },
      outbound: { openEgress: none },
      secrets: { use: none, scrub: (value) => value },
      folder: join(this.dataDir, 'git'),
      configAllowed: [],
      plainTargets: [],
      caFile: null,
      ...options,
    })
  }

  as(capability: string, signal = new AbortController().signal): AgentGit {
    return this.#options.open({
      agent: 'coder',
      capability,
      files: this.files,
      signal,
      noted: (facts) => this.notes.push({ ...facts }),
    })
  }

  get git(): AgentGit {
    return this.as('git.test')
  }

  at(...names: string[]): string {
    return join(this.workspace, ...names)
  }

  put(name: string, content: string | Buffer): void {
    mkdirSync(dirname(this.at(name)), { recursive: true })
    writeFileSync(this.at(name), content)
    giveBack(this.at(...name.split('/').slice(0, 1)))
  }

  /** Git as somebody beside the service uses it, in a folder of the workspace. */
  plain(name: string, ...args: string[]): string {
    return plainGit(this.at(name), ...args)
  }

  get(name: string): string {
    return readFileSync(this.at(name), 'utf8')
  }

  /** A repository with one commit of `a.txt`. */
  async repository(name = 'project'): Promise<string> {
    await this.git.init(name, 'main')
    this.put(`${name}/a.txt`, 'one\n')
    const { commit_hash } = await this.git.commit(name, { message: 'First' })
    return commit_hash
  }

  isUnharmed(): boolean {
    return (
      !existsSync(this.mark) &&
      readFileSync(join(this.outside, 'secret.txt'), 'utf8') === this.canary
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sandbox[Symbol.asyncDispose]()
    this.#factory[Symbol.dispose]()
    rmSync(this.root, { recursive: true, force: true })
  }
}

/** The error that work ends with; it must. */
export const refusal = async (
  work: Promise<unknown> | (() => Promise<unknown>),
): Promise<GatehouseError> => {
  try {
    await (typeof work === 'function' ? work() : work)
  } catch (error) {
    if (error instanceof GatehouseError) return error
    throw error
  }
  throw new Error('expected a refusal')
}
