import type { SystemView } from './system-view.ts'

/** Parts of the command line that a test can leave out, to see that something depends on each. */
export type Protection = 'network' | 'nesting' | 'read-only' | 'temporary size'

export type BoundMount = {
  /** Where bubblewrap finds it. */
  readonly source: string
  readonly target: string
  readonly writable: boolean
}

export type ArgumentOptions = {
  readonly system: SystemView
  readonly mounts: readonly BoundMount[]
  /** Folders that would be seen through the system's own, and must not be. */
  readonly hidden: readonly string[]
  readonly temporaryBytes: number
  /** Descriptor of the filter. */
  readonly filter: number
  /** The launcher inside, with its arguments. */
  readonly command: readonly string[]
  readonly without?: readonly Protection[]
}

const depth = (path: string): number => path.split('/').length

/** User id inside (nobody): it stands for the user that runs all of it outside. */
export const insideUid = 65_534

/**
 * The command line of bubblewrap. What is not named here does not exist inside: no home, no data of the
 * service, no network, no other process.
 * @SECURITY Each protection is held by a probe in sandbox-escape.test.ts, which sees it fall without.
 */
export const bubblewrapArguments = (options: ArgumentOptions): string[] => {
  const { system, hidden, temporaryBytes } = options
  const has = (part: Protection, ...args: string[]) => (options.without?.includes(part) ? [] : args)
  const mounts = options.mounts.toSorted((a, b) => depth(a.target) - depth(b.target))
  const size = ['--size', String(temporaryBytes)]
  return [
    '--unshare-user',
    ...['--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    // The launcher ends all processes that it can see, so this one can never be left out.
    ...['--unshare-pid', '--as-pid-1'],
    ...has('network', '--unshare-net'),
    ...has('nesting', '--disable-userns'),
    ...['--uid', String(insideUid), '--gid', String(insideUid), '--hostname', 'gatehouse'],
    ...['--cap-drop', 'ALL', '--clearenv', '--die-with-parent', '--new-session'],
    ...system.folders.flatMap((path) => ['--ro-bind', path, path]),
    ...system.links.flatMap(({ path, target }) => ['--symlink', target, path]),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...[...has('temporary size', ...size), '--tmpfs', '/dev/shm'],
    ...has('read-only', '--remount-ro', '/dev'),
    ...[...has('temporary size', ...size), '--tmpfs', '/tmp'],
    ...hidden.flatMap((path) => ['--size', '4096', '--tmpfs', path]),
    ...mounts.flatMap(({ source, target, writable }) => [
      writable ? '--bind' : '--ro-bind',
      source,
      target,
    ]),
    ...system.shown.flatMap((path) => ['--ro-bind', path, path]),
    ...hidden.flatMap((path) => has('read-only', '--remount-ro', path)),
    ...has('read-only', '--remount-ro', '/'),
    ...['--seccomp', String(options.filter)],
    '--',
    ...options.command,
  ]
}
