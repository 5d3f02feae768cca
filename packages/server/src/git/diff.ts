import { GatehouseError } from '@gatehouse/contract'
import type { AgentGit, Commit, FileDiff, GitDiff } from '../ports/git.ts'
import { repoFile } from './arguments.ts'
import { plainDiff } from './environment.ts'
import { textOf } from './fields.ts'
import { parseDiff, totalsOf } from './parse-diff.ts'
import { commitFormat, parseLog } from './parse-log.ts'
import { mayShow, shownOf } from './reached.ts'
import type { Repository } from './repository.ts'

type DiffOptions = Parameters<AgentGit['diff']>[1]
type ShowOptions = Parameters<AgentGit['show']>[1]

/** The tree that holds nothing, which every repository knows. */
export const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

/** Cut at the end of a line, so that no half character is left. */
const cutPatch = (bytes: Uint8Array, bytesMax: number): { patch: string; truncated: boolean } => {
  const whole = Buffer.from(bytes)
  if (whole.length <= bytesMax) return { patch: textOf(whole), truncated: false }
  const end = whole.lastIndexOf(0x0a, bytesMax - 1)
  return { patch: textOf(whole.subarray(0, end + 1)), truncated: true }
}

const patchedNamesMax = 2_000

/**
 * The files that a patch may be of, named one by one, so that none is in it which policy was not asked about.
 * @SECURITY Also where another one changed since they were listed; reached-in-git.test.ts.
 */
const namesToPatch = (files: readonly FileDiff[]): readonly string[] => {
  const names = files.flatMap(({ path, old_path }) => (old_path ? [old_path, path] : [path]))
  if (names.length > patchedNamesMax) {
    const detail = `more than ${patchedNamesMax} files differ; name some in paths, or set max_bytes to 0`
    throw new GatehouseError('GitRefused', { detail })
  }
  // A name that is a folder on the other side would bring in all that is in that folder.
  return names.filter((name) => !names.some((other) => other.startsWith(`${name}/`)))
}

/** `what`: options and ids only, never a word of an agent's. */
export const compare = async (
  repository: Repository,
  what: readonly string[],
  options: {
    readonly paths: readonly string[]
    readonly patchBytesMax: number
    readonly filesMax: number
  },
): Promise<GitDiff> => {
  const paths = options.paths.map((path) => repoFile(repository.path, path))
  const common = ['diff', ...plainDiff, '--find-renames', '--no-abbrev']
  const ends = [...what, '--', ...paths]
  const listed = await repository.run({ args: [...common, '--raw', '--numstat', '-z', ...ends] })
  if (listed.truncated) {
    throw new GatehouseError('GitRefused', { detail: 'too many files differ; name some in paths' })
  }
  const { shown: files, withheld } = shownOf(parseDiff(listed.stdout), (change) =>
    mayShow(repository, change),
  )
  const names = repository.asks ? namesToPatch(files) : paths
  const isEmpty = options.patchBytesMax === 0 || (repository.asks && names.length === 0)
  const shown = isEmpty
    ? { patch: '', truncated: false }
    : cutPatch(
        (
          await repository.run({
            args: [...common, '--patch', ...what, '--', ...names],
            // One byte more shows that there was more.
            outputBytesMax: options.patchBytesMax + 1,
          })
        ).stdout,
        options.patchBytesMax,
      )
  return {
    files: files.slice(0, options.filesMax),
    patch: shown.patch,
    totals: totalsOf(files),
    withheld,
    truncated: shown.truncated || files.length > options.filesMax,
  }
}

export const diffOf = async (repository: Repository, options: DiffOptions): Promise<GitDiff> => {
  const { staged, from, to } = options
  const first = from === undefined ? null : await repository.commitOf(from)
  const second = to === undefined ? null : await repository.commitOf(to)
  if (second !== null) {
    const base = first ?? (await repository.commitOf('HEAD'))
    return compare(repository, ['--end-of-options', base, second], options)
  }
  if (staged) {
    // Before the first commit everything staged is new.
    const base = first ?? (await repository.head()) ?? emptyTree
    return compare(repository, ['--cached', '--end-of-options', base], options)
  }
  const base = first === null ? [] : ['--end-of-options', first]
  return compare(repository, ['--ignore-submodules=dirty', ...base], options)
}

export const showCommit = async (
  repository: Repository,
  options: ShowOptions,
): Promise<{ readonly commit: Commit } & GitDiff> => {
  const hash = await repository.commitOf(options.ref)
  const { stdout } = await repository.run({
    args: [
      'log',
      '-z',
      '--max-count=1',
      '--no-show-signature',
      commitFormat,
      '--end-of-options',
      hash,
      '--',
    ],
  })
  const commit = parseLog(stdout)[0]
  if (!commit) throw new GatehouseError('GitFailed', { detail: 'the commit cannot be read' })
  const diff = await compare(
    repository,
    ['--end-of-options', commit.parents[0] ?? emptyTree, hash],
    { ...options, paths: [] },
  )
  return { commit, ...diff }
}
