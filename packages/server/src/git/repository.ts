import { createHash } from 'node:crypto'
import { GatehouseError } from '@gatehouse/contract'
import type { PinnedFolder } from '../ports/files.ts'
import type { GitUse } from '../ports/git.ts'
import type { SandboxMount, SandboxResult } from '../ports/sandbox.ts'
import { assertRef } from './arguments.ts'
import { assertHarmless, parseSettings, renderConfig, type Setting } from './config.ts'
import { environmentOf, fixedArguments } from './environment.ts'
import { lockIn, saidBy } from './failure.ts'
import { GitFolder } from './git-folder.ts'
import { PrivateFolder } from './private-folder.ts'
import { type RunnerDeps, runProgram } from './runner.ts'

export type RepositoryDeps = RunnerDeps & {
  readonly use: Pick<GitUse, 'files'>
  /** Where folders for one call are made. */
  readonly folder: string
  readonly isAllowedKey: (key: string) => boolean
  /** Listing of the very same bytes from before. */
  readonly listings: Map<string, readonly Setting[]>
}

const listingsMax = 500

export type GitRun = {
  readonly args: readonly string[]
  readonly stdin?: Uint8Array
  readonly environment?: Readonly<Record<string, string>>
  readonly mounts?: readonly SandboxMount[]
  readonly outputBytesMax?: number
  /** Exit codes that are an answer; others raise. */
  readonly codes?: readonly number[]
}

/** The folders a child is given: the repository, and in it those that keep rules of their own. */
export const mountsOf = (folder: PinnedFolder, writable: boolean): readonly SandboxMount[] => [
  { source: `/proc/self/fd/${folder.fd}`, target: folder.path, writable },
  ...folder.inner.map(({ path, fd, read_only }) => ({
    source: `/proc/self/fd/${fd}`,
    target: path,
    writable: writable && !read_only,
  })),
]

/** Lists a configuration by git itself, which reads the bytes and runs nothing. */
const listSettings = async (
  deps: RepositoryDeps,
  { path }: PrivateFolder,
  bytes: Buffer,
): Promise<readonly Setting[]> => {
  const key = createHash('sha256').update(bytes).digest('hex')
  const known = deps.listings.get(key)
  if (known) return known
  const { code, stdout, stderr } = await runProgram(deps, {
    args: ['config', '--file', '-', '--no-includes', '--list', '-z'],
    environment: environmentOf(path),
    mounts: [{ source: path, target: path, writable: false }],
    workingDirectory: path,
    stdin: bytes,
  })
  if (code !== 0) throw new GatehouseError('GitFailed', { detail: saidBy(stderr) })
  const settings = parseSettings(stdout)
  if (deps.listings.size >= listingsMax) deps.listings.clear()
  deps.listings.set(key, settings)
  return settings
}

/** A repository that was looked through, held open, with the configuration that git is given for it. */
export class Repository implements Disposable {
  readonly path: string
  readonly settings: readonly Setting[]
  readonly git: GitFolder
  readonly #deps: RepositoryDeps
  readonly #common: PrivateFolder
  /** Order for every child on the repository. */
  readonly mounts: readonly SandboxMount[]

  private constructor(
    deps: RepositoryDeps,
    folder: PinnedFolder,
    parts: { git: GitFolder; common: PrivateFolder; settings: readonly Setting[] },
    writable: boolean,
  ) {
    this.#deps = deps
    this.path = folder.path
    this.git = parts.git
    this.settings = parts.settings
    this.#common = parts.common
    this.mounts = [
      ...mountsOf(folder, writable),
      { source: this.#common.path, target: this.#common.path, writable: false },
    ]
  }

  static async open(
    deps: RepositoryDeps,
    folder: PinnedFolder,
    writable: boolean,
  ): Promise<Repository> {
    const git = new GitFolder(folder)
    const common = new PrivateFolder(deps.folder)
    try {
      const settings = await listSettings(deps, common, git.read('config') ?? Buffer.alloc(0))
      assertHarmless(folder.path, settings, deps.isAllowedKey)
      if (writable) git.prepare()
      common.standFor(`${folder.path}/.git`, renderConfig(settings))
      return new Repository(deps, folder, { git, common, settings }, writable)
    } catch (error) {
      git[Symbol.dispose]()
      common[Symbol.dispose]()
      throw error
    }
  }

  /** Whether policy could keep some file of it from the call. */
  get asks(): boolean {
    return this.#deps.use.files.asks
  }

  /** Whether the call may see what stands under a path of the repository, now or in any commit. */
  mayRead(file: string): boolean {
    return this.#deps.use.files.mayRead(`${this.path}/${file}`)
  }

  mayWrite(file: string): boolean {
    return this.#deps.use.files.mayWrite(`${this.path}/${file}`)
  }

  /** Runs git on it. Raises `RepoLocked`, and `GitFailed` for exit codes that are no answer. */
  async run({
    args,
    environment = {},
    mounts = [],
    codes = [0],
    ...rest
  }: GitRun): Promise<SandboxResult> {
    const result = await runProgram(this.#deps, {
      args: [...fixedArguments, `--git-dir=${this.path}/.git`, `--work-tree=${this.path}`, ...args],
      environment: {
        ...environmentOf(this.path),
        // @SECURITY The configuration that was checked, whatever .git/config says by now; git-config.test.ts.
        GIT_COMMON_DIR: this.#common.path,
        ...environment,
      },
      mounts: [...this.mounts, ...mounts],
      workingDirectory: this.path,
      ...rest,
    })
    const lock = lockIn(result.stderr)
    if (lock !== null && result.code !== 0) throw this.#locked(lock)
    if (result.code === null || !codes.includes(result.code)) {
      throw new GatehouseError('GitFailed', { detail: this.said(result) })
    }
    return result
  }

  /** One word or line that git answers with. */
  async line(...args: string[]): Promise<string> {
    const { stdout } = await this.run({ args })
    return Buffer.from(stdout).toString('utf8').trim()
  }

  said({ stderr }: SandboxResult): string {
    return saidBy(stderr, [this.#common.path])
  }

  #locked(lock: string): GatehouseError {
    const age_seconds = this.git.ageSeconds(lock) ?? 0
    return new GatehouseError('RepoLocked', { path: this.path, lock: `.git/${lock}`, age_seconds })
  }

  /**
   * The id of the commit that a name stands for; from here on only the id is used.
   * @SECURITY Nothing that an agent wrote reaches another command of git as a revision; git-attacks.test.ts.
   */
  async commitOf(ref: string): Promise<string> {
    assertRef(ref)
    const { code, stdout } = await this.run({
      args: ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`],
      codes: [0, 1, 128],
    })
    const hash = Buffer.from(stdout).toString('latin1').trim()
    if (code === 0 && /^[0-9a-f]{40}$/.test(hash)) return hash
    throw new GatehouseError('InvalidRef', { ref, detail: 'there is no such commit here' })
  }

  /** Null before the first commit. */
  async head(): Promise<string | null> {
    try {
      return await this.commitOf('HEAD')
    } catch (error) {
      if (error instanceof GatehouseError && error.type === 'InvalidRef') return null
      throw error
    }
  }

  /** Null on a detached head. */
  async currentBranch(): Promise<string | null> {
    const { code, stdout } = await this.run({
      args: ['symbolic-ref', '--quiet', 'HEAD'],
      codes: [0, 1],
    })
    const name = Buffer.from(stdout).toString('utf8').trim()
    return code === 0 && name.startsWith('refs/heads/') ? name.slice('refs/heads/'.length) : null
  }

  [Symbol.dispose](): void {
    this.git[Symbol.dispose]()
    this.#common[Symbol.dispose]()
  }
}
