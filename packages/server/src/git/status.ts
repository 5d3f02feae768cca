import { GatehouseError } from '@gatehouse/contract'
import type { GitStatus, RepoState } from '../ports/git.ts'
import { type ParsedStatus, parseStatus } from './parse-status.ts'
import { mayShow } from './reached.ts'
import type { Repository } from './repository.ts'

const markers: readonly (readonly [string, RepoState])[] = [
  ['rebase-merge', 'rebasing'],
  ['rebase-apply', 'rebasing'],
  ['MERGE_HEAD', 'merging'],
  ['CHERRY_PICK_HEAD', 'cherry_picking'],
  ['REVERT_HEAD', 'reverting'],
  ['BISECT_LOG', 'bisecting'],
]

/** Everything that differs, untracked files one by one. Commits of submodules are compared, never entered. */
export const readStatus = async (repository: Repository): Promise<ParsedStatus> => {
  const { stdout, truncated } = await repository.run({
    args: [
      'status',
      '--porcelain=v2',
      '--branch',
      '-z',
      '--untracked-files=all',
      '--ignore-submodules=dirty',
    ],
  })
  if (truncated) {
    throw new GatehouseError('GitRefused', {
      detail: 'there are too many changes to list; add build output to .gitignore',
    })
  }
  return parseStatus(stdout)
}

export const statusOf = async (
  repository: Repository,
  options: { readonly limit: number },
): Promise<GitStatus> => {
  const found = await readStatus(repository)
  const { staged: _s, unstaged: _u, untracked: _n, conflicted: _c, ...branch } = found
  const changes = [found.staged, found.unstaged, found.untracked, found.conflicted]
  const isChanged = changes.some(({ length }) => length > 0)
  const staged = found.staged.filter(({ change }) => mayShow(repository, change))
  const unstaged = found.unstaged.filter(({ change }) => mayShow(repository, change))
  const untracked = found.untracked.filter(({ name }) => repository.mayRead(name.path))
  const conflicted = found.conflicted.filter(({ name }) => repository.mayRead(name.path))
  const lists = { staged, unstaged, untracked, conflicted }
  const count = (all: readonly (readonly unknown[])[]) =>
    all.reduce((sum, { length }) => sum + length, 0)
  const cut = <T>(list: readonly T[]): readonly T[] => list.slice(0, options.limit)
  return {
    ...branch,
    staged: cut(staged).map(({ change }) => change),
    unstaged: cut(unstaged).map(({ change }) => change),
    untracked: cut(untracked).map(({ name }) => name),
    conflicted: cut(conflicted).map(({ name }) => name),
    state:
      markers.find(([name]) => repository.git.has(name))?.[1] ?? (isChanged ? 'changed' : 'clean'),
    totals: {
      staged: staged.length,
      unstaged: unstaged.length,
      untracked: untracked.length,
      conflicted: conflicted.length,
    },
    withheld: count(changes) - count(Object.values(lists)),
    truncated: Object.values(lists).some(({ length }) => length > options.limit),
  }
}
