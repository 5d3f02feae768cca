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
/** Entries between two rests, in which the service answers others. */
const sliceMax = 500

const codeOf = (cause: unknown) => (cause as NodeJS.ErrnoException).code

const openFolder = (path: string): number | null => {
  try {
    return openSync(path, folderFlags)
  } catch (cause) {
    if (['ENOENT', 'ELOOP', 'ENOTDIR'].includes(codeOf(cause) ?? '')) return null
    throw cause
  }
}

type Progress = { seen: number }

/** Everything below, one descriptor a step; links themselves, never where they lead. */
const handOverInside = async (
  descriptor: number,
  device: number,
  user: ServiceUser,
  progress: Progress,
): Promise<void> => {
  const at = `/proc/self/fd/${descriptor}/`
  for (const name of readdirSync(at)) {
    progress.seen += 1
    if (progress.seen % sliceMax === 0) await new Promise((resolve) => setImmediate(resolve))
    const stat = lstatSync(at + name, { throwIfNoEntry: false })
    if (!stat || stat.dev !== device) continue
    if (!stat.isDirectory()) {
      // The other name of a hard link may be a file that was never the agent's.
      if (stat.uid !== user.uid && (stat.nlink === 1 || stat.isSymbolicLink()))
        lchownSync(at + name, user.uid, user.gid)
      continue
    }
    const child = openFolder(at + name)
    if (child === null) continue
    try {
      await handOverInside(child, device, user, progress)
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
export const handOver = async (path: string, user: ServiceUser): Promise<void> => {
  const descriptor = openSync(path, folderFlags)
  try {
    const stat = fstatSync(descriptor)
    if (stat.uid === user.uid) return
    await handOverInside(descriptor, stat.dev, user, { seen: 0 })
    fchownSync(descriptor, user.uid, user.gid)
  } finally {
    closeSync(descriptor)
  }
}
