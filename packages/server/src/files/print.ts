import { type BigIntStats, constants, fstatSync, lstatSync, readlinkSync } from 'node:fs'
import { GatehouseError } from '@gatehouse/contract'
import type { Fingerprint } from '../ports/files.ts'
import { digestFile } from './digest.ts'
import type { Dir } from './dir.ts'
import { letGo, openThere } from './open.ts'
import { pause } from './pause.ts'

/** Larger files are bound by identity, size and times of change. */
const digestBytesMax = 16 * 1024 * 1024
const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

const identityParts = ['type', 'dev', 'ino'] as const
const parts = [...identityParts, 'version', 'sha256'] as const
export const nothing = { type: null, dev: null, ino: null, version: null, sha256: null }

const identity = (stat: BigIntStats): Fingerprint => ({
  type: stat.isFile() ? 'file' : stat.isDirectory() ? 'directory' : 'other',
  dev: String(stat.dev),
  ino: String(stat.ino),
})

const versionOf = (stat: BigIntStats): string => `${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`

/** Fingerprint of an open file or folder, without the way to it, and its state when that was begun. */
export const printOf = async (
  fd: number,
): Promise<{ readonly seen: BigIntStats; readonly print: Fingerprint }> => {
  const seen = fstatSync(fd, { bigint: true })
  const who = identity(seen)
  const print =
    !seen.isFile() || seen.size > digestBytesMax
      ? { ...who, version: versionOf(seen), sha256: null }
      : { ...who, version: null, sha256: await digestFile(fd, Number(seen.size)) }
  return { seen, print }
}

/** Whether two looks saw the same state of the same thing; `undefined` is a name at which nothing stood. */
export const sameVersion = (a: BigIntStats | undefined, b: BigIntStats | undefined): boolean =>
  a?.dev === b?.dev && a?.ino === b?.ino && a?.size === b?.size && a?.ctimeNs === b?.ctimeNs

/** State of what stands at a path, a link as itself. */
export const look = (at: string): BigIntStats | undefined =>
  lstatSync(at, { bigint: true, throwIfNoEntry: false })

type Standing = { readonly seen: BigIntStats | undefined; readonly print: Fingerprint }

const printAt = async (at: string): Promise<Standing> => {
  const fd = openThere(at, readFlags)
  try {
    return await printOf(fd)
  } finally {
    letGo(fd)
  }
}

const standing = async (at: string): Promise<Standing> => {
  const seen = look(at)
  if (seen?.isFile() || seen?.isDirectory()) return await printAt(at)
  const link = seen?.isSymbolicLink() ? readlinkSync(at) : null
  return { seen, print: { ...nothing, link } }
}

export const stale = (path: string): GatehouseError =>
  new GatehouseError('ApprovalStale', { detail: `${path} has changed since it was asked for` })

/**
 * Compares the place too, by which "nothing is there" is bound to one.
 * @SECURITY A folder on the way that became a link leads to a place that nobody was shown; bound-places.test.ts.
 */
const assertPrint = (
  found: Fingerprint,
  bound: Fingerprint,
  path: string,
  compared: readonly (typeof parts)[number][],
): void => {
  const shown = bound['path']
  if (path !== shown) {
    const detail = `its path leads to ${path} by now, not to ${shown}`
    throw new GatehouseError('ApprovalStale', { detail })
  }
  if (compared.some((part) => found[part] !== bound[part])) throw stale(path)
}

/** Raises `ApprovalStale` unless an open file or folder is the one that a person agreed to, as it was then. */
export const assertBound = async (fd: number, path: string, bound: Fingerprint): Promise<void> => {
  assertPrint((await printOf(fd)).print, bound, path, parts)
}

/** The same for a file that may have grown since; null is a file that was not there. */
export const assertSameFile = (fd: number | null, path: string, bound: Fingerprint): void => {
  const found: Fingerprint = fd === null ? nothing : identity(fstatSync(fd, { bigint: true }))
  assertPrint(found, bound, path, identityParts)
}

/** A name in an open folder, and the thing there that a person agreed to; no `bound` where nobody had to. */
export type BoundName = {
  readonly dir: Dir
  readonly name: string
  readonly path: string
  readonly bound?: Fingerprint | null | undefined
}

const verifyOne = async (
  { dir, name, path }: BoundName,
  bound: Fingerprint,
): Promise<() => boolean> => {
  const at = dir.at + name
  const { seen, print } = await standing(at)
  assertPrint(print, bound, path, parts)
  if ((print['link'] ?? null) !== (bound['link'] ?? null)) throw stale(path)
  return () => sameVersion(seen, look(at))
}

/**
 * Compares what stands under each name with what a person agreed to, or raises `ApprovalStale`, and returns a last
 * look to be taken right before the change. Nothing of ours comes between that look and the change.
 * @SECURITY An approved change is of what was shown, though another comes as it begins; bound-changes.test.ts.
 */
export const verifyBound = async (names: readonly BoundName[]): Promise<() => boolean> => {
  const looks: (() => boolean)[] = []
  for (const name of names) if (name.bound) looks.push(await verifyOne(name, name.bound))
  return () => looks.every((isUnchanged) => isUnchanged())
}

const triesMax = 100

/**
 * Pause before a comparison is repeated because its last look saw another state of the same content. Others go first,
 * and a thing that is touched again and again is told as changed in the end.
 */
export const repeating = (path: string, isBound: boolean): (() => Promise<void>) => {
  let tries = 0
  return async () => {
    tries += 1
    if (tries < triesMax) return await pause()
    const sha256 = 'not to be told, it is changed again and again'
    throw isBound ? stale(path) : new GatehouseError('FileChanged', { path, sha256 })
  }
}
