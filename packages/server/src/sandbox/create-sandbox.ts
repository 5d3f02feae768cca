import { existsSync, mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import type { Log } from '../ports/log.ts'
import type { Sandbox, SandboxChild, SandboxSpec, SandboxState } from '../ports/sandbox.ts'
import { type BubblewrapOptions, spawnInBubblewrap } from './bubblewrap.ts'
import { loadKernelFacts, readOr } from './kernel-facts.ts'
import { judgeProbe, probeSpec } from './probe.ts'
import { lackOfProgram, lackOfRights } from './remedies.ts'
import { runInSandbox } from './run-in-sandbox.ts'
import { chooseServiceUser, readAccounts } from './service-user.ts'
import { loadSystemView, seenThrough } from './system-view.ts'
import { spawnUnconfined } from './unconfined.ts'
import { Workshop } from './workshop.ts'

export type SandboxOptions = {
  readonly dataDir: string
  /** `auto`: the strongest that holds, or none. `unconfined`: an operator wants it without. */
  readonly mode: 'auto' | 'unconfined'
  /** Who runs what is inside where the service is root. */
  readonly user: string | null
  readonly log: Log
  /** Where bubblewrap and perl are looked for, instead of the folders of the system. */
  readonly bins?: readonly string[]
  /** Left out by tests, to see that something depends on it. */
  readonly without?: BubblewrapOptions['without']
}

const bins = ['/usr/bin', '/usr/local/bin', '/bin']
const machines = { x64: 'x86_64', arm64: 'aarch64' } as const
/** Where no rung held, how long until the next call tries again. */
const againMs = 30_000
const endGraceMs = 1_000

const findProgram = (folders: readonly string[], name: string): string | null =>
  folders.map((folder) => join(folder, name)).find((file) => existsSync(file)) ?? null

const notTried: SandboxState = {
  usable: false,
  reason: 'it was not tried yet',
  remedy: 'It is tried by the first call that needs it, or by gatehouse doctor.',
}

/** All that starts programs which are not trusted. Ends whatever still runs when it is disposed of. */
export const createSandbox = (options: SandboxOptions): Sandbox & AsyncDisposable => {
  const { dataDir, mode, log } = options
  const children = new Set<SandboxChild>()
  let state: SandboxState = notTried
  let probing: Promise<SandboxState> | null = null
  let probedMs = -Infinity
  let made: BubblewrapOptions | null = null
  let closed = false

  const refused = (reason: string, remedy: string): SandboxState => ({
    usable: false,
    reason,
    remedy,
  })

  const prepare = (): BubblewrapOptions | SandboxState => {
    if (made) return made
    const machine = machines[process.arch as keyof typeof machines]
    if (process.platform !== 'linux' || machine === undefined)
      return refused(
        `there is no sandbox for ${process.platform} on ${process.arch} yet`,
        'Run the service on Linux (x86-64 or ARM64), in a virtual machine if need be.',
      )
    const folders = options.bins ?? bins
    const release = readOr('/etc/os-release', '')
    const [bubblewrap, perl] = [findProgram(folders, 'bwrap'), findProgram(folders, 'perl')]
    if (bubblewrap === null) return { usable: false, ...lackOfProgram('bubblewrap', release) }
    if (perl === null) return { usable: false, ...lackOfProgram('perl', release) }
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    const own = realpathSync(dataDir)
    const system = loadSystemView()
    const hidden = seenThrough(system, own)
    made = {
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
    return made
  }

  const tryOut = async (): Promise<SandboxState> => {
    if (mode === 'unconfined')
      return {
        usable: true,
        rung: 'unconfined',
        detail: 'an operator chose it: nothing is kept from a program',
      }
    const tools = prepare()
    if ('usable' in tools) return tools
    const lack = (said: string): SandboxState => ({
      usable: false,
      ...lackOfRights(said, loadKernelFacts()),
    })
    try {
      const result = await runInSandbox(
        () => spawnInBubblewrap(probeSpec(tools.perl), tools),
        { max_output_bytes: 4_096, timeout_ms: 10_000 },
        new AbortController().signal,
      )
      const broken = judgeProbe(result)
      if (broken !== null && !options.without) return lack(broken)
      const who = tools.user === null ? '' : `, as user ${tools.user.name}`
      return {
        usable: true,
        rung: 'bubblewrap',
        detail: `own namespaces, a filter of system calls and limits${who}`,
      }
    } catch (cause) {
      if (!(cause instanceof GatehouseError)) throw cause
      return lack(String(cause.facts['detail'] ?? cause.message))
    }
  }

  const probe = (): Promise<SandboxState> => {
    probing ??= tryOut()
      .catch((cause: unknown): SandboxState => {
        log.error({ err: cause }, 'the sandbox could not be tried')
        const said = cause instanceof GatehouseError ? cause.message : 'trying it failed'
        return refused(said, 'Look into the log of the service, then run gatehouse doctor.')
      })
      .then((found) => {
        if (!found.usable && state !== found)
          log.warn(
            { reason: found.reason, remedy: found.remedy },
            'no sandbox holds here: programs do not run',
          )
        state = found
        probedMs = performance.now()
        return found
      })
      .finally(() => {
        probing = null
      })
    return probing
  }

  const spawn = async (spec: SandboxSpec): Promise<SandboxChild> => {
    if (!state.usable && performance.now() - probedMs > againMs) await probe()
    if (closed) throw new GatehouseError('SandboxUnavailable', { reason: 'the service stops' })
    if (!state.usable)
      throw new GatehouseError('SandboxUnavailable', { reason: state.reason, remedy: state.remedy })
    const child =
      state.rung === 'unconfined'
        ? await spawnUnconfined(spec)
        : await spawnInBubblewrap(spec, made as BubblewrapOptions)
    children.add(child)
    void child.exited.then(() => children.delete(child))
    if (closed) void child.end(0)
    return child
  }

  return {
    state: () => state,
    probe,
    spawn,
    run: (spec, run, signal) => runInSandbox(() => spawn(spec), run, signal),
    async [Symbol.asyncDispose]() {
      closed = true
      await probing?.catch(() => {})
      await Promise.all([...children].map((child) => child.end(endGraceMs)))
    },
  }
}
