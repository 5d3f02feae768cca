import type { Protection } from './arguments.ts'
import type { LandlockPart } from './landlock-rules.ts'
import type { RuntimeFolder } from './runtime-folder.ts'
import type { FilterPart } from './seccomp.ts'
import type { ServiceUser } from './service-user.ts'
import type { Machine } from './syscalls.ts'
import type { SystemView } from './system-view.ts'

export type SandboxPart = Protection | FilterPart | LandlockPart | 'limits'

/** Tools of each sandbox backend, prepared once. */
export type SandboxTools = {
  readonly perl: string
  readonly machine: Machine
  readonly system: SystemView
  readonly runtimeFolder: RuntimeFolder
  /** The real path of the folder of the service, of which no more is seen than is mounted. */
  readonly own: string
  /** The real path of the folder of workspaces, which may lie elsewhere: several machines can share it. */
  readonly workspaces: string
  /** The real path of the folder of this process, in `own`: another one has another. */
  readonly folder: string
  readonly hidden: readonly string[]
  /** User that runs programs where the service is root; null where the service is somebody else. */
  readonly user: ServiceUser | null
  /** Left out by tests, to see that something depends on it. */
  readonly without?: readonly SandboxPart[]
}
