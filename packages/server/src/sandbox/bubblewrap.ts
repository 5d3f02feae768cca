import type { ChildProcess } from 'node:child_process'
import type { SandboxMount, SandboxSpec } from '../ports/sandbox.ts'
import { admit } from './admit.ts'
import { bubblewrapArguments, type Protection } from './arguments.ts'
import { awaitStart } from './await-start.ts'
import { Descriptors } from './descriptors.ts'
import { assertTexts, orderOf, relay } from './launch-order.ts'
import { LaunchedChild } from './launched-child.ts'
import { type OpenMount, OpenMounts } from './mounts.ts'
import { ReadyRootLauncher } from './ready-root-launcher.ts'
import { mountedAt, orderRootLauncher } from './root-launcher.ts'
import type { SandboxTools } from './sandbox-tools.ts'
import type { FilterPart } from './seccomp.ts'
import { spawnLauncher } from './spawn-launcher.ts'
import { librariesOf } from './system-view.ts'

export type BubblewrapOptions = SandboxTools & {
  readonly bubblewrap: string
  /** Root launchers started ahead, where the service is root; without it each is started when it is needed. */
  readonly ready?: ReadyRootLauncher | null
}

// As the launchers find them: 0 to 2 are the program's own, 4 is the channel.
const descriptors = { filter: 3, init: 5, launcher: 6 } as const

const scriptAt = (descriptor: number): string => `/proc/self/fd/${descriptor}`

/** Order of a launcher at its start, before anybody tells it what for. */
type Given = { readonly sockets: 'unix' | 'local'; readonly init: 'init' | 'init-relay' }

const usual: Given = { sockets: 'local', init: 'init' }

const givenFor = ({ network }: SandboxSpec): Given =>
  network.kind === 'egress'
    ? { ...usual, init: 'init-relay' }
    : { ...usual, ...(network.unix_only === true ? { sockets: 'unix' } : {}) }

const commandOf = (
  spec: SandboxSpec,
  mounts: readonly OpenMount[],
  options: BubblewrapOptions,
): readonly [program: string, ...args: string[]] => {
  const { user, bubblewrap, perl } = options
  const args = bubblewrapArguments({
    system: spec.system === 'libraries' ? librariesOf(options.system, perl) : options.system,
    mounts: mounts.map(({ path, target, writable }, at) => ({
      source: user === null ? path : mountedAt(at),
      target,
      writable,
    })),
    hidden: options.hidden,
    temporaryBytes: spec.limits.temporary_bytes,
    filter: descriptors.filter,
    command: [perl, scriptAt(descriptors.init)],
    without: (options.without ?? []) as Protection[],
  })
  return [bubblewrap, ...args]
}

const start = (
  [program, ...args]: readonly [program: string, ...args: string[]],
  { sockets, init }: Given,
  { runtimeFolder, machine, user, without = [] }: BubblewrapOptions,
): ChildProcess => {
  using opened = new Descriptors()
  const filter = opened.take(
    runtimeFolder.openFilter({ machine, sockets, without: without as FilterPart[] }),
  )
  const behind = [opened.take(runtimeFolder.openLauncher(init))]
  if (user !== null) behind.push(opened.take(runtimeFolder.openLauncher('root-launcher')))
  return spawnLauncher(program, args, { filter, behind })
}

const startRootLauncher = (given: Given, options: BubblewrapOptions): ChildProcess =>
  start([options.perl, scriptAt(descriptors.launcher)], given, options)

/** Root launchers for what most programs need: no network at all. Null where the service is not root. */
export const createReadyRootLauncher = (options: BubblewrapOptions): ReadyRootLauncher | null =>
  options.user === null ? null : new ReadyRootLauncher(() => startRootLauncher(usual, options))

const launch = (
  spec: SandboxSpec,
  mounts: readonly OpenMount[],
  options: BubblewrapOptions,
): ChildProcess => {
  const { user, ready } = options
  const command = commandOf(spec, mounts, options)
  const given = givenFor(spec)
  if (user === null) return start(command, given, options)
  const isUsual = given.sockets === usual.sockets && given.init === usual.init
  const launcher = (isUsual ? ready?.take() : null) ?? startRootLauncher(given, options)
  orderRootLauncher(launcher, user, mounts, command)
  return launcher
}

/** Runs one program in bubblewrap. Whatever fails before it runs is thrown; nothing is left then. */
export const spawnInBubblewrap = async (
  spec: SandboxSpec,
  options: BubblewrapOptions,
): Promise<LaunchedChild> => {
  assertTexts(spec)
  const { runtimeFolder, without = [] } = options
  const proxy: readonly SandboxMount[] =
    spec.network.kind === 'egress'
      ? [{ source: spec.network.socket, target: relay.socket, writable: true }]
      : []
  using mounts = new OpenMounts([runtimeFolder.etc, ...proxy], spec.mounts)
  await admit(mounts.all, options)
  const process = launch(spec, mounts.all, options)
  const order = orderOf(spec, mounts.all, !without.includes('limits'))
  const child = await awaitStart(spec, mounts.all, process, () => new LaunchedChild(process, order))
  void child.exited.then(() => options.ready?.prepare())
  return child
}
