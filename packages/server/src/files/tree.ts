import { GatehouseError } from '@gatehouse/contract'
import type { FileEntry } from '../ports/files.ts'
import type { Dir } from './dir.ts'
import { entriesOf, openFolder } from './look.ts'
import { depthMax } from './paths.ts'
import { Slice } from './pause.ts'
import type { Root } from './root.ts'
import type { Roots } from './roots.ts'
import { walkTo } from './walk.ts'

type Found = FileEntry & { readonly path: string }
type Level = {
  readonly dir: Dir
  readonly path: string
  readonly entries: FileEntry[]
  next: number
}

const byName = (a: FileEntry, b: FileEntry): number => (a.name < b.name ? -1 : 1)

const openLevel = async (dir: Dir, path: string): Promise<Level> => {
  try {
    const entries = (await entriesOf(dir, path)).sort(byName)
    return { dir, path, entries, next: 0 }
  } catch (error) {
    dir.close()
    throw error
  }
}

/** A folder below: left out when it was swapped for something else, may not be read, or is another device. */
const openBelow = (parent: Dir, name: string, root: Root, path: string): Dir | null => {
  let dir: Dir
  try {
    dir = parent.child(name)
  } catch {
    return null
  }
  try {
    root.assertSameMount(dir.fd, dir.device(), path)
    if (dir.holds()) return dir
  } catch (error) {
    if (!(error instanceof GatehouseError)) throw error
  }
  dir.close()
  return null
}

/** Depth first, by name, each folder held open while it is in hand; links are reported, never followed. */
export async function* treeBelow(
  roots: Roots,
  path: string,
  signal: AbortSignal,
  enter: (entry: Found) => boolean,
): AsyncGenerator<Found> {
  let start: Dir
  let root: Root
  let real: string
  {
    using walk = walkTo(roots, path, 'read')
    start = openFolder(walk, path)
    root = walk.root
    real = walk.path
  }
  const slice = new Slice()
  const levels: Level[] = []
  try {
    levels.push(await openLevel(start, real))
    for (let level = levels.at(-1); level; level = levels.at(-1)) {
      if (signal.aborted) return
      const entry = level.entries[level.next++]
      if (!entry) {
        levels.pop()
        level.dir.close()
        continue
      }
      const found = { ...entry, path: `${level.path}/${entry.name}` }
      yield found
      if (entry.type === 'directory' && levels.length < depthMax && enter(found)) {
        const dir = openBelow(level.dir, entry.name, root, found.path)
        if (dir) levels.push(await openLevel(dir, found.path))
      }
      if (slice.isDue()) await slice.rest()
    }
  } finally {
    for (const level of levels) level.dir.close()
  }
}
