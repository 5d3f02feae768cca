import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import type { SandboxSpec } from '../ports/sandbox.ts'
import { admit } from './admit.ts'
import { awaitStart } from './await-start.ts'
import { Descriptors } from './descriptors.ts'
import { abiNeeded, accessOf, rulesetOf, systemRules, weakened } from './landlock-rules.ts'
import { assertTexts, orderOf } from './launch-order.ts'
import { LaunchedChild } from './launched-child.ts'
import { type OpenMount, OpenMounts } from './mounts.ts'
import { openWay } from './open-way.ts'
import { RunFolder } from './run-folder.ts'
import type { SandboxTools } from './sandbox-tools.ts'
import type { FilterPart } from './seccomp.ts'
import { spawnLauncher } from './spawn-launcher.ts'
import { librariesOf } from './system-view.ts'

export type LandlockOptions = SandboxTools & {
  /** The version of Landlock that is asked for; another one only in tests. */
  readonly abi?: number
}

// As the launchers find them: 0 to 2 are the program's own, 4 is the channel; mounts follow.
const scriptAt = '/proc/self/fd/5'

export const runsFolder = (folder: string): string => join(folder, 'sandbox-runs')

/** A mount that only a view of its own could give is refused, never left out. */
const assertPossible = (spec: SandboxSpec, mounts: readonly OpenMount[]): void => {
  if (spec.network.kind === 'egress')
    throw new GatehouseError('SandboxUnavailable', {
      reason: 'a way to chosen hosts needs bubblewrap; Landlock tells ports apart, but not hosts',
    })
  const refuse = (detail: string): never => {
    throw new GatehouseError('SandboxRefused', { detail })
  }
  const moved = mounts.find(({ path, target }) => path !== target)
  if (moved) refuse(`without bubblewrap ${moved.path} cannot be seen at ${moved.target}`)
  const open = weakened(mounts)
  if (open)
    refuse(`without bubblewrap ${open.path} cannot be kept read-only in a folder that is not`)
}

const argumentsOf = (
  spec: SandboxSpec,
  mounts: readonly OpenMount[],
  options: LandlockOptions,
): readonly string[] => {
  const { user, system, perl, without, abi = abiNeeded } = options
  const { paths, ports, scoped } = rulesetOf(without)
  const view = spec.system === 'libraries' ? librariesOf(system, perl) : system
  return [
    scriptAt,
    ...[abi, user?.uid ?? '-', user?.gid ?? '-', paths, ports, scoped, mounts.length].map(String),
    ...mounts.map((mount) => String(accessOf(mount))),
    ...systemRules(view).flatMap(({ path, access }) => [path, String(access)]),
  ]
}

const launch = (
  spec: SandboxSpec,
  mounts: readonly OpenMount[],
  options: LandlockOptions,
): ChildProcess => {
  const { runtimeFolder, machine, perl, without = [] } = options
  const serves = spec.network.kind === 'none' && spec.network.unix_only === true
  using opened = new Descriptors()
  const filter = opened.take(
    runtimeFolder.openFilter({
      machine,
      sockets: serves ? 'served' : 'none',
      shared: true,
      without: without as FilterPart[],
    }),
  )
  const script = opened.take(runtimeFolder.openLauncher('landlock'))
  const behind = [script, ...mounts.map(({ descriptor }) => descriptor)]
  return spawnLauncher(perl, argumentsOf(spec, mounts, options), { filter, behind })
}

/** Runs one program by the rules of Landlock. Whatever fails before it runs is thrown; nothing is left then. */
export const spawnInLandlock = async (
  spec: SandboxSpec,
  options: LandlockOptions,
): Promise<LaunchedChild> => {
  assertTexts(spec)
  const { own, user, without = [] } = options
  const folder = new RunFolder(runsFolder(options.folder), user)
  let process: ChildProcess | null = null
  try {
    using mounts = new OpenMounts([{ source: folder.path, writable: true }], spec.mounts)
    assertPossible(spec, mounts.all)
    await admit(mounts.all, options)
    if (user !== null) for (const { path } of mounts.all) openWay(own, path, user)
    process = launch(spec, mounts.all, options)
    const started = process
    const order = orderOf(
      { ...spec, environment: { HOME: folder.path, TMPDIR: folder.path, ...spec.environment } },
      [],
      !without.includes('limits'),
    )
    const watch = () =>
      new LaunchedChild(started, order, 'landlock', () => folder[Symbol.dispose]())
    return await awaitStart(spec, mounts.all, process, watch)
  } catch (cause) {
    if (process?.pid === undefined) folder[Symbol.dispose]()
    throw cause
  }
}
