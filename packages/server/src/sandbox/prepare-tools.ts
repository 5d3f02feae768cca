import { existsSync, mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { SandboxState } from '../ports/sandbox.ts'
import type { BubblewrapOptions } from './bubblewrap.ts'
import { readOr } from './kernel-facts.ts'
import { lackOfProgram } from './remedies.ts'
import { chooseServiceUser, readAccounts } from './service-user.ts'
import { loadSystemView, seenThrough } from './system-view.ts'
import { Workshop } from './workshop.ts'

export type ToolOptions = {
  readonly dataDir: string
  /** Who runs what is inside where the service is root. */
  readonly user: string | null
  /** Where bubblewrap and perl are looked for, instead of the folders of the system. */
  readonly bins?: readonly string[]
  /** Left out by tests, to see that something depends on it. */
  readonly without?: BubblewrapOptions['without']
}

const bins = ['/usr/bin', '/usr/local/bin', '/bin']
const machines = { x64: 'x86_64', arm64: 'aarch64' } as const

const findProgram = (folders: readonly string[], name: string): string | null =>
  folders.map((folder) => join(folder, name)).find((file) => existsSync(file)) ?? null

/** What bubblewrap needs, prepared in the folder of the service; or what this system lacks. */
export const prepareTools = (options: ToolOptions): BubblewrapOptions | SandboxState => {
  const machine = machines[process.arch as keyof typeof machines]
  if (process.platform !== 'linux' || machine === undefined)
    return {
      usable: false,
      reason: `there is no sandbox for ${process.platform} on ${process.arch} yet`,
      remedy: 'Run the service on Linux (x86-64 or ARM64), in a virtual machine if need be.',
    }
  const folders = options.bins ?? bins
  const release = readOr('/etc/os-release', '')
  const [bubblewrap, perl] = [findProgram(folders, 'bwrap'), findProgram(folders, 'perl')]
  if (bubblewrap === null) return { usable: false, ...lackOfProgram('bubblewrap', release) }
  if (perl === null) return { usable: false, ...lackOfProgram('perl', release) }
  mkdirSync(options.dataDir, { recursive: true, mode: 0o700 })
  const own = realpathSync(options.dataDir)
  const system = loadSystemView()
  const hidden = seenThrough(system, own)
  return {
    bubblewrap,
    perl,
    machine,
    system,
    own,
    hidden: hidden === null ? [] : [hidden],
    workshop: new Workshop(join(own, 'sandbox'), machine, system),
    user: process.getuid?.() === 0 ? chooseServiceUser(options.user, readAccounts()) : null,
    ...(options.without ? { without: options.without } : {}),
  }
}
