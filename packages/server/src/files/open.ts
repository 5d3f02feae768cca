import { closeSync, constants, fstatSync, lstatSync, openSync, type Stats } from 'node:fs'
import { GatehouseError } from '@gatehouse/contract'
import { codeOf, failure } from './failure.ts'
import type { Walk } from './walk.ts'

export type Opened = { readonly fd: number; readonly stat: Stats }

// O_NONBLOCK: opening a FIFO must not wait for somebody at its other end.
const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

export const isLinkCode = (code: string | undefined): boolean =>
  code === 'ELOOP' || code === 'EMLINK'

const triesMax = 8

/** Closes what was read, or synced before: a network file system may fail even then, and nothing is lost. */
export const letGo = (fd: number): void => {
  try {
    closeSync(fd)
  } catch (error) {
    if (codeOf(error) === 'EBADF') throw error
  }
}

/** Again where what was opened turns out to be replaced by another machine, after a look at its name. */
export const retryingStale = <T>(open: () => T, look: () => void): T => {
  for (let tries = 1; ; tries += 1)
    try {
      return open()
    } catch (error) {
      const cause = error instanceof GatehouseError ? error.cause : error
      if (codeOf(cause) !== 'ESTALE' || tries === triesMax) throw error
      // A system that fails to look at a name asks anew where it leads; of what is open it only says that it is gone.
      look()
    }
}

/** Opens something that is there, and knows that it can be used. */
export const openThere = (at: string, flags: number): number =>
  retryingStale(
    () => {
      const fd = openSync(at, flags)
      try {
        fstatSync(fd)
        return fd
      } catch (error) {
        letGo(fd)
        throw error
      }
    },
    () => lstatSync(at, { throwIfNoEntry: false }),
  )

/**
 * Opens the regular file at the end of a walk, following links inside the roots.
 * @SECURITY `O_NOFOLLOW` here and fstat of what is open, never of a path (confinement.test.ts, F03-F05).
 */
export const openFile = (walk: Walk, shown: string, denyHardlinks: boolean): Opened =>
  retryingStale(
    () => openOnce(walk, shown, denyHardlinks),
    () => leafStat(walk),
  )

const openOnce = (walk: Walk, shown: string, denyHardlinks: boolean): Opened => {
  for (;;) {
    if (walk.leaf === null) throw new GatehouseError('IsADirectory', { path: shown })
    let fd: number
    try {
      fd = openSync(walk.dir.at + walk.leaf, readFlags)
    } catch (error) {
      if (isLinkCode(codeOf(error)) && walk.followLeaf()) continue
      throw failure(error, shown)
    }
    try {
      const stat = fstatSync(fd)
      if (!stat.isFile()) {
        const type = stat.isDirectory() ? 'IsADirectory' : 'NotARegularFile'
        throw new GatehouseError(type, { path: shown })
      }
      if (denyHardlinks && stat.nlink > 1) throw new GatehouseError('TooManyLinks', { path: shown })
      walk.root.assertSameMount(fd, stat.dev, shown)
      walk.assertHolds()
      walk.assertPermitted()
      return { fd, stat }
    } catch (error) {
      letGo(fd)
      throw failure(error, shown)
    }
  }
}

/** Entry at the leaf, not followed; null when there is none. */
export const leafStat = (walk: Walk): Stats | null =>
  lstatSync(walk.at, { throwIfNoEntry: false }) ?? null

/**
 * A link as an object (to be moved, deleted, looked at) is left alone when it leads outside the roots:
 * this walks where it leads, and lets the refusal through.
 */
export const assertLinkStays = (again: () => Walk): void => {
  using walk = again()
  try {
    while (walk.followLeaf());
  } catch (error) {
    // A dangling or circular link leads nowhere, which is not outside.
    if (error instanceof GatehouseError && error.type === 'PathOutOfScope') throw error
  }
}
