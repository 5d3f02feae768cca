import { GatehouseError } from '@gatehouse/contract'
import type { AgentGit, PullPlan, PushPlan } from '../ports/git.ts'
import { assertBranchName, assertRef } from './arguments.ts'
import { mergeCommit } from './change.ts'
import { cloneAside, installClone } from './clone.ts'
import { withCredential } from './credential.ts'
import { environmentOf } from './environment.ts'
import { bringIn, fetchBranch } from './fetch.ts'
import { textOf } from './fields.ts'
import { type AgentDeps, withObjects, withRepository } from './open-with.ts'
import { sendBranch } from './push.ts'
import { assertWritable, filesIn } from './reached.ts'
import { Repository } from './repository.ts'
import { runProgram } from './runner.ts'
import { Transfer } from './transfer.ts'
import { type PlainTargets, parseRemoteUrl } from './url.ts'

export type RemoteDeps = AgentDeps & {
  readonly secrets: Parameters<typeof withCredential>[0]
  readonly plainTargets: PlainTargets
}

const loginOf = ({ use }: RemoteDeps, secret: string | undefined) => ({
  agent: use.agent,
  capability: use.capability,
  secret,
})

/** A new folder, or one that is there and holds nothing. */
const assertFree = async ({ use: { files } }: RemoteDeps, path: string): Promise<void> => {
  const there = await files.stat(path)
  if (there === null) return
  if (there.type !== 'directory') throw new GatehouseError('AlreadyExists', { path })
  const { entries, withheld } = await files.list(path)
  if (entries.length + withheld > 0) throw new GatehouseError('DirectoryNotEmpty', { path })
}

export const cloneRepository = async (
  deps: RemoteDeps,
  [url, path, { secret, ...wishes }]: Parameters<AgentGit['clone']>,
): ReturnType<AgentGit['clone']> => {
  const remote = parseRemoteUrl(url, deps.plainTargets)
  if (wishes.branch !== undefined) assertBranchName(wishes.branch)
  await assertFree(deps, path)
  using transfer = new Transfer(deps, remote)
  const cloned = await withCredential(deps.secrets, loginOf(deps, secret), remote, (credential) =>
    cloneAside(transfer, remote.url, wishes, credential),
  )
  await assertFree(deps, path)
  await deps.use.files.makeDirectory(path, { parents: true })
  using folder = deps.use.files.pin(path, { writable: true })
  await installClone(deps, transfer, cloned.gitFolder, folder)
  using repository = await Repository.open(deps, folder, true)
  const head = await repository.head()
  // The configuration is the one that git wrote; a file of the clone names no program.
  if (head !== null) {
    await assertWritable(repository, () => filesIn(repository, head))
    await repository.run({
      args: ['reset', '--hard', '--quiet', '--no-recurse-submodules', head],
    })
  }
  return { path: repository.path, default_branch: cloned.branch, head }
}

const haveMax = 200

/** Newest commits that are here: so that the remote sends the rest only. */
const listHaves = async (repository: Repository): Promise<readonly string[]> => {
  const { stdout } = await repository.run({
    args: [
      'for-each-ref',
      '--sort=-committerdate',
      `--count=${haveMax}`,
      '--format=%(objecttype) %(objectname)',
      'refs/heads',
      'refs/remotes',
    ],
  })
  const ids = textOf(stdout)
    .split('\n')
    .flatMap((line) => /^commit ([0-9a-f]{40})$/.exec(line)?.[1] ?? [])
  return [...new Set(ids)]
}

export const pullBranch = (
  deps: RemoteDeps,
  path: string,
  plan: PullPlan,
  secret: string | undefined,
): ReturnType<AgentGit['pull']> =>
  withRepository(deps, path, 'write', async (repository) => {
    const remote = parseRemoteUrl(plan.url, deps.plainTargets)
    if ((await repository.currentBranch()) !== plan.into) {
      const detail = `${plan.into} is no longer checked out`
      throw new GatehouseError('GitRefused', { detail })
    }
    const hash = await withObjects(repository, async (lender) => {
      using transfer = new Transfer(deps, remote, lender)
      await transfer.begin()
      const have = await listHaves(repository)
      const found = await withCredential(deps.secrets, loginOf(deps, secret), remote, (login) =>
        fetchBranch(transfer, plan, have, login),
      )
      await bringIn(transfer, lender.objects, async ({ program, args, mounts }) => {
        const { code } = await runProgram(deps, {
          program,
          args,
          environment: environmentOf(repository.path),
          mounts: [...repository.mounts, ...mounts],
          workingDirectory: repository.path,
        })
        if (code !== 0) {
          throw new GatehouseError('GitFailed', { detail: 'what was fetched could not be kept' })
        }
      })
      return found
    })
    const arrived = await repository.commitOf(hash)
    if (plan.remote !== null) await noteRemote(repository, plan.remote, plan.branch, arrived)
    const before = await repository.head()
    const range = before === null ? [arrived] : [arrived, `^${before}`]
    const new_commits = Number(await repository.line('rev-list', '--count', ...range, '--'))
    const merged = await mergeCommit(repository, deps.use.agent, {
      hash: arrived,
      shown: `branch '${plan.branch}' of ${plan.url}`,
    })
    return { ...merged, new_commits }
  })

const noteRemote = async (
  repository: Repository,
  remote: string,
  branch: string,
  hash: string,
): Promise<void> => {
  assertRef(remote)
  await repository.run({ args: ['update-ref', `refs/remotes/${remote}/${branch}`, hash] })
}

/** The push has happened whatever comes of this: a folder given read-only remembers nothing. */
const remember = async (deps: RemoteDeps, path: string, plan: PushPlan): Promise<void> => {
  const { remote, branch, head } = plan
  if (remote === null) return
  try {
    await withRepository(deps, path, 'write', (repository) =>
      noteRemote(repository, remote, branch, head),
    )
  } catch (error) {
    if (!(error instanceof GatehouseError)) throw error
    deps.noted({ remote_branch_noted: false })
  }
}

export const pushBranch = async (
  deps: RemoteDeps,
  path: string,
  plan: PushPlan,
  secret: string | undefined,
): ReturnType<AgentGit['push']> => {
  const remote = parseRemoteUrl(plan.url, deps.plainTargets)
  const sent = await withRepository(deps, path, 'read', (repository) =>
    withObjects(repository, async (lender) => {
      using transfer = new Transfer(deps, remote, lender)
      await transfer.begin()
      return await withCredential(deps.secrets, loginOf(deps, secret), remote, (login) =>
        sendBranch(transfer, plan, login),
      )
    }),
  )
  await remember(deps, path, plan)
  return sent === 'up_to_date'
    ? { pushed_refs: [], new_commits: 0 }
    : { pushed_refs: [`refs/heads/${plan.branch}`], new_commits: sent.length }
}
