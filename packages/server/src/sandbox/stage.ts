import type { ChildProcess } from 'node:child_process'
import type { Writable } from 'node:stream'
import { encodeStrings } from './channel.ts'
import type { OpenMount } from './mounts.ts'
import type { ServiceUser } from './service-user.ts'

/** Mounted over for the launcher alone. */
const stageFolder = '/tmp'

/** Where bubblewrap finds a mount that the stage has taken. */
export const stagedAt = (at: number): string => `${stageFolder}/${at}`

/** Tells a stage what to start. The mounts stay open until it has. */
export const orderStage = (
  { pid, stdio }: ChildProcess,
  user: ServiceUser,
  mounts: readonly OpenMount[],
  command: readonly string[],
): void => {
  // One that could not be started has no channel either.
  if (pid === undefined) return
  const given = mounts.map(({ descriptor }) => `/proc/${process.pid}/fd/${descriptor}`)
  const channel = stdio[4] as Writable
  channel.write(
    encodeStrings([
      stageFolder,
      String(user.uid),
      String(user.gid),
      String(given.length),
      ...given,
      ...command,
    ]),
  )
}
