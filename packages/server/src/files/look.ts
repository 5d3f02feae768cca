import { lstatSync, opendirSync, type Stats } from 'node:fs'
import { GatehouseError } from '@gatehouse/contract'
import type { FileEntry, FileStat, FileType } from '../ports/files.ts'
import type { Dir } from './dir.ts'
import { codeOf, failure, saying } from './failure.ts'
import { isReserved } from './names.ts'
import { assertLinkStays, leafStat } from './open.ts'
import { Slice } from './pause.ts'
import type { Roots } from './roots.ts'
import { type Walk, walkTo } from './walk.ts'

/** More than this in one folder is an error, not a list. */
export const entriesMax = 200_000

export const typeOf = (stat: Stats): FileType =>
  stat.isFile()
    ? 'file'
    : stat.isDirectory()
      ? 'directory'
      : stat.isSymbolicLink()
        ? 'symlink'
        : 'other'

export const entryOf = (name: string, stat: Stats): FileEntry => ({
  name,
  type: typeOf(stat),
  size_bytes: stat.size,
  modified_at: new Date(stat.mtimeMs).toISOString(),
})

export const statPath = (roots: Roots, path: string): FileStat | null => {
  try {
    using walk = walkTo(roots, path, 'read')
    const stat = saying(path, () => leafStat(walk))
    walk.assertPermitted()
    if (!stat) return null
    if (stat.isSymbolicLink()) assertLinkStays(() => walkTo(roots, path, 'read'))
    return {
      type: typeOf(stat),
      size_bytes: stat.size,
      modified_at: new Date(stat.mtimeMs).toISOString(),
      created_at: new Date(stat.birthtimeMs).toISOString(),
      permissions: (stat.mode & 0o7777).toString(8).padStart(4, '0'),
      owner: `${stat.uid}:${stat.gid}`,
    }
  } catch (error) {
    const type = error instanceof GatehouseError ? error.type : null
    if (type === 'FileNotFound' || type === 'NotADirectory') return null
    throw error
  }
}

/** The folder at the end of a walk, under a descriptor that outlives it. */
export const openFolder = (walk: Walk, shown: string): Dir => {
  for (;;) {
    if (walk.leaf === null) {
      walk.assertPermitted()
      return saying(shown, () => walk.takeDir())
    }
    try {
      walk.assertHolds()
      const dir = walk.dir.child(walk.leaf)
      try {
        walk.root.assertSameMount(dir.fd, dir.device(), shown)
        walk.assertPermitted()
      } catch (error) {
        dir.close()
        throw error
      }
      return dir
    } catch (error) {
      const code = codeOf(error)
      if ((code === 'ELOOP' || code === 'ENOTDIR' || code === 'EMLINK') && walk.followLeaf())
        continue
      throw failure(error, shown)
    }
  }
}

/** Everything in an open folder but what the service keeps there; entries that vanish meanwhile are left out. */
export const entriesOf = async (dir: Dir, shown: string): Promise<FileEntry[]> => {
  const entries: FileEntry[] = []
  const slice = new Slice()
  const reader = saying(shown, () => opendirSync(dir.at, { bufferSize: 256 }))
  try {
    for (let next = reader.readSync(); next; next = reader.readSync()) {
      if (isReserved(next.name)) continue
      const stat = lstatSync(dir.at + next.name, { throwIfNoEntry: false })
      if (stat) entries.push(entryOf(next.name, stat))
      if (entries.length > entriesMax) {
        throw new GatehouseError('QuotaExceeded', {
          limit: entriesMax,
          what: 'entries in a folder',
        })
      }
      if (slice.isDue()) await slice.rest()
    }
    return entries
  } catch (error) {
    throw failure(error, shown)
  } finally {
    reader.closeSync()
  }
}

export const listFolder = async (
  roots: Roots,
  path: string,
): Promise<{ readonly entries: readonly FileEntry[]; readonly withheld: number }> => {
  let dir: Dir
  let at: string
  {
    using walk = walkTo(roots, path, 'read')
    dir = openFolder(walk, path)
    at = walk.path
  }
  try {
    const all = await entriesOf(dir, path)
    if (!roots.reach) return { entries: all, withheld: 0 }
    const entries = all.filter(({ name }) => roots.permits(`${at}/${name}`))
    return { entries, withheld: all.length - entries.length }
  } finally {
    dir.close()
  }
}
