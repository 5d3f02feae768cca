import { GatehouseError } from '@gatehouse/contract'
import type { FileEntry, FoundEntry } from '../ports/files.ts'
import type { Dir } from './dir.ts'
import { saying } from './failure.ts'
import { entriesOf, entryOf, openFolder } from './look.ts'
import { depthMax } from './paths.ts'
import { Slice } from './pause.ts'
import type { Root } from './root.ts'
import type { Roots } from './roots.ts'
import { walkTo } from './walk.ts'
import { followToStat } from './write.ts'

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

export type TreeOptions = {
  readonly enter?: (folder: FoundEntry) => boolean
  readonly withheld?: (path: string) => void
}

type Start =
  | { readonly kind: 'file'; readonly found: FoundEntry }
  | { readonly kind: 'folder'; readonly dir: Dir; readonly root: Root; readonly path: string }

const openStart = (roots: Roots, shown: string): Start => {
  using walk = walkTo(roots, shown, 'read')
  const stat = saying(shown, () => followToStat(walk))
  if (stat?.isFile() && walk.leaf !== null) {
    walk.assertPermitted()
    const { leaf, path } = walk
    return { kind: 'file', found: { ...entryOf(leaf, stat), path, relative: leaf } }
  }
  const dir = openFolder(walk, shown)
  return { kind: 'folder', dir, root: walk.root, path: walk.path }
}

/** Depth first, by name, each folder held open while it is in hand; links are reported, never followed. */
export async function* treeBelow(
  roots: Roots,
  shown: string,
  signal: AbortSignal,
  { enter = () => true, withheld = () => {} }: TreeOptions,
): AsyncGenerator<FoundEntry> {
  const start = openStart(roots, shown)
  if (start.kind === 'file') {
    yield start.found
    return
  }
  const { root, path: top } = start
  const slice = new Slice()
  const levels: Level[] = []
  try {
    levels.push(await openLevel(start.dir, top))
    for (let level = levels.at(-1); level; level = levels.at(-1)) {
      if (signal.aborted) return
      const entry = level.entries[level.next++]
      if (!entry) {
        levels.pop()
        level.dir.close()
        continue
      }
      const path = `${level.path}/${entry.name}`
      if (slice.isDue()) await slice.rest()
      // @SECURITY Of each thing that is reached, not of the folder that was named; reached-files.test.ts.
      if (!roots.permits(path)) {
        withheld(path)
        continue
      }
      const found = { ...entry, path, relative: path.slice(top.length + 1) }
      yield found
      if (entry.type === 'directory' && levels.length < depthMax && enter(found)) {
        const dir = openBelow(level.dir, entry.name, root, path)
        if (dir) levels.push(await openLevel(dir, path))
      }
    }
  } finally {
    for (const level of levels) level.dir.close()
  }
}
