import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  lchownSync,
  lstatSync,
  openSync,
  readdirSync,
} from 'node:fs'
import type { ServiceUser } from './service-user.ts'

const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW

const codeOf = (cause: unknown) => (cause as NodeJS.ErrnoException).code

/** Everything below, one descriptor a step; links themselves, never where they lead. */
const handOverInside = (descriptor: number, device: number, user: ServiceUser): void => {
  const at = `/proc/self/fd/${descriptor}/`
  for (const name of readdirSync(at)) {
    const stat = lstatSync(at + name, { throwIfNoEntry: false })
    if (!stat || stat.dev !== device) continue
    if (!stat.isDirectory()) {
      // The other name of a hard link may be a file that was never the agent's.
      if (stat.uid !== user.uid && (stat.nlink === 1 || stat.isSymbolicLink()))
        lchownSync(at + name, user.uid, user.gid)
      continue
    }
    let child: number
    try {
      child = openSync(at + name, folderFlags)
    } catch (cause) {
      if (['ENOENT', 'ELOOP', 'ENOTDIR'].includes(codeOf(cause) ?? '')) continue
      throw cause
    }
    try {
      handOverInside(child, device, user)
      fchownSync(child, user.uid, user.gid)
    } finally {
      closeSync(child)
    }
  }
}

/**
 * Gives a folder of the service to the service user, with all that it holds: once, before anything ran
 * in it. The folder itself comes last, so that one that was broken off begins anew.
 */
export const handOver = (path: string, user: ServiceUser): void => {
  const descriptor = openSync(path, folderFlags)
  try {
    const stat = fstatSync(descriptor)
    if (stat.uid === user.uid) return
    handOverInside(descriptor, stat.dev, user)
    fchownSync(descriptor, user.uid, user.gid)
  } finally {
    closeSync(descriptor)
  }
}
