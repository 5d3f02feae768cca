import { lstatSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import type { PinnedFolder } from '../ports/files.ts'
import type { Credential } from './credential.ts'
import { environmentOf } from './environment.ts'
import { saidBy } from './failure.ts'
import { mountsOf } from './repository.ts'
import { type RunnerDeps, runProgram } from './runner.ts'
import type { Transfer } from './transfer.ts'

export type CloneWishes = {
  readonly branch?: string | undefined
  readonly depth?: number | undefined
}

/** Clones into the service's own folder, without files yet; where its `.git` is, and the branch of its head. */
export const cloneAside = async (
  transfer: Transfer,
  url: string,
  { branch, depth }: CloneWishes,
  credential: Credential | null,
): Promise<{ readonly gitFolder: string; readonly branch: string }> => {
  const place = join(transfer.folder.path, 'clone')
  await transfer.reach(
    {
      args: [
        'clone',
        '--quiet',
        '--no-checkout',
        '--no-recurse-submodules',
        '--template=',
        '--origin=origin',
        ...(branch === undefined ? [] : [`--branch=${branch}`]),
        ...(depth === undefined ? [] : [`--depth=${depth}`]),
        '--',
        url,
        place,
      ],
    },
    credential,
    true,
  )
  const gitFolder = join(place, '.git')
  const head = /^ref: refs\/heads\/(.+)$/m.exec(readFileSync(join(gitFolder, 'HEAD'), 'utf8'))?.[1]
  if (head !== undefined) return { gitFolder, branch: head }
  const detail = `${branch} is a tag; clone a branch, then look at the tag with git.show`
  throw new GatehouseError('InvalidRef', { ref: branch ?? 'HEAD', detail })
}

/** Moves what was cloned into its place, held open: nothing must have come there meanwhile. */
export const installClone = async (
  deps: RunnerDeps,
  transfer: Transfer,
  gitFolder: string,
  folder: PinnedFolder,
): Promise<void> => {
  const target = `/proc/self/fd/${folder.fd}/.git`
  if (lstatSync(target, { throwIfNoEntry: false })) {
    throw new GatehouseError('AlreadyExists', { path: `${folder.path}/.git` })
  }
  try {
    renameSync(gitFolder, target)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EXDEV') throw cause
    const { code, stderr } = await runProgram(deps, {
      program: 'cp',
      args: ['-R', '-T', '--', gitFolder, `${folder.path}/.git`],
      environment: environmentOf(folder.path),
      mounts: [...mountsOf(folder, true), transfer.mount],
      workingDirectory: folder.path,
    })
    if (code !== 0) throw new GatehouseError('GitFailed', { detail: saidBy(stderr) })
  }
}
