import { accessSync, constants, lstatSync, rmSync } from 'node:fs'
import { GatehouseError } from '@gatehouse/contract'
import type { AgentGit, GitFactory, GitUse } from '../ports/git.ts'
import type { Outbound } from '../ports/outbound.ts'
import type { Sandbox } from '../ports/sandbox.ts'
import type { Secrets } from '../ports/secrets.ts'
import { assertBranchName, assertRef } from './arguments.ts'
import { authoritiesFile } from './authorities.ts'
import {
  abortMerge,
  createBranch,
  deleteBranch,
  mergeCommit,
  restoreFiles,
  switchBranch,
} from './change.ts'
import { commitChanges, selectChanges } from './commit.ts'
import { configGuard, type Setting } from './config.ts'
import { diffOf, showCommit } from './diff.ts'
import { environmentOf, fixedArguments } from './environment.ts'
import { saidBy } from './failure.ts'
import { branchesOf, logOf, readBlame } from './history.ts'
import { KeyedLock } from './keyed-lock.ts'
import { withRepository } from './open-with.ts'
import { planMerge, planRestore, planSwitch } from './plan-change.ts'
import { planPush } from './push-plan.ts'
import { cloneRepository, pullBranch, pushBranch, type RemoteDeps } from './remote-work.ts'
import { planPull } from './remotes.ts'
import { mountsOf, type Repository } from './repository.ts'
import { runProgram } from './runner.ts'
import { statusOf } from './status.ts'
import { parseRemoteUrl } from './url.ts'

export type GitOptions = {
  readonly sandbox: Pick<Sandbox, 'run'>
  readonly outbound: Pick<Outbound, 'openEgress'>
  readonly secrets: Pick<Secrets, 'use' | 'scrub'>
  /** Of the service's own; emptied at the start, as a killed process may have left something. */
  readonly folder: string
  /** Keys of a repository's configuration that are harmless here besides; `*` stands for a part. */
  readonly configAllowed: readonly string[]
  /** `address:port` of the operator's own servers, which may be reached by http. */
  readonly plainTargets: readonly string[]
  /** PEM of authorities that are trusted beside the usual ones. */
  readonly caFile: string | null
}

const initRepository = async (
  deps: RemoteDeps,
  path: string,
  branch: string,
): ReturnType<AgentGit['init']> => {
  assertBranchName(branch)
  const { files } = deps.use
  await files.makeDirectory(path, { parents: true })
  using folder = files.pin(path, { writable: true })
  if (lstatSync(`/proc/self/fd/${folder.fd}/.git`, { throwIfNoEntry: false })) {
    throw new GatehouseError(
      'AlreadyExists',
      { path: `${folder.path}/.git` },
      {
        recovery: [
          { action: 'git.status', description: 'The folder is a repository already: use it.' },
        ],
      },
    )
  }
  const { code, stderr } = await runProgram(deps, {
    args: [
      ...fixedArguments,
      ...['init', '--quiet', '--template=', `--initial-branch=${branch}`, '--', folder.path],
    ],
    environment: environmentOf(folder.path),
    mounts: mountsOf(folder, true),
    workingDirectory: folder.path,
  })
  if (code !== 0) throw new GatehouseError('GitFailed', { detail: saidBy(stderr) })
  return { path: folder.path, default_branch: branch, head: null }
}

/** A person waits for what a preview shows, and so does the caller. */
const planSeconds = 20

const agentGit = (deps: RemoteDeps): AgentGit => {
  const on = <T>(
    path: string,
    access: 'read' | 'write',
    work: (repository: Repository) => Promise<T>,
  ): Promise<T> => withRepository(deps, path, access, work)
  const briefly = async <T>(
    path: string,
    work: (repository: Repository) => Promise<T>,
  ): Promise<T> => {
    const { capability } = deps
    const late = new GatehouseError('DeadlineExceeded', {
      capability,
      timeout_seconds: planSeconds,
    })
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(late), planSeconds * 1000)
    try {
      const signal = AbortSignal.any([deps.signal, limit.signal])
      return await withRepository({ ...deps, signal }, path, 'read', work)
    } catch (cause) {
      throw limit.signal.aborted ? late : cause
    } finally {
      clearTimeout(timer)
    }
  }
  const { agent } = deps.use
  return {
    status: (path, options) => on(path, 'read', (it) => statusOf(it, options)),
    diff: (path, options) => on(path, 'read', (it) => diffOf(it, options)),
    log: (path, options) => on(path, 'read', (it) => logOf(it, options)),
    show: (path, options) => on(path, 'read', (it) => showCommit(it, options)),
    blame: (path, options) => on(path, 'read', (it) => readBlame(it, options)),
    branches: (path) => on(path, 'read', branchesOf),
    init: (path, branch) => initRepository(deps, path, branch),
    planCommit: (path, files) =>
      on(path, 'read', async (it) => {
        const { status, changes, withheld } = await selectChanges(it, files)
        return { branch: status.branch, head: status.head, changes, withheld }
      }),
    commit: (path, draft) => on(path, 'write', (it) => commitChanges(it, agent, draft)),
    createBranch: (path, name, start) => on(path, 'write', (it) => createBranch(it, name, start)),
    switchBranch: (path, name) => on(path, 'write', (it) => switchBranch(it, name)),
    deleteBranch: (path, name) => on(path, 'write', (it) => deleteBranch(it, name)),
    planSwitch: (path, name) => briefly(path, (it) => planSwitch(it, name)),
    planMerge: (path, ref) => briefly(path, (it) => planMerge(it, deps.folder, ref)),
    planRestore: (path, files, source) => briefly(path, (it) => planRestore(it, files, source)),
    merge: (path, ref, hash) =>
      on(path, 'write', async (it) => {
        const shown = assertRef(ref)
        return mergeCommit(it, agent, { hash: await it.commitOf(hash ?? shown), shown })
      }),
    abortMerge: (path) => on(path, 'write', abortMerge),
    restore: (path, files, source) => on(path, 'write', (it) => restoreFiles(it, files, source)),
    planClone: (url, path) => ({
      url: parseRemoteUrl(url, deps.plainTargets).url,
      path: deps.use.files.resolve(path),
    }),
    clone: (...wanted) => cloneRepository(deps, wanted),
    planPull: (path, remote, branch) =>
      on(path, 'read', (it) => planPull(it, remote, branch, deps.plainTargets)),
    pull: (path, plan, secret) => pullBranch(deps, path, plan, secret),
    planPush: (path, remote, branch) =>
      on(path, 'read', (it) => planPush(it, remote, branch, deps.plainTargets)),
    push: (path, plan, secret) => pushBranch(deps, path, plan, secret),
  }
}

/** The folders in which the sandbox looks for a program by its name. */
const programFolders = ['/usr/local/bin', '/usr/bin', '/bin'] as const

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Real git for agents, in the sandbox. */
export const createGit = (options: GitOptions): GitFactory => {
  const { sandbox, outbound, secrets, folder, configAllowed, plainTargets, caFile } = options
  rmSync(folder, { recursive: true, force: true })
  const shared = {
    sandbox,
    outbound,
    secrets,
    folder,
    isAllowedKey: configGuard(configAllowed),
    listings: new Map<string, readonly Setting[]>(),
    locks: new KeyedLock(),
    plainTargets: new Set(plainTargets),
    authorities: authoritiesFile(folder, caFile),
    scrub: <T>(value: T): T => secrets.scrub(value),
  }
  return {
    installed: () => programFolders.some((folder) => isProgram(`${folder}/git`)),
    open: (use: GitUse) =>
      agentGit({
        ...shared,
        use,
        signal: use.signal,
        noted: use.noted,
        capability: use.capability,
      }),
  }
}
