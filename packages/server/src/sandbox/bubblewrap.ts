import type { ChildProcess } from 'node:child_process'
import type { SandboxMount, SandboxSpec } from '../ports/sandbox.ts'
import { admit } from './admit.ts'
import { bubblewrapArguments, type Protection } from './arguments.ts'
import { awaitStart } from './await-start.ts'
import { Descriptors } from './descriptors.ts'
import { assertTexts, orderOf, relay } from './launch-order.ts'
import { LaunchedChild } from './launched-child.ts'
import { type OpenMount, OpenMounts } from './mounts.ts'
import type { SandboxTools } from './sandbox-tools.ts'
import type { FilterPart } from './seccomp.ts'
import { spawnLauncher } from './spawn-launcher.ts'
import { librariesOf } from './system-view.ts'

export type BubblewrapOptions = SandboxTools & { readonly bubblewrap: string }

// As the launchers find them: 0 to 2 are the program's own, 4 is the channel.
const descriptors = { filter: 3, init: 5, stage: 6, mounts: 7 } as const
/** Mounted over for the launcher alone, where the service is root. */
const stageFolder = '/tmp'

const scriptAt = (descriptor: number): string => `/proc/self/fd/${descriptor}`

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
  const before = [stageFolder, user.uid, user.gid, staged.length, ...staged].map(String)
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
    workshop.openLauncher(spec.network.kind === 'egress' ? 'init-relay' : 'init'),
  )
  const stage = opened.take(workshop.openLauncher('stage'))
  const staged = user === null ? [] : [stage, ...mounts.map(({ descriptor }) => descriptor)]
  return spawnLauncher(program, args, { filter, behind: [init, ...staged] })
}

/** Runs one program in bubblewrap. Whatever fails before it runs is thrown; nothing is left then. */
export const spawnInBubblewrap = async (
  spec: SandboxSpec,
  options: BubblewrapOptions,
): Promise<LaunchedChild> => {
  assertTexts(spec)
  const { workshop, without = [] } = options
  const proxy: readonly SandboxMount[] =
    spec.network.kind === 'egress'
      ? [{ source: spec.network.socket, target: relay.socket, writable: true }]
      : []
  using mounts = new OpenMounts([workshop.etc, ...proxy], spec.mounts)
  await admit(mounts.all, options)
  const process = launch(spec, mounts.all, options)
  const order = orderOf(spec, mounts.all, !without.includes('limits'))
  return await awaitStart(spec, mounts.all, process, () => new LaunchedChild(process, order))
}
