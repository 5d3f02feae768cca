import { fchownSync, fstatSync } from 'node:fs'
import type { Dir } from './dir.ts'

const isRoot = process.getuid?.() === 0

/**
 * Gives what the service just made to the owner of the folder it stands in. Matters where the service is
 * root alone: its programs run as another user, to whom a workspace belongs, and must be able to use it.
 */
export const passToOwner: (fd: number, dir: Dir) => void = isRoot
  ? (fd, dir) => {
      const { uid, gid } = fstatSync(dir.fd)
      if (uid !== 0) fchownSync(fd, uid, gid)
    }
  : () => {}

/** The same for a folder by its name, which may not be a link by now. */
export const passFolderToOwner: (name: string, dir: Dir) => void = isRoot
  ? (name, dir) => {
      const made = dir.child(name)
      try {
        passToOwner(made.fd, dir)
      } finally {
        made.close()
      }
    }
  : () => {}
