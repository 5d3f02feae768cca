import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import type { GitUse } from '../ports/git.ts'
import { KeyedLock } from './keyed-lock.ts'
import { Repository, type RepositoryDeps } from './repository.ts'
import type { Lender, TransferDeps } from './transfer.ts'

export type AgentDeps = RepositoryDeps &
  TransferDeps & { readonly use: GitUse; readonly locks: KeyedLock }

/** Opens a repository for one piece of work; changes of the same one wait for each other. */
export const withRepository = async <T>(
  deps: AgentDeps,
  path: string,
  access: 'read' | 'write',
  work: (repository: Repository) => Promise<T>,
): Promise<T> => {
  using folder = deps.use.files.pin(path, { writable: access === 'write' })
  const open = async () => {
    using repository = await Repository.open(deps, folder, access === 'write')
    return await work(repository)
  }
  if (access === 'read') return await open()
  const { dev, ino } = fstatSync(folder.fd, { bigint: true })
  return await deps.locks.hold(`${dev}:${ino}`, open)
}

/** Lends the objects of a repository to a transfer, held open meanwhile. */
export const withObjects = async <T>(
  repository: Repository,
  work: (lender: Lender) => Promise<T>,
): Promise<T> => {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
  const fd = openSync(`${repository.git.at}objects`, flags)
  try {
    const objects = `${repository.path}/.git/objects`
    return await work({
      mount: { source: `/proc/self/fd/${fd}`, target: objects, writable: false },
      objects,
      shallow: repository.git.read('shallow'),
    })
  } finally {
    closeSync(fd)
  }
}
