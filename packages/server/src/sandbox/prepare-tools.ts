import { existsSync, mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { SandboxState } from '../ports/sandbox.ts'
import { readOr } from './kernel-facts.ts'
import { runsFolder } from './landlock.ts'
import { lackOfProgram } from './remedies.ts'
import { RunFolder } from './run-folder.ts'
import { RuntimeFolder } from './runtime-folder.ts'
import type { SandboxPart, SandboxTools } from './sandbox-tools.ts'
import { chooseServiceUser, readAccounts } from './service-user.ts'
import { loadSystemView, seenThrough } from './system-view.ts'

export type ToolOptions = {
  readonly dataDir: string
  /** Folder of this process for what it needs itself; the data directory where left out. */
  readonly folder?: string
  /** Folder of the workspaces of agents; `workspaces` in the data directory where left out. */
  readonly workspaces?: string
  /** User that runs programs where the service is root. */
  readonly user: string | null
  /** Where bubblewrap and perl are looked for, instead of the folders of the system. */
  readonly bins?: readonly string[]
  /** The version of Landlock that is asked for; another one only in tests. */
  readonly landlockAbi?: number
  /** Left out by tests, to see that something depends on it. */
  readonly without?: readonly SandboxPart[]
}

const places = ['/usr/bin', '/usr/local/bin', '/bin']
const machines = { x64: 'x86_64', arm64: 'aarch64' } as const

const findProgram = (folders: readonly string[], name: string): string | null =>
  folders.map((folder) => join(folder, name)).find((file) => existsSync(file)) ?? null

const missing = (program: 'bubblewrap' | 'perl'): SandboxState => ({
  usable: false,
  ...lackOfProgram(program, readOr('/etc/os-release', '')),
})

/** Null where there is a sandbox for this kind of machine at all. */
export const lackOfPlatform = (): SandboxState | null =>
  process.platform === 'linux' && process.arch in machines
    ? null
    : {
        usable: false,
        reason: `there is no sandbox for ${process.platform} on ${process.arch} yet`,
        remedy: 'Run the service on Linux (x86-64 or ARM64), in a virtual machine if need be.',
      }

/** The real path, of a folder that is there. */
const realPathOr = (path: string): string => (existsSync(path) ? realpathSync(path) : path)

/** Where bubblewrap is; or what this system lacks. */
export const findBubblewrap = ({ bins = places }: ToolOptions): string | SandboxState =>
  findProgram(bins, 'bwrap') ?? missing('bubblewrap')

/** Tools of every sandbox, prepared in the folder of the service; or what this system lacks. */
export const prepareTools = (options: ToolOptions): SandboxTools | SandboxState => {
  const machine = machines[process.arch as keyof typeof machines]
  const perl = findProgram(options.bins ?? places, 'perl')
  if (perl === null) return missing('perl')
  mkdirSync(options.dataDir, { recursive: true, mode: 0o700 })
  const own = realpathSync(options.dataDir)
  const folder = realpathSync(options.folder ?? own)
  RunFolder.sweep(runsFolder(folder))
  const system = loadSystemView()
  const hidden = seenThrough(system, own)
  return {
    perl,
    machine,
    system,
    own,
    folder,
    workspaces: realPathOr(options.workspaces ?? join(own, 'workspaces')),
    hidden: hidden === null ? [] : [hidden],
    runtimeFolder: new RuntimeFolder(join(folder, 'sandbox'), machine, system),
    user: process.getuid?.() === 0 ? chooseServiceUser(options.user, readAccounts()) : null,
    ...(options.without ? { without: options.without } : {}),
  }
}
