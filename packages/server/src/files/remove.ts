import { lstatSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs'
import type { Dir } from './dir.ts'
import { codeOf } from './failure.ts'
import { Slice } from './pause.ts'

const unlinkIfThere = (path: string): void => {
  try {
    unlinkSync(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}

const isFolder = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false

/**
 * Deletes what stands under a name, for good.
 * @SECURITY Goes down by descriptors: a path-based delete follows a folder that becomes a link; remove.test.ts.
 */
export const removeTree = async (dir: Dir, name: string): Promise<void> => {
  const slice = new Slice()
  const empty = async (folder: Dir): Promise<void> => {
    for (const entry of readdirSync(folder.at)) {
      if (!folder.holds()) return
      if (isFolder(folder.at + entry)) await drop(folder, entry)
      else unlinkIfThere(folder.at + entry)
      if (slice.isDue()) await slice.rest()
    }
  }
  const drop = async (parent: Dir, entry: string): Promise<void> => {
    const folder = parent.child(entry)
    try {
      await empty(folder)
    } finally {
      folder.close()
    }
    rmdirSync(parent.at + entry)
  }
  if (isFolder(dir.at + name)) await drop(dir, name)
  else unlinkIfThere(dir.at + name)
}
