import { GatehouseError } from '@gatehouse/contract'
import type { PushPlan } from '../ports/git.ts'
import type { Credential } from './credential.ts'
import { saidBy } from './failure.ts'
import { textOf } from './fields.ts'
import { digestOfCommits, idsIn, rangeInput } from './push-plan.ts'
import type { Transfer } from './transfer.ts'

const idPattern = /^[0-9a-f]{40}$/

/** Every branch and tag that the remote has now, by name. */
const advertised = async (
  transfer: Transfer,
  url: string,
  credential: Credential | null,
): Promise<ReadonlyMap<string, string>> => {
  const { stdout } = await transfer.reach({ args: ['ls-remote', '--quiet', '--', url] }, credential)
  return new Map(
    textOf(stdout)
      .split('\n')
      .map((line) => line.split('\t'))
      .filter(([id = '']) => idPattern.test(id))
      .map(([id = '', name = '']) => [name, id]),
  )
}

const commitsBetween = async (
  transfer: Transfer,
  head: string,
  bases: readonly string[],
): Promise<readonly string[]> => {
  const { stdout } = await transfer.local({
    args: ['rev-list', '--ignore-missing', '--stdin'],
    stdin: rangeInput(head, bases),
  })
  return idsIn(stdout)
}

/** @SECURITY No commit leaves that was not counted in when the push was decided on; git-remote.test.ts. */
const assertAsPlanned = async (
  transfer: Transfer,
  plan: PushPlan,
  there: ReadonlyMap<string, string>,
): Promise<readonly string[]> => {
  const planned = await commitsBetween(transfer, plan.head, plan.bases)
  const going = await commitsBetween(transfer, plan.head, [...there.values()])
  const known = new Set(planned)
  if (digestOfCommits(planned) === plan.commits_digest && going.every((id) => known.has(id)))
    return going
  throw new GatehouseError('PushRejected', {
    branch: plan.branch,
    detail: 'more commits would go than were shown, because the remote lacks some that it had',
  })
}

const assertForward = async (
  transfer: Transfer,
  { head, branch }: PushPlan,
  there: string,
): Promise<void> => {
  const { code } = await transfer.local({
    args: ['merge-base', '--is-ancestor', there, head],
    codes: [0, 1, 128],
  })
  if (code === 0) return
  const detail = 'it has commits that are not here, and nothing is overwritten'
  throw new GatehouseError('PushRejected', { branch, detail })
}

/** Sends one branch, and only on top of what the remote has. Returns the commits that went. */
export const sendBranch = async (
  transfer: Transfer,
  plan: PushPlan,
  credential: Credential | null,
): Promise<readonly string[] | 'up_to_date'> => {
  const { url, branch, head } = plan
  const ref = `refs/heads/${branch}`
  const there = await advertised(transfer, url, credential)
  const old = there.get(ref)
  if (old === head) return 'up_to_date'
  if (old !== undefined) await assertForward(transfer, plan, old)
  const going = await assertAsPlanned(transfer, plan, there)
  const result = await transfer.reach(
    {
      args: [
        'push',
        '--porcelain',
        '--quiet',
        '--no-verify',
        '--no-signed',
        '--no-follow-tags',
        '--no-recurse-submodules',
        // Only if the branch is still where it was just seen.
        `--force-with-lease=${ref}:${old ?? ''}`,
        '--',
        url,
        `${head}:${ref}`,
      ],
      codes: [0, 1],
    },
    credential,
  )
  const rejected = /^!\t\S+\t(.*)$/m.exec(textOf(result.stdout))?.[1]
  if (result.code === 0 && rejected === undefined) return going
  const detail = rejected ?? saidBy(result.stderr)
  throw new GatehouseError('PushRejected', { branch, detail })
}
