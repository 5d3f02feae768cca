import type { GitDiff, MergePlan } from '../ports/git.ts'
import { repoFile } from './arguments.ts'
import { headOf } from './change.ts'
import { compare, emptyTree } from './diff.ts'
import { fieldsOf, textOf } from './fields.ts'
import { commitFormat, parseLog } from './parse-log.ts'
import { PrivateFolder } from './private-folder.ts'
import { idsIn, rangeInput } from './push-plan.ts'
import { shownOf } from './reached.ts'
import type { Repository } from './repository.ts'

const commitsShown = 20
const shown = { paths: [], patchBytesMax: 60_000, filesMax: 200 } as const

/** Commits of `hash` that `head` does not have: how many, and the newest. */
const newCommits = async (
  repository: Repository,
  head: string | null,
  hash: string,
): Promise<Pick<MergePlan, 'commits' | 'total_commits'>> => {
  const stdin = rangeInput(hash, head === null ? [] : [head])
  const counted = await repository.run({ args: ['rev-list', '--count', '--stdin'], stdin })
  const listed = await repository.run({
    args: [
      ...['log', '-z', `--max-count=${commitsShown}`, '--no-show-signature', '--no-mailmap'],
      ...[commitFormat, '--stdin'],
    ],
    stdin,
  })
  return {
    total_commits: Number(textOf(counted.stdout).trim()),
    commits: parseLog(listed.stdout).map(({ hash: id, subject, author_name }) => ({
      hash: id,
      subject,
      author_name,
    })),
  }
}

/** Common ancestor of the two; null where there is none. */
const findMergeBase = async (
  repository: Repository,
  ours: string,
  theirs: string,
): Promise<string | null> => {
  const { stdout } = await repository.run({ args: ['merge-base', ours, theirs], codes: [0, 1] })
  return idsIn(stdout)[0] ?? null
}

/**
 * Files that would conflict, found by a merge without a work tree, whose objects go into a folder that is
 * deleted again. Null where this git cannot do that.
 */
const conflictsOf = async (
  repository: Repository,
  folder: string,
  ours: string,
  theirs: string,
): Promise<readonly string[] | null> => {
  using objects = new PrivateFolder(folder)
  const { code, stdout, truncated } = await repository.run({
    args: ['merge-tree', '--write-tree', '--name-only', '--no-messages', '-z', ours, theirs],
    environment: {
      GIT_OBJECT_DIRECTORY: objects.path,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: `${repository.path}/.git/objects`,
    },
    mounts: [{ source: objects.path, target: objects.path, writable: true }],
    codes: [0, 1, 128, 129],
  })
  if (truncated || (code !== 0 && code !== 1)) return null
  // The first field is the tree.
  return [...new Set(fieldsOf(stdout).map(textOf).slice(1))].filter((name) => name !== '')
}

/** Plan of a merge. Only the repository of the agent is read, and none of it is written. */
export const planMerge = async (
  repository: Repository,
  folder: string,
  ref: string,
): Promise<MergePlan> => {
  const hash = await repository.commitOf(ref)
  const into = await repository.currentBranch()
  const head = await repository.head()
  const { commits, total_commits } = await newCommits(repository, head, hash)
  const base = head === null ? null : await findMergeBase(repository, head, hash)
  const result = total_commits === 0 ? 'up_to_date' : base === head ? 'fast_forward' : 'merge'
  const found =
    result === 'merge' && head !== null ? await conflictsOf(repository, folder, head, hash) : []
  const conflicts = found && shownOf(found, (name) => repository.mayRead(name)).shown
  // A side that shares nothing with this one brings all that it has.
  const from = base ?? emptyTree
  const changes = await compare(repository, ['--end-of-options', from, hash], shown)
  return { into, head, hash, result, commits, total_commits, changes, conflicts }
}

/** Changes of the named files: what stands there now, compared with the commit. */
export const planRestore = async (
  repository: Repository,
  files: readonly string[],
  source: string,
): Promise<{ readonly hash: string; readonly changes: GitDiff; readonly staged: GitDiff }> => {
  const hash = await repository.commitOf(source)
  const options = { ...shown, paths: files.map((file) => repoFile(repository.path, file)) }
  const reversed = ['-R', '--ignore-submodules=dirty']
  const changes = await compare(repository, [...reversed, '--end-of-options', hash], options)
  const staged = await compare(
    repository,
    [...reversed, '--cached', '--end-of-options', hash],
    // Only which files: a staged change that the work tree does not have is rare.
    { ...options, patchBytesMax: 0 },
  )
  return { hash, changes, staged }
}

/** How the files of a branch differ from those that are checked out. */
export const planSwitch = async (
  repository: Repository,
  name: string,
): Promise<{ readonly head: string; readonly changes: GitDiff }> => {
  const head = await headOf(repository, name)
  const from = (await repository.head()) ?? emptyTree
  const changes = await compare(repository, ['--end-of-options', from, head], shown)
  return { head, changes }
}
