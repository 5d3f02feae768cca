import { GatehouseError } from '@gatehouse/contract'
import type { PullPlan } from '../ports/git.ts'
import { assertBranchName, assertRemoteName } from './arguments.ts'
import { lastValue, type Setting } from './config.ts'
import type { Repository } from './repository.ts'
import { type PlainTargets, parseRemoteUrl, type RemoteUrl } from './url.ts'

/** Remote as the agent named it: of the configuration, or an address. */
export type Remote = RemoteUrl & {
  /** Null for an address: nothing of it is remembered in the repository. */
  readonly name: string | null
}

const firstValue = (settings: readonly Setting[], key: string): string | null => {
  const found = settings.find((setting) => setting.key === key)
  return found ? lastValue([found], key) : null
}

export const remoteOf = (
  repository: Repository,
  given: string,
  plainTargets: PlainTargets,
): Remote => {
  if (given.includes(':')) return { ...parseRemoteUrl(given, plainTargets), name: null }
  const name = assertRemoteName(given)
  const url = firstValue(repository.settings, `remote.${name}.url`)
  if (url === null) {
    const detail = `there is no remote ${name}; give the https address in its place`
    throw new GatehouseError('GitRefused', { detail })
  }
  return { ...parseRemoteUrl(url, plainTargets), name }
}

/** The branch that is checked out, which something is to be brought to or from. */
export const checkedOut = async (repository: Repository): Promise<string> => {
  const branch = await repository.currentBranch()
  if (branch !== null) return branch
  const detail = 'no branch is checked out; switch to one with git.branch, or name one'
  throw new GatehouseError('GitRefused', { detail })
}

/** Branch of the remote that belongs to a branch here. */
const followedBy = (repository: Repository, { name }: Remote, branch: string): string => {
  const { settings } = repository
  const isIts = name !== null && lastValue(settings, `branch.${branch}.remote`) === name
  const merge = isIts ? lastValue(settings, `branch.${branch}.merge`) : null
  return merge?.startsWith('refs/heads/') ? merge.slice('refs/heads/'.length) : branch
}

export const planPull = async (
  repository: Repository,
  given: string,
  branch: string | undefined,
  plainTargets: PlainTargets,
): Promise<PullPlan> => {
  const remote = remoteOf(repository, given, plainTargets)
  const into = await checkedOut(repository)
  return {
    url: remote.url,
    remote: remote.name,
    branch: assertBranchName(branch ?? followedBy(repository, remote, into)),
    into,
    head: await repository.head(),
  }
}
