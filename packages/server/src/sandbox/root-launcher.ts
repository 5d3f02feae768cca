import type { ChildProcess } from 'node:child_process'
import type { Writable } from 'node:stream'
import { encodeStrings } from './channel.ts'
import type { OpenMount } from './mounts.ts'
import type { ServiceUser } from './service-user.ts'

/** Mounted over for the launcher alone. */
const mountFolder = '/tmp'

/** Where bubblewrap finds a mount that the root launcher has taken. */
export const mountedAt = (at: number): string => `${mountFolder}/${at}`

/** Tells a root launcher what to start. The mounts stay open until it has. */
export const orderRootLauncher = (
  { pid, stdio }: ChildProcess,
  user: ServiceUser,
  mounts: readonly OpenMount[],
  command: readonly string[],
): void => {
  // A launcher that could not be started has no channel either.
  if (pid === undefined) return
  const given = mounts.map(({ descriptor }) => `/proc/${process.pid}/fd/${descriptor}`)
  const channel = stdio[4] as Writable
  channel.write(
    encodeStrings([
      mountFolder,
      String(user.uid),
      String(user.gid),
      String(given.length),
      ...given,
      ...command,
    ]),
  )
}
