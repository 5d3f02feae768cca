import { GatehouseError } from '@gatehouse/contract'
import type { AgentGit, BlameLine, Branch, Commit } from '../ports/git.ts'
import { repoFile } from './arguments.ts'
import { textOf } from './fields.ts'
import { parseBlame } from './parse-blame.ts'
import { commitFormat, parseLog, utc } from './parse-log.ts'
import { assertReadable } from './reached.ts'
import type { Repository } from './repository.ts'

type LogOptions = Parameters<AgentGit['log']>[1]
type BlameOptions = Parameters<AgentGit['blame']>[1]

export const logOf = async (
  repository: Repository,
  { limit, offset, ref, since, author, file }: LogOptions,
): Promise<{ readonly commits: readonly Commit[]; readonly truncated: boolean }> => {
  const path = file === undefined ? null : repoFile(repository.path, file)
  if (path !== null) assertReadable(repository, path)
  // A repository without commits has an empty history, not an error.
  if (ref === 'HEAD' && (await repository.head()) === null) return { commits: [], truncated: false }
  const hash = await repository.commitOf(ref)
  const { stdout } = await repository.run({
    args: [
      'log',
      '-z',
      `--max-count=${limit + 1}`,
      `--skip=${offset}`,
      '--no-show-signature',
      '--no-mailmap',
      '--no-color',
      '--fixed-strings',
      '--regexp-ignore-case',
      ...(since === undefined ? [] : [`--since=@${Math.floor(Date.parse(since) / 1000)} +0000`]),
      ...(author === undefined ? [] : [`--author=${author}`]),
      commitFormat,
      '--end-of-options',
      hash,
      '--',
      ...(path === null ? [] : [path]),
    ],
  })
  const commits = parseLog(stdout)
  return { commits: commits.slice(0, limit), truncated: commits.length > limit }
}

export const readBlame = async (
  repository: Repository,
  { file, ref, first, limit }: BlameOptions,
): Promise<{ readonly lines: readonly BlameLine[]; readonly truncated: boolean }> => {
  const path = repoFile(repository.path, file)
  assertReadable(repository, path)
  const hash = ref === undefined ? null : await repository.commitOf(ref)
  const result = await repository.run({
    args: [
      'blame',
      '--line-porcelain',
      '--no-textconv',
      '--no-progress',
      `-L${first},+${limit + 1}`,
      ...(hash === null ? [] : [hash]),
      '--',
      path,
    ],
    codes: [0, 128],
  })
  if (result.code !== 0) {
    const said = repository.said(result)
    if (/has only \d+ lines?/.test(said)) {
      throw new GatehouseError('InvalidArguments', { capability: 'git.blame', detail: said })
    }
    if (/no such path/.test(said)) {
      throw new GatehouseError('FileNotFound', { path: file })
    }
    throw new GatehouseError('GitRefused', { detail: said })
  }
  const lines = parseBlame(result.stdout)
  return { lines: lines.slice(0, limit), truncated: lines.length > limit || result.truncated }
}

const branchFormat = [
  '%(refname)',
  '%(objectname)',
  '%(committerdate:iso-strict)',
  '%(contents:subject)',
]
const branchesMax = 1000

export const branchesOf = async (
  repository: Repository,
): Promise<{
  readonly branches: readonly Branch[]
  readonly current: string | null
  readonly truncated: boolean
}> => {
  const { stdout } = await repository.run({
    args: [
      'for-each-ref',
      `--count=${branchesMax + 1}`,
      `--format=${branchFormat.join('%00')}`,
      'refs/heads',
      'refs/remotes',
    ],
  })
  const found = textOf(stdout)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\0'))
  const branches = found
    .slice(0, branchesMax)
    .map(([name = '', head = '', date = '', subject = '']) => ({
      name: name.replace(/^refs\/(heads|remotes)\//, ''),
      head,
      remote: name.startsWith('refs/remotes/'),
      subject,
      committed_at: utc(date),
    }))
  return {
    branches,
    current: await repository.currentBranch(),
    truncated: found.length > branchesMax,
  }
}
