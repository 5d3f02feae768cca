import { createHash } from 'node:crypto'
import { GatehouseError } from '@gatehouse/contract'
import type { PushPlan } from '../ports/git.ts'
import { assertBranchName } from './arguments.ts'
import { textOf } from './fields.ts'
import { commitFormat, parseLog } from './parse-log.ts'
import { namesBy, refuseFiles } from './reached.ts'
import { checkedOut, remoteOf } from './remotes.ts'
import type { Repository } from './repository.ts'
import type { PlainTargets } from './url.ts'

const basesMax = 1000
const commitsShown = 100

/** For `--stdin` of the commands that walk history: what is reachable from `head` and from no base. */
export const rangeInput = (head: string, bases: readonly string[]): Uint8Array =>
  Buffer.from([head, ...bases.map((base) => `^${base}`), ''].join('\n'))

export const idsIn = (output: Uint8Array): readonly string[] =>
  textOf(output)
    .split('\n')
    .filter((line) => line !== '')

export const digestOfCommits = (ids: readonly string[]): string =>
  createHash('sha256').update(ids.toSorted().join('\n')).digest('hex')

/** Where the remote's branches were last seen. */
const listSeen = async (
  repository: Repository,
  remote: string,
): Promise<ReadonlyMap<string, string>> => {
  const prefix = `refs/remotes/${remote}/`
  const { stdout } = await repository.run({
    args: ['for-each-ref', `--count=${basesMax}`, '--format=%(refname)%00%(objectname)', prefix],
  })
  return new Map(
    idsIn(stdout).map((line) => {
      const [name = '', id = ''] = line.split('\0')
      return [name.slice(prefix.length), id]
    }),
  )
}

/** @SECURITY Pushed commits are read by others; reached-in-git.test.ts. */
const assertMaySend = async (repository: Repository, range: Uint8Array): Promise<void> => {
  if (!repository.asks) return
  const changed = await namesBy(
    repository,
    [
      ...['log', '-z', '-m', '--root', '--format=', '--name-only', '--no-renames'],
      ...['--no-ext-diff', '--no-textconv', '--ignore-missing', '--stdin'],
    ],
    range,
  )
  if (changed.every((name) => repository.mayRead(name))) return
  throw refuseFiles(
    repository,
    'the commits hold files that policy keeps from this call, so nothing was sent',
  )
}

/** Plan of a push, from what is here alone: nothing leaves the machine to find out. */
export const planPush = async (
  repository: Repository,
  given: string,
  wanted: string | undefined,
  plainTargets: PlainTargets,
): Promise<PushPlan> => {
  const remote = remoteOf(repository, given, plainTargets)
  const branch = assertBranchName(wanted ?? (await checkedOut(repository)))
  let head: string
  try {
    head = await repository.commitOf(`refs/heads/${branch}`)
  } catch (cause) {
    const detail = 'there is no branch of that name with a commit here'
    throw new GatehouseError('InvalidRef', { ref: branch, detail }, { cause })
  }
  const seen =
    remote.name === null ? new Map<string, string>() : await listSeen(repository, remote.name)
  const bases = [...new Set(seen.values())].toSorted()
  const stdin = rangeInput(head, bases)
  const listed = await repository.run({
    args: ['rev-list', '--ignore-missing', '--stdin'],
    stdin,
  })
  if (listed.truncated) {
    const detail = 'there are too many commits to push at once'
    throw new GatehouseError('GitRefused', { detail })
  }
  const ids = idsIn(listed.stdout)
  await assertMaySend(repository, stdin)
  const shown = await repository.run({
    args: [
      'log',
      '-z',
      `--max-count=${commitsShown}`,
      '--no-show-signature',
      '--no-mailmap',
      '--ignore-missing',
      commitFormat,
      '--stdin',
    ],
    stdin,
  })
  return {
    url: remote.url,
    remote: remote.name,
    branch,
    head,
    remote_head: seen.get(branch) ?? null,
    commits: parseLog(shown.stdout).map(({ hash, subject, author_name }) => ({
      hash,
      subject,
      author_name,
    })),
    total_commits: ids.length,
    bases,
    commits_digest: digestOfCommits(ids),
  }
}
