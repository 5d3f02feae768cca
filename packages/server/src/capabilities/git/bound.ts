import { createHash } from 'node:crypto'
import { GatehouseError } from '@gatehouse/contract'
import type { PreviewContext } from '../../ports/capability.ts'
import type { BranchAct } from './preview.ts'

type Git = PreviewContext['git']

const newest = async (git: Git, path: string, ref: string): Promise<string | null> =>
  (await git.log(path, { limit: 1, offset: 0, ref })).commits[0]?.hash ?? null

/** An approval is for merging the commit that was shown into the one that was. */
export const mergeBound = async (git: Git, path: string, ref: string) => ({
  merged: await newest(git, path, ref),
  into: await newest(git, path, 'HEAD'),
})

/** An approval is for discarding what was shown; null where that is too much to compare. */
export const restoreBound = async (
  path: string,
  names: readonly string[],
  source: string,
  git: Git,
): Promise<{ readonly discarded: string | null }> => {
  try {
    const plan = JSON.stringify(await git.planRestore(path, names, source))
    return { discarded: createHash('sha256').update(plan).digest('hex') }
  } catch (error) {
    const isTooMuch =
      error instanceof GatehouseError &&
      (error.type === 'DeadlineExceeded' || error.type === 'GitRefused')
    if (isTooMuch) return { discarded: null }
    throw error
  }
}

/** Local branches are found among all; a name alone may be that of a tag too. */
const headOf = async (git: Git, path: string, name: string): Promise<string | null> => {
  const { branches } = await git.branches(path)
  return branches.find((branch) => !branch.remote && branch.name === name)?.head ?? null
}

/** An approval is for the commits that the branches were at. */
export const branchBound = async (
  { path, action, name = '', start_point = 'HEAD' }: BranchAct,
  git: Git,
): Promise<Readonly<Record<string, string | null>>> => {
  switch (action) {
    case 'list':
      return {}
    case 'create':
      return { start: await newest(git, path, start_point) }
    case 'switch':
      return { head: await headOf(git, path, name), from: await newest(git, path, 'HEAD') }
    case 'delete':
      return { head: await headOf(git, path, name) }
  }
}
