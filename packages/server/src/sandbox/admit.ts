import { chownSync } from 'node:fs'
import { GatehouseError } from '@gatehouse/contract'
import { handOver } from './hand-over.ts'
import { relay } from './launch-order.ts'
import type { OpenMount } from './mounts.ts'
import type { ServiceUser } from './service-user.ts'

/** Mounts that are allowed at all; folders of the service pass to the user who will work in them. */
export const admit = async (
  mounts: readonly OpenMount[],
  { own, user }: { readonly own: string; readonly user: ServiceUser | null },
): Promise<void> => {
  for (const { path, target, isFolder, writable, descriptor } of mounts) {
    if (path === own || own.startsWith(`${path}/`)) {
      const detail = `${target} would show the data of the service`
      throw new GatehouseError('SandboxRefused', { detail })
    }
    if (user === null) continue
    // The one mount of a socket that is always ours, wherever it lies.
    if (target === relay.socket) chownSync(`/proc/self/fd/${descriptor}`, user.uid, user.gid)
    else if (!path.startsWith(`${own}/`)) continue
    else if (isFolder && (writable || path.startsWith(`${own}/workspaces/`)))
      await handOver(`/proc/self/fd/${descriptor}/.`, user)
  }
}
