import { GatehouseError } from '@gatehouse/contract'
import type { Merged } from '../ports/git.ts'
import { assertBranchName, repoFile } from './arguments.ts'
import { identityOf } from './commit.ts'
import { fieldsOf, textOf } from './fields.ts'
import { assertWritable, changedBetween, changedFrom, filesIn } from './reached.ts'
import type { Repository } from './repository.ts'

const refused = (detail: string): GatehouseError => new GatehouseError('GitRefused', { detail })

const noCommit = '0'.repeat(40)

export const headOf = async (repository: Repository, name: string): Promise<string> => {
  assertBranchName(name)
  try {
    return await repository.commitOf(`refs/heads/${name}`)
  } catch (cause) {
    const detail = 'there is no branch of that name here'
    throw new GatehouseError('InvalidRef', { ref: name, detail }, { cause })
  }
}

export const createBranch = async (
  repository: Repository,
  name: string,
  startPoint: string,
): Promise<void> => {
  assertBranchName(name)
  const start = await repository.commitOf(startPoint)
  const result = await repository.run({
    // The zeros: only if there is no such branch yet.
    args: ['update-ref', '-m', 'branch: created', `refs/heads/${name}`, start, noCommit],
    codes: [0, 1, 128],
  })
  if (result.code !== 0) throw refused(`${name} cannot be made: ${repository.said(result)}`)
}

export const switchBranch = async (repository: Repository, name: string): Promise<void> => {
  const target = await headOf(repository, name)
  await assertWritable(repository, async () => {
    const head = await repository.head()
    return head === null ? filesIn(repository, target) : changedFrom(repository, head, target)
  })
  const result = await repository.run({
    args: ['switch', '--quiet', '--no-guess', '--no-recurse-submodules', '--end-of-options', name],
    codes: [0, 1, 128],
  })
  if (result.code !== 0) throw refused(repository.said(result))
}

export const deleteBranch = async (repository: Repository, name: string): Promise<void> => {
  const head = await headOf(repository, name)
  if ((await repository.currentBranch()) === name) {
    throw refused(`${name} is the current branch; switch to another one first`)
  }
  const { stdout } = await repository.run({
    args: [
      'for-each-ref',
      '--count=2',
      `--contains=${head}`,
      '--format=%(refname)',
      'refs/heads',
      'refs/remotes',
      'refs/tags',
    ],
  })
  const elsewhere = textOf(stdout)
    .split('\n')
    .some((ref) => ref !== '' && ref !== `refs/heads/${name}`)
  if (!elsewhere) {
    throw refused(`${name} has commits that are on no other branch; merge or push it first`)
  }
  await repository.run({ args: ['update-ref', '-d', `refs/heads/${name}`, head] })
}

const conflictsOf = async (repository: Repository): Promise<readonly string[]> => {
  const { stdout } = await repository.run({
    args: ['diff', '--no-ext-diff', '--no-textconv', '--name-only', '--diff-filter=U', '-z'],
  })
  return [...new Set(fieldsOf(stdout).map(textOf))]
}

/** The files that a merge can change: those that the other side changed since the two parted. */
const changedByMerge = async (
  repository: Repository,
  ours: string | null,
  theirs: string,
): Promise<readonly string[]> => {
  if (ours === null) return filesIn(repository, theirs)
  const { stdout } = await repository.run({
    args: ['merge-base', '--all', ours, theirs],
    codes: [0, 1],
  })
  const bases = textOf(stdout).split('\n').filter(Boolean)
  const changed = await Promise.all(bases.map((base) => changedFrom(repository, base, theirs)))
  return changed.flat()
}

/** Merges a commit into what is checked out. Conflicts stay in the work tree, to be resolved and committed. */
export const mergeCommit = async (
  repository: Repository,
  agent: string,
  merged: { readonly hash: string; readonly shown: string },
): Promise<Merged> => {
  const before = await repository.head()
  const branch = await repository.currentBranch()
  await assertWritable(repository, () => changedByMerge(repository, before, merged.hash))
  const result = await repository.run({
    args: [
      'merge',
      // A file that was renamed here would be changed under a name that policy was not asked about.
      // The newer strategy renames all the same, before git 2.50.
      ...(repository.asks ? ['--strategy=recursive', '--strategy-option=no-renames'] : []),
      '--no-edit',
      '--no-stat',
      '--no-progress',
      '--no-verify',
      '--no-gpg-sign',
      '--no-verify-signatures',
      '--no-autostash',
      `--message=Merge ${merged.shown}${branch === null ? '' : ` into ${branch}`}`,
      '--end-of-options',
      merged.hash,
    ],
    environment: identityOf(repository, agent),
    codes: [0, 1, 2, 128],
  })
  const head = await repository.head()
  if (result.code === 0) {
    const kind = head === before ? 'up_to_date' : head === merged.hash ? 'fast_forward' : 'merged'
    return { result: kind, head, conflicts: [] }
  }
  const conflicts = repository.git.has('MERGE_HEAD') ? await conflictsOf(repository) : []
  if (conflicts.length > 0) return { result: 'conflicts', head, conflicts }
  throw refused(`${repository.said(result)}; ${textOf(result.stdout).slice(0, 300)}`)
}

export const abortMerge = async (repository: Repository): Promise<Merged> => {
  if (!repository.git.has('MERGE_HEAD')) throw refused('no merge is under way')
  await assertWritable(repository, () => changedBetween(repository, ['--cached'], ['HEAD']))
  await repository.run({ args: ['merge', '--abort'] })
  return { result: 'aborted', head: await repository.head(), conflicts: [] }
}

export const restoreFiles = async (
  repository: Repository,
  files: readonly string[],
  source: string,
): Promise<readonly string[]> => {
  const hash = await repository.commitOf(source)
  const paths = files.map((file) => repoFile(repository.path, file))
  const list = (...what: string[]) =>
    changedBetween(repository, ['--ignore-submodules=dirty', ...what], [hash], paths)
  const differing = [...new Set([...(await list()), ...(await list('--cached'))])]
  await assertWritable(repository, async () => differing)
  if (repository.asks && differing.length === 0) return []
  const result = await repository.run({
    args: [
      'restore',
      `--source=${hash}`,
      '--staged',
      '--worktree',
      '--quiet',
      '--no-recurse-submodules',
      '--pathspec-from-file=-',
      '--pathspec-file-nul',
    ],
    // Policy was asked about these, and about no other that could differ by now.
    stdin: Buffer.from(`${(repository.asks ? differing : paths).join('\0')}\0`),
    codes: [0, 1, 128],
  })
  if (result.code === 0) return differing
  throw refused(repository.said(result))
}
