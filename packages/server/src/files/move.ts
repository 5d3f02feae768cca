import { constants, fstatSync, type Stats, unlinkSync } from 'node:fs'
import { GatehouseError } from '@gatehouse/contract'
import type { CopyOptions, CopyResult } from '../ports/files.ts'
import { copyOpenFile, type Deps } from './copy.ts'
import { digestFile } from './digest.ts'
import type { Dir } from './dir.ts'
import { type Entry, openEntry } from './entry.ts'
import { codeOf, failure } from './failure.ts'
import { named } from './identity.ts'
import { assertLinkStays, leafStat, letGo, openThere } from './open.ts'
import { assertEntryPermitted } from './permitted-tree.ts'
import { walkToPlace } from './place-walk.ts'
import { type BoundName, look, repeating, sameVersion, verifyBound } from './print.ts'
import { rename } from './publish.ts'
import type { Root } from './root.ts'
import type { Roots } from './roots.ts'
import { fsyncOf } from './transfer.ts'
import { walkTo } from './walk.ts'
import { assertReplaceable, type Place } from './write.ts'

/** Larger files are moved without being read. */
const digestBytesMax = 16 * 1024 * 1024

const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

type Target = {
  readonly root: Root
  readonly dir: Dir
  readonly name: string
  readonly path: string
  readonly old: Stats | null
}

/** The name that a thing gets; a link standing there is the thing to be replaced, not its target. */
const openTarget = (roots: Roots, shown: string): Target => {
  using walk = walkToPlace(roots, shown, { parents: null, argument: 'destination' })
  try {
    const name = walk.asEntry()
    walk.assertPermitted()
    const { path, root } = walk
    const old = leafStat(walk)
    if (old?.isSymbolicLink()) assertLinkStays(() => walkTo(roots, shown, 'read'))
    return { root, name, path, old, dir: walk.takeDir() }
  } catch (error) {
    throw failure(error, shown)
  }
}

const digestOfSource = async (source: Entry): Promise<string | null> => {
  if (!source.stat.isFile() || source.stat.size > digestBytesMax) return null
  const fd = openThere(source.dir.at + source.name, readFlags)
  try {
    return await digestFile(fd, fstatSync(fd).size)
  } finally {
    letGo(fd)
  }
}

/** Place of a file that comes from another root; a link there is replaced as the link that it is, as in one root. */
const placeOf = (target: Target, shown: string, denyHardlinks: boolean): Place => {
  const { root, dir, name, path } = target
  const old = target.old?.isSymbolicLink() ? null : target.old
  if (old) assertReplaceable(old, dir.at + name, { shown, denyHardlinks })
  root.assertSameMount(dir.fd, dir.device(), shown)
  return { dir, name, path, old }
}

const changed = (path: string, isBound: boolean, copy: string | null): GatehouseError => {
  const left = copy === null ? '' : `; it stays, and ${copy} is a copy of what it was`
  const detail = `${path} has changed while it was moved${left}`
  if (isBound) return new GatehouseError('ApprovalStale', { detail })
  return new GatehouseError('FileChanged', { path, sha256: `another than when it was read${left}` })
}

const moveAcross = async (
  deps: Deps,
  source: Entry,
  target: Target,
  to: string,
  options: CopyOptions,
): Promise<CopyResult> => {
  if (!source.stat.isFile()) {
    const detail = 'only files move between two of your folders; copy the folder, then delete it'
    throw new GatehouseError('InvalidPath', { detail })
  }
  const { dir, name, path, identity } = source
  const place = placeOf(target, to, deps.denyHardlinks)
  const at = dir.at + name
  const fd = openThere(at, readFlags)
  try {
    const seen = fstatSync(fd, { bigint: true })
    if (named(seen) !== identity) throw new GatehouseError('PathOutOfScope', { path })
    const standing = () => {
      const now = look(at)
      if (!now || named(now) !== identity) return 'gone'
      return sameVersion(seen, now) ? 'as copied' : 'changed'
    }
    const isBound = Boolean(options.bound)
    const verify = async () => {
      if (standing() === 'changed') throw changed(path, isBound, null)
      return () => standing() !== 'changed'
    }
    const file = { path, fd, mode: Number(seen.mode) & 0o777 }
    const result = await copyOpenFile(deps, file, place, { ...options, isEntry: true, verify })
    const left = standing()
    if (left === 'changed') throw changed(path, isBound, place.path)
    // @SECURITY Only what was copied is taken away, whatever stands under its name by now; files.test.ts.
    if (left === 'as copied') unlinkSync(at)
    await fsyncOf(dir.fd)
    return result
  } finally {
    letGo(fd)
  }
}

const boundEnds = (source: Entry, target: Target, { bound }: CopyOptions): BoundName[] =>
  bound
    ? [
        { ...source, bound: bound.source },
        { ...target, bound: bound.destination },
      ]
    : []

export const movePath = async (
  deps: Deps,
  from: string,
  to: string,
  options: CopyOptions,
): Promise<CopyResult> => {
  const source = openEntry(deps.roots, from, 'source')
  let target: Target | null = null
  try {
    if (deps.denyHardlinks && source.stat.isFile() && source.stat.nlink > 1)
      throw new GatehouseError('TooManyLinks', { path: from })
    target = openTarget(deps.roots, to)
    if (target.old && !options.overwrite) throw new GatehouseError('AlreadyExists', { path: to })
    if (target.root !== source.root) return await moveAcross(deps, source, target, to, options)
    if (source.stat.isDirectory()) {
      const sides = [
        { path: source.path, argument: 'source' },
        { path: target.path, argument: 'destination' },
      ]
      await assertEntryPermitted(deps.roots, source, sides, from)
    }
    const sha256 = await digestOfSource(source)
    const names = boundEnds(source, target, options)
    const again = repeating(source.path, names.length > 0)
    while (!(await verifyBound(names))()) await again()
    if (!source.dir.holds() || !target.dir.holds()) {
      throw new GatehouseError('PathOutOfScope', { path: from })
    }
    rename(source, target, { replace: options.overwrite })
    await fsyncOf(target.dir.fd)
    await fsyncOf(source.dir.fd)
    const size_bytes = source.stat.isFile() ? source.stat.size : 0
    return { source: source.path, destination: target.path, size_bytes, sha256 }
  } catch (error) {
    throw failure(error, codeOf(error) === 'ENOENT' ? from : to)
  } finally {
    source.dir.close()
    target?.dir.close()
  }
}
