import { accessSync, constants, fchmodSync, fchownSync, fstatSync, type Stats } from 'node:fs'
import { GatehouseError } from '@gatehouse/contract'
import type { Fingerprint } from '../ports/files.ts'
import { digestFile, digestOf } from './digest.ts'
import type { Dir } from './dir.ts'
import { failure } from './failure.ts'
import { leafStat, letGo, openThere } from './open.ts'
import { walkToPlace } from './place-walk.ts'
import { look, repeating, sameVersion, verifyBound } from './print.ts'
import { rename } from './publish.ts'
import type { Roots } from './roots.ts'
import type { Temps } from './temps.ts'
import { fsyncOf, writeAll } from './transfer.ts'
import type { Walk } from './walk.ts'

export type WriteOptions = {
  readonly createParents: boolean
  readonly ifSha256?: string
  readonly mustBeNew?: boolean
  readonly bound?: Fingerprint | null | undefined
}

export type Written = {
  readonly path: string
  readonly size_bytes: number
  readonly sha256: string
  readonly created: boolean
}

/** Where a file is to stand: its folder, held open, and what stands there now. */
export type Place = {
  readonly dir: Dir
  readonly name: string
  readonly path: string
  readonly old: Stats | null
}

const newFileMode = 0o666 & ~process.umask()

/** Raises where a file may not take the place of what stands there. */
export const assertReplaceable = (
  old: Stats,
  at: string,
  { shown, denyHardlinks }: { readonly shown: string; readonly denyHardlinks: boolean },
): void => {
  if (old.isDirectory()) throw new GatehouseError('IsADirectory', { path: shown })
  if (!old.isFile()) throw new GatehouseError('NotARegularFile', { path: shown })
  if (denyHardlinks && old.nlink > 1) throw new GatehouseError('TooManyLinks', { path: shown })
  // A rename would get around the file's own permission bits.
  accessSync(at, constants.W_OK)
}

/** Entry at the end of the walk, after links inside the roots; the walk then stands at that place. */
export const followToStat = (walk: Walk): Stats | null => {
  for (;;) {
    const stat = leafStat(walk)
    if (!stat?.isSymbolicLink() || !walk.followLeaf()) return stat
  }
}

/** Close the place's `dir` when done. */
export const openPlace = (
  roots: Roots,
  shown: string,
  options: {
    /** Null where the caller has no option for it. */
    readonly createParents: boolean | null
    readonly denyHardlinks: boolean
    readonly argument?: string
  },
): Place => {
  const { createParents: make, argument } = options
  const parents = make === null ? null : { option: 'create_parents', make }
  using walk = walkToPlace(roots, shown, { parents, ...(argument ? { argument } : {}) })
  try {
    const old = followToStat(walk)
    walk.assertPermitted()
    if (walk.leaf === null) throw new GatehouseError('IsADirectory', { path: shown })
    if (old) assertReplaceable(old, walk.at, { shown, denyHardlinks: options.denyHardlinks })
    const { leaf: name, path, root } = walk
    const dir = walk.takeDir()
    try {
      root.assertSameMount(dir.fd, dir.device(), shown)
      return { dir, name, path, old }
    } catch (error) {
      dir.close()
      throw error
    }
  } catch (error) {
    throw failure(error, shown)
  }
}

/**
 * Compares the file with the digest that the caller saw, and returns a last look to be taken right before
 * the rename. Nothing of ours comes between that look and the rename; another process still could.
 */
const verifyDigest = async (
  place: Place,
  shown: string,
  expected: string,
): Promise<() => boolean> => {
  if (!place.old)
    throw new GatehouseError('FileChanged', { path: shown, sha256: 'none, it is gone' })
  const at = place.dir.at + place.name
  const fd = openThere(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const seen = fstatSync(fd, { bigint: true })
    if (!seen.isFile()) throw new GatehouseError('NotARegularFile', { path: shown })
    const sha256 = await digestFile(fd, Number(seen.size))
    if (sha256 !== expected) throw new GatehouseError('FileChanged', { path: shown, sha256 })
    return () => sameVersion(seen, look(at))
  } finally {
    letGo(fd)
  }
}

const setMode = (fd: number, old: Stats | null, fresh: number): void => {
  if (old && (old.uid !== process.geteuid?.() || old.gid !== process.getegid?.())) {
    try {
      fchownSync(fd, old.uid, old.gid)
    } catch {
      // Only root may give files away; the new one is then the service's own, like any it makes.
    }
  }
  // @SECURITY Never a set-id or sticky bit (files.test.ts).
  fchmodSync(fd, (old?.mode ?? fresh) & 0o777)
}

export type PublishOptions = {
  readonly replace: boolean
  /** Permission bits of a file that was not there before. */
  readonly mode?: number
  readonly verify?: () => Promise<() => boolean>
  /** Fingerprint of what a person agreed to see replaced; null where nobody had to. */
  readonly bound?: Fingerprint | null | undefined
  /** Whether that is of the very name; else links were followed on the way to the place. */
  readonly isEntry?: boolean
}

/** Fills a file under a temporary name, makes it durable, and puts it in its place in one step. */
export const publishFile = async (
  temps: Temps,
  place: Place,
  options: PublishOptions,
  fill: (fd: number) => Promise<void>,
): Promise<void> => {
  const { dir } = place
  const { bound, isEntry = false } = options
  // One that stands at a place after links were followed to it is another thing.
  const names = bound ? [{ ...place, bound: isEntry ? bound : { ...bound, link: null } }] : []
  const temp = await temps.createFile(dir)
  try {
    try {
      await fill(temp.fd)
      setMode(temp.fd, place.old, options.mode ?? newFileMode)
      await fsyncOf(temp.fd)
    } finally {
      letGo(temp.fd)
    }
    const again = repeating(place.path, names.length > 0)
    for (;;) {
      const isOld = await options.verify?.()
      const isBound = await verifyBound(names)
      if ((isOld?.() ?? true) && isBound()) break
      await again()
    }
    if (!dir.holds()) throw new GatehouseError('PathOutOfScope', { path: place.path })
    rename({ dir, name: temp.name }, { dir, name: place.name }, options)
    temps.published(temp.name)
  } catch (error) {
    await temps.drop(dir, temp.name)
    throw error
  }
  await fsyncOf(dir.fd)
}

export const writeFile = async (
  deps: { readonly roots: Roots; readonly temps: Temps; readonly denyHardlinks: boolean },
  shown: string,
  bytes: Uint8Array,
  options: WriteOptions,
): Promise<Written> => {
  const { createParents, ifSha256, mustBeNew = false, bound } = options
  const { denyHardlinks } = deps
  const place = openPlace(deps.roots, shown, { createParents, denyHardlinks })
  try {
    if (mustBeNew && place.old) throw new GatehouseError('AlreadyExists', { path: shown })
    const verify = ifSha256 === undefined ? null : () => verifyDigest(place, shown, ifSha256)
    await verify?.()
    const sha256 = await digestOf(bytes)
    await publishFile(
      deps.temps,
      place,
      { replace: !mustBeNew, bound, ...(verify ? { verify } : {}) },
      (fd) => writeAll(fd, bytes),
    )
    return { path: place.path, size_bytes: bytes.length, sha256, created: !place.old }
  } catch (error) {
    throw failure(error, shown)
  } finally {
    place.dir.close()
  }
}
