import { GatehouseError } from '@gatehouse/contract'
import type { PullPlan } from '../ports/git.ts'
import type { SandboxMount } from '../ports/sandbox.ts'
import type { Credential } from './credential.ts'
import { textOf } from './fields.ts'
import type { Transfer } from './transfer.ts'

const incoming = 'refs/heads/incoming'

/** Fetches the branch into the service's own repository, given what is here already; its newest commit. */
export const fetchBranch = async (
  transfer: Transfer,
  { url, branch }: PullPlan,
  have: readonly string[],
  credential: Credential | null,
): Promise<string> => {
  if (have.length > 0) {
    // So that the remote sends only what is new.
    const lines = have.map((id, i) => `create refs/have/${i} ${id}\n`).join('')
    await transfer.local({ args: ['update-ref', '--stdin'], stdin: Buffer.from(lines) })
  }
  await transfer.reach(
    {
      args: [
        'fetch',
        '--quiet',
        '--no-tags',
        '--no-write-fetch-head',
        '--no-recurse-submodules',
        '--no-auto-maintenance',
        '--',
        url,
        `+refs/heads/${branch}:${incoming}`,
      ],
    },
    credential,
  )
  const { stdout } = await transfer.local({ args: ['rev-parse', '--verify', '--quiet', incoming] })
  const id = textOf(stdout).trim()
  if (/^[0-9a-f]{40}$/.test(id)) return id
  throw new GatehouseError('GitFailed', { detail: 'what was fetched is no commit' })
}

type RunCopy = (run: {
  program: string
  args: readonly string[]
  mounts: readonly SandboxMount[]
}) => Promise<void>

/** Puts what was fetched among the objects of the agent's repository; packs before their indexes. */
export const bringIn = async (
  transfer: Transfer,
  objects: string,
  copy: RunCopy,
): Promise<void> => {
  const packs = transfer.packs()
  for (const ending of ['.pack', '.idx']) {
    const files = packs.filter((path) => path.endsWith(ending))
    if (files.length === 0) continue
    const args = ['-n', '--', ...files, `${objects}/pack/`]
    await copy({ program: 'cp', args, mounts: [transfer.mount] })
  }
}
