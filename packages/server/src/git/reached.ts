import { GatehouseError } from '@gatehouse/contract'
import type { Change } from '../ports/git.ts'
import { fieldsOf, textOf } from './fields.ts'
import type { Repository } from './repository.ts'

/** Raises `PathNotPermitted`: what a call may not do to one of these files it does to none. */
export const refuseFiles = (repository: Repository, detail: string): GatehouseError =>
  new GatehouseError('PathNotPermitted', { path: repository.path, detail })

/** Whether the call may see what stands, or stood, under every name of a change. */
export const mayShow = (repository: Repository, { path, old_path }: Change): boolean =>
  repository.mayRead(path) && (old_path === undefined || repository.mayRead(old_path))

/** Files that the call may see, and the number of the others. */
export const shownOf = <T>(
  all: readonly T[],
  isShown: (one: T) => boolean,
): { readonly shown: readonly T[]; readonly withheld: number } => {
  const shown = all.filter(isShown)
  return { shown, withheld: all.length - shown.length }
}

export const assertReadable = (repository: Repository, file: string): void => {
  if (repository.mayRead(file)) return
  throw new GatehouseError('PathNotPermitted', { path: file, detail: 'not what it holds' })
}

/** Paths that git lists, one command for all of them. */
export const namesBy = async (
  repository: Repository,
  args: readonly string[],
  stdin?: Uint8Array,
): Promise<readonly string[]> => {
  const { stdout, truncated } = await repository.run({ args, ...(stdin ? { stdin } : {}) })
  if (truncated) {
    const detail = 'there are too many files to ask policy about each'
    throw new GatehouseError('GitRefused', { detail })
  }
  return [...new Set(fieldsOf(stdout).map(textOf))].filter((name) => name !== '')
}

/** The files that differ: between two commits, or between one and the index or the work tree. */
export const changedBetween = (
  repository: Repository,
  options: readonly string[],
  commits: readonly string[],
  paths: readonly string[] = [],
): Promise<readonly string[]> =>
  namesBy(repository, [
    ...['diff', '--no-ext-diff', '--no-textconv', '--name-only', '--no-renames', '-z', ...options],
    ...['--end-of-options', ...commits, '--', ...paths],
  ])

export const changedFrom = (
  repository: Repository,
  from: string,
  to: string,
): Promise<readonly string[]> => changedBetween(repository, [], [from, to])

export const filesIn = (repository: Repository, commit: string): Promise<readonly string[]> =>
  namesBy(repository, ['ls-tree', '-r', '-z', '--name-only', commit])

/** @SECURITY Before any of them is written; reached-in-git.test.ts. */
export const assertWritable = async (
  repository: Repository,
  list: () => Promise<readonly string[]>,
): Promise<void> => {
  if (!repository.asks) return
  const names = await list()
  if (names.every((name) => repository.mayWrite(name))) return
  throw refuseFiles(
    repository,
    'it would change files that policy keeps from this call, so none was changed',
  )
}
