import { chownSync } from 'node:fs'
import { GatehouseError } from '@gatehouse/contract'
import { handOver } from './hand-over.ts'
import { relay } from './launch-order.ts'
import type { OpenMount } from './mounts.ts'
import type { SandboxTools } from './sandbox-tools.ts'
import type { ServiceUser } from './service-user.ts'

/** A file system of another machine may keep its files to their owner. */
const notGiven = (cause: unknown, target: string, { name }: ServiceUser): unknown => {
  if (!['EPERM', 'EACCES'].includes((cause as NodeJS.ErrnoException).code ?? '')) return cause
  const detail = `its file system does not let ${target} be given to the user ${name}, as which programs run`
  return new GatehouseError('SandboxRefused', { detail }, { cause })
}

/** Mounts that are allowed at all; folders of the service pass to the user who will work in them. */
export const admit = async (
  mounts: readonly OpenMount[],
  { own, workspaces, user }: Pick<SandboxTools, 'own' | 'workspaces' | 'user'>,
): Promise<void> => {
  for (const { path, target, isFolder, writable, descriptor } of mounts) {
    if (path === own || own.startsWith(`${path}/`)) {
      const detail = `${target} would show the data of the service`
      throw new GatehouseError('SandboxRefused', { detail })
    }
    if (user === null) continue
    // The one mount of a socket that is always ours, wherever it lies.
    if (target === relay.socket) chownSync(`/proc/self/fd/${descriptor}`, user.uid, user.gid)
    else if (isFolder) {
      const isWorkspace = path.startsWith(`${workspaces}/`)
      if (!isWorkspace && !(writable && path.startsWith(`${own}/`))) continue
      await handOver(`/proc/self/fd/${descriptor}/.`, user).catch((cause: unknown) => {
        throw notGiven(cause, target, user)
      })
    }
  }
}
