import type { SystemView } from './system-view.ts'

/** Parts of the ruleset that a test can leave out, to see that something depends on each. */
export type LandlockPart = 'paths' | 'ports' | 'signals' | 'abstract'

/** The first version of Landlock that keeps signals inside: Linux 6.12. */
export const abiNeeded = 6

// See linux/landlock.h.
const right = {
  execute: 1 << 0,
  writeFile: 1 << 1,
  readFile: 1 << 2,
  readFolder: 1 << 3,
  removeFolder: 1 << 4,
  removeFile: 1 << 5,
  makeCharacterDevice: 1 << 6,
  makeFolder: 1 << 7,
  makeFile: 1 << 8,
  makeSocket: 1 << 9,
  makePipe: 1 << 10,
  makeBlockDevice: 1 << 11,
  makeLink: 1 << 12,
  moveBetween: 1 << 13,
  truncate: 1 << 14,
  deviceControl: 1 << 15,
} as const

const sum = (...bits: readonly number[]): number => bits.reduce((all, bit) => all | bit, 0)
const every = sum(...Object.values(right))
/** Rights that can be ruled for something that is no folder. */
const ofFiles = sum(right.execute, right.writeFile, right.readFile, right.truncate)

const reading = sum(right.execute, right.readFile, right.readFolder)
const writing = every & ~sum(right.makeCharacterDevice, right.makeBlockDevice, right.deviceControl)

/** Rights on a mount. */
export const accessOf = (mount: { readonly isFolder: boolean; readonly writable: boolean }) =>
  (mount.writable ? writing : reading) & (mount.isFolder ? every : ofFiles)

const plainRead = right.readFile
const device = sum(right.readFile, right.writeFile, right.truncate)

/** Harmless devices, and facts of the machine that programs ask for; nothing that tells of other processes. */
const common: readonly (readonly [path: string, access: number])[] = [
  ...['/dev/null', '/dev/zero', '/dev/full'].map((path) => [path, device] as const),
  ...['/dev/random', '/dev/urandom'].map((path) => [path, plainRead] as const),
  ...['cpuinfo', 'meminfo', 'stat', 'uptime', 'version', 'filesystems'].map(
    (name) => [`/proc/${name}`, plainRead] as const,
  ),
  ['/sys/devices/system/cpu/online', plainRead],
  ['/sys/devices/system/cpu/possible', plainRead],
]

export type PathRule = { readonly path: string; readonly access: number }

/** Parts of the system that every program may read. A path that is missing on this machine is passed over. */
export const systemRules = (view: SystemView): readonly PathRule[] => [
  ...view.folders.map((path) => ({ path, access: reading })),
  ...view.shown.map((path) => ({ path, access: right.readFile | right.readFolder })),
  ...view.copied.map((path) => ({ path, access: plainRead })),
  ...common.map(([path, access]) => ({ path, access })),
]

/** `struct landlock_ruleset_attr`: everything is refused that no rule allows. */
export const rulesetOf = (
  without: readonly string[] = [],
): { readonly paths: number; readonly ports: number; readonly scoped: number } => {
  const on = (part: LandlockPart, bits: number) => (without.includes(part) ? 0 : bits)
  return {
    paths: on('paths', every),
    // Neither bind nor connect.
    ports: on('ports', 0b11),
    scoped: on('abstract', 0b01) | on('signals', 0b10),
  }
}

/**
 * A mount that is read-only inside one that is not, if there is any: rules only ever add rights on the way
 * down a path, so it could not be kept.
 */
export const weakened = <M extends { readonly path: string; readonly writable: boolean }>(
  mounts: readonly M[],
): M | undefined =>
  mounts.find(
    ({ path, writable }) =>
      !writable && mounts.some((outer) => outer.writable && path.startsWith(`${outer.path}/`)),
  )
