import { type ChildProcess, spawn } from 'node:child_process'
import { chownSync, closeSync } from 'node:fs'
import { GatehouseError } from '@gatehouse/contract'
import type { SandboxMount, SandboxSpec } from '../ports/sandbox.ts'
import { bubblewrapArguments, type Protection } from './arguments.ts'
import { BubblewrapChild } from './bubblewrap-child.ts'
import { handOver } from './hand-over.ts'
import { relaySocket } from './init-script.ts'
import { assertTexts, orderOf } from './launch-order.ts'
import { type OpenMount, OpenMounts } from './mounts.ts'
import type { FilterPart } from './seccomp.ts'
import type { ServiceUser } from './service-user.ts'
import { stageFolder } from './stage-script.ts'
import type { Machine } from './syscalls.ts'
import { librariesOf, type SystemView } from './system-view.ts'
import type { Workshop } from './workshop.ts'

export type BubblewrapOptions = {
  readonly bubblewrap: string
  readonly perl: string
  readonly machine: Machine
  readonly system: SystemView
  readonly workshop: Workshop
  /** The real path of the folder of the service, of which no more is seen than is mounted. */
  readonly own: string
  readonly hidden: readonly string[]
  /** Who runs it where the service is root; null where the service is somebody else. */
  readonly user: ServiceUser | null
  /** Left out by tests, to see that something depends on it. */
  readonly without?: readonly (Protection | FilterPart | 'limits')[]
}

// As the launchers find them: 0 to 2 are the program's own, 4 is the channel.
const descriptors = { filter: 3, init: 5, stage: 6, mounts: 7 } as const
const scriptAt = (descriptor: number): string => `/proc/self/fd/${descriptor}`

const startupMs = 10_000
class Descriptors implements Disposable {
  readonly #descriptors: number[] = []

  take(descriptor: number): number {
    this.#descriptors.push(descriptor)
    return descriptor
  }

  [Symbol.dispose](): void {
    for (const descriptor of this.#descriptors) closeSync(descriptor)
  }
}

const readAll = async (stream: AsyncIterable<Uint8Array>): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of stream) text = (text + decoder.decode(chunk)).slice(0, 2_000)
  return text.trim()
}

/** The mount that was deleted after it was opened, if that is what a launcher complains of. */
const goneOf = (said: string, mounts: readonly OpenMount[]): string | null => {
  const staged = /^gatehouse: gone (\d+)/m.exec(said)?.[1]
  if (staged !== undefined) return mounts[Number(staged)]?.target ?? null
  const named = /^bwrap: Can't find source path (.*): No such file/m.exec(said)?.[1]
  return mounts.find(({ path }) => path === named)?.target ?? null
}

/** Why the program did not start, in the words of the error table. */
const failureOf = async (
  spec: SandboxSpec,
  mounts: readonly OpenMount[],
  child: BubblewrapChild,
): Promise<GatehouseError> => {
  const started = await child.started
  const [said, exit] = await Promise.all([readAll(child.stderr), child.exited])
  if (started?.kind !== 'failed') {
    const path = goneOf(said, mounts)
    if (path !== null) return new GatehouseError('FileNotFound', { path })
    const detail = said === '' ? `it ended with ${exit.signal ?? exit.code}` : said
    return new GatehouseError('SandboxFailed', { detail })
  }
  const { what, errno } = started
  if (what === 'exec' && [2, 8, 13, 20, 40].includes(errno))
    return new GatehouseError('ProgramNotFound', { program: spec.program })
  if (what === 'exec' && errno === 7)
    return new GatehouseError('SandboxRefused', { detail: 'its arguments are too long' })
  if (what === 'chdir') return new GatehouseError('NotADirectory', { path: spec.working_directory })
  const detail =
    what === 'mount' ? 'a mount is not what was asked for' : `${what} failed (errno ${errno})`
  return new GatehouseError('SandboxFailed', { detail })
}

/** What may be mounted at all; folders of the service pass to the user who will work in them. */
const admit = async (
  mounts: readonly OpenMount[],
  { own, user }: BubblewrapOptions,
): Promise<void> => {
  for (const { path, target, isFolder, writable, descriptor } of mounts) {
    if (path === own || own.startsWith(`${path}/`)) {
      const detail = `${target} would show the data of the service`
      throw new GatehouseError('SandboxRefused', { detail })
    }
    if (user === null) continue
    // The one mount of a socket that is always ours, wherever it lies.
    if (target === relaySocket) chownSync(`/proc/self/fd/${descriptor}`, user.uid, user.gid)
    else if (!path.startsWith(`${own}/`)) continue
    else if (isFolder && (writable || path.startsWith(`${own}/workspaces/`)))
      await handOver(`/proc/self/fd/${descriptor}/.`, user)
  }
}

/** The command line; where the service is root, with the stage before it. */
const commandOf = (
  spec: SandboxSpec,
  mounts: readonly OpenMount[],
  options: BubblewrapOptions,
): readonly [program: string, args: readonly string[]] => {
  const { user, bubblewrap, perl } = options
  const args = bubblewrapArguments({
    system: spec.system === 'libraries' ? librariesOf(options.system, perl) : options.system,
    mounts: mounts.map(({ path, target, writable }, at) => ({
      source: user === null ? path : `${stageFolder}/${at}`,
      target,
      writable,
    })),
    hidden: options.hidden,
    temporaryBytes: spec.limits.temporary_bytes,
    filter: descriptors.filter,
    command: [perl, scriptAt(descriptors.init)],
    without: (options.without ?? []) as Protection[],
  })
  if (user === null) return [bubblewrap, args]
  const staged = mounts.map((_, at) => descriptors.mounts + at)
  const before = [user.uid, user.gid, staged.length, ...staged].map(String)
  return [perl, [scriptAt(descriptors.stage), ...before, bubblewrap, ...args]]
}

const launch = (
  spec: SandboxSpec,
  mounts: readonly OpenMount[],
  options: BubblewrapOptions,
): ChildProcess => {
  const { workshop, user, machine, without = [] } = options
  const [program, args] = commandOf(spec, mounts, options)
  const unixOnly = spec.network.kind === 'none' && spec.network.unix_only === true
  using opened = new Descriptors()
  const filter = opened.take(
    workshop.openFilter({
      machine,
      sockets: unixOnly ? 'unix' : 'local',
      without: without as FilterPart[],
    }),
  )
  const init = opened.take(
    workshop.openScript(spec.network.kind === 'egress' ? 'init-relay' : 'init'),
  )
  const stage = opened.take(workshop.openScript('stage'))
  return spawn(program, args, {
    cwd: '/',
    // @SECURITY Nothing of the service's own environment is anywhere near what runs.
    env: {},
    shell: false,
    detached: true,
    stdio: [
      ...(['pipe', 'pipe', 'pipe'] as const),
      filter,
      'pipe',
      init,
      ...(user === null ? [] : [stage, ...mounts.map(({ descriptor }) => descriptor)]),
    ],
  })
}

/** Runs one program in bubblewrap. Whatever fails before it runs is thrown; nothing is left then. */
export const spawnInBubblewrap = async (
  spec: SandboxSpec,
  options: BubblewrapOptions,
): Promise<BubblewrapChild> => {
  assertTexts(spec)
  const { workshop, without = [] } = options
  const proxy: readonly SandboxMount[] =
    spec.network.kind === 'egress'
      ? [{ source: spec.network.socket, target: relaySocket, writable: true }]
      : []
  using mounts = new OpenMounts([workshop.etc, ...proxy], spec.mounts)
  await admit(mounts.all, options)
  const process = launch(spec, mounts.all, options)
  if (process.pid === undefined)
    throw await new Promise((resolve) => {
      process.once('error', (cause) => {
        resolve(new GatehouseError('SandboxFailed', { detail: cause.message }, { cause }))
      })
    })
  const child = new BubblewrapChild(process, orderOf(spec, mounts.all, !without.includes('limits')))
  const late = setTimeout(() => void child.end(0), startupMs)
  const started = await child.started
  clearTimeout(late)
  if (started?.kind !== 'started') throw await failureOf(spec, mounts.all, child)
  return child
}
