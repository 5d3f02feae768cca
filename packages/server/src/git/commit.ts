import { GatehouseError } from '@gatehouse/contract'
import type { AgentGit, Change } from '../ports/git.ts'
import { assertIdentity, repoFile } from './arguments.ts'
import { lastValue } from './config.ts'
import { textOf } from './fields.ts'
import type { ParsedStatus } from './parse-status.ts'
import { mayShow, refuseFiles, shownOf } from './reached.ts'
import type { Repository } from './repository.ts'
import { readStatus } from './status.ts'

type Draft = Parameters<AgentGit['commit']>[1]

type Selection = {
  readonly status: ParsedStatus
  readonly changes: readonly Change[]
  /** Files to bring into the index as they stand on the disk, exactly as git named them. */
  readonly names: readonly Buffer[]
  /** Whether the index holds, or could come to hold, more than what is to be committed. */
  readonly leavesStaged: boolean
  /** Changes of files that policy keeps from the call, which are left as they are. */
  readonly withheld: number
}

type Candidate = {
  readonly change: Change
  readonly names: readonly Buffer[]
  readonly isStaged: boolean
}

/** One entry a path: what the commit would show for it. */
const candidatesOf = ({
  staged,
  unstaged,
  untracked,
  conflicted,
}: ParsedStatus): readonly Candidate[] => {
  const byName = new Map<string, Candidate>()
  const add = (bytes: Buffer, candidate: Candidate) => {
    const key = bytes.toString('latin1')
    const before = byName.get(key)
    byName.set(
      key,
      before ? { ...before, names: [...before.names, ...candidate.names] } : candidate,
    )
  }
  for (const { change, bytes, old } of staged)
    add(bytes, { change, names: [bytes, ...(old ? [old] : [])], isStaged: true })
  for (const { change, bytes } of unstaged) add(bytes, { change, names: [bytes], isStaged: false })
  for (const { name, bytes } of conflicted)
    add(bytes, { change: { ...name, status: 'modified' }, names: [bytes], isStaged: false })
  for (const { name, bytes } of untracked) {
    // A folder among them is a repository of its own: its files are not ours to take.
    if (bytes.at(-1) === 0x2f) continue
    add(bytes, { change: { ...name, status: 'added' }, names: [bytes], isStaged: false })
  }
  return [...byName.values()]
}

const matches = (wanted: string, { change }: Candidate): boolean =>
  [change.path, change.old_path].some(
    (path) =>
      path !== undefined && (wanted === '.' || path === wanted || path.startsWith(`${wanted}/`)),
  )

export const selectChanges = async (
  repository: Repository,
  files: readonly string[] | undefined,
): Promise<Selection> => {
  const status = await readStatus(repository)
  const found = candidatesOf(status)
  const { shown: all, withheld } = shownOf(found, ({ change }) => mayShow(repository, change))
  const kept = 'it would commit files that policy keeps from this call, so nothing was'
  const isMerge = repository.git.has('MERGE_HEAD')
  const nothing = (detail: string) => new GatehouseError('NothingToCommit', { detail })
  if (files === undefined) {
    if (isMerge && withheld > 0) throw refuseFiles(repository, kept)
    if (all.length === 0 && !isMerge)
      throw nothing(
        withheld > 0
          ? 'policy keeps all that has changed from this call'
          : 'nothing has changed since the last commit',
      )
    return {
      status,
      changes: all.map(({ change }) => change),
      names: all.flatMap(({ names }) => names),
      leavesStaged: repository.asks && !isMerge,
      withheld,
    }
  }
  if (isMerge) {
    const detail = 'a merge is under way, and is committed whole: leave out `files`'
    throw new GatehouseError('GitRefused', { detail })
  }
  const wanted = files.map((file) => repoFile(repository.path, file))
  const isWanted = (candidate: Candidate) => wanted.some((path) => matches(path, candidate))
  if (found.filter(isWanted).length > all.filter(isWanted).length)
    throw refuseFiles(repository, kept)
  for (const path of wanted) {
    if (!all.some((candidate) => matches(path, candidate)))
      throw nothing(`${path} has no changes, is ignored, or is not there`)
  }
  const chosen = all.filter(isWanted)
  return {
    status,
    changes: chosen.map(({ change }) => change),
    names: chosen.flatMap(({ names }) => names),
    leavesStaged:
      repository.asks || all.some((candidate) => candidate.isStaged && !chosen.includes(candidate)),
    withheld,
  }
}

const joined = (names: readonly Buffer[]): Buffer =>
  Buffer.concat(names.flatMap((name) => [name, Buffer.of(0)]))

const assertNoMarkers = async (repository: Repository, { status }: Selection): Promise<void> => {
  if (status.conflicted.length === 0) return
  const { stdout } = await repository.run({
    args: ['diff', '--no-ext-diff', '--no-textconv', '--no-color', '--check'],
    codes: [0, 2],
  })
  const left = /^(.*):\d+: leftover conflict marker$/m.exec(textOf(stdout))?.[1]
  if (left === undefined) return
  throw new GatehouseError('GitRefused', { detail: `${left} still holds conflict markers` })
}

/** Committer: as the repository is set up, else the agent under its own name. */
export const identityOf = (
  repository: Repository,
  agent: string,
  { authorName, authorEmail }: Pick<Draft, 'authorName' | 'authorEmail'> = {},
): Readonly<Record<string, string>> => {
  const name = lastValue(repository.settings, 'user.name') ?? agent
  const email = lastValue(repository.settings, 'user.email') ?? `${agent}@gatehouse.invalid`
  return {
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
    GIT_AUTHOR_NAME: authorName === undefined ? name : assertIdentity('author_name', authorName),
    GIT_AUTHOR_EMAIL:
      authorEmail === undefined ? email : assertIdentity('author_email', authorEmail),
  }
}

export const commitChanges = async (
  repository: Repository,
  agent: string,
  draft: Draft,
): ReturnType<AgentGit['commit']> => {
  const environment = identityOf(repository, agent, draft)
  const chosen = await selectChanges(repository, draft.files)
  await assertNoMarkers(repository, chosen)
  if (chosen.names.length > 0) {
    await repository.run({
      args: ['update-index', '--add', '--remove', '-z', '--stdin'],
      stdin: joined(chosen.names),
    })
  }
  const only = chosen.leavesStaged
  const result = await repository.run({
    args: [
      'commit',
      '--quiet',
      '--no-verify',
      '--no-gpg-sign',
      '--no-status',
      '--allow-empty-message',
      '--cleanup=whitespace',
      `--message=${draft.message}`,
      ...(only ? ['--only', '--pathspec-from-file=-', '--pathspec-file-nul'] : []),
    ],
    ...(only ? { stdin: joined(chosen.names) } : {}),
    environment,
    codes: [0, 1],
  })
  if (result.code !== 0) throw new GatehouseError('GitRefused', { detail: repository.said(result) })
  return {
    commit_hash: await repository.commitOf('HEAD'),
    branch: await repository.currentBranch(),
    changes: chosen.changes,
    withheld: chosen.withheld,
  }
}
