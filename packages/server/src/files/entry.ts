import type { Stats } from 'node:fs'
import { GatehouseError } from '@gatehouse/contract'
import type { Dir } from './dir.ts'
import { failure } from './failure.ts'
import { identityAt } from './identity.ts'
import { assertLinkStays, leafStat } from './open.ts'
import type { Root } from './root.ts'
import type { Roots } from './roots.ts'
import { walkTo } from './walk.ts'

/** A thing by its name in its folder, the folder held open; a last link is the thing itself. */
export type Entry = {
  readonly root: Root
  readonly dir: Dir
  readonly name: string
  readonly path: string
  /** Relative to the root. */
  readonly names: readonly string[]
  readonly stat: Stats
  readonly identity: string | null
}

/** @SECURITY A folder that is a root of the agent, or holds one, stays where its rules expect it; confinement.test.ts. */
const assertHoldsNoRoot = (
  roots: Roots,
  { identity, path }: Pick<Entry, 'identity' | 'path'>,
  shown: string,
): void => {
  if (!roots.all.some((root) => root.is(identity, path) || root.below(path) !== null)) return
  const detail = 'it is, or holds, one of the folders given to the agent'
  throw new GatehouseError('ProtectedPath', { path: shown, detail })
}

/** Entry that is to be moved away. Close its `dir` when done. */
export const openEntry = (roots: Roots, shown: string, argument = 'path'): Entry => {
  using walk = walkTo(roots, shown, 'write', { argument })
  try {
    const name = walk.asEntry()
    walk.assertPermitted()
    const stat = leafStat(walk)
    if (!stat) throw new GatehouseError('FileNotFound', { path: shown })
    if (stat.isSymbolicLink()) assertLinkStays(() => walkTo(roots, shown, 'read'))
    const { path, names, root } = walk
    const identity = identityAt(walk.at)
    if (stat.isDirectory()) assertHoldsNoRoot(roots, { identity, path }, shown)
    return { root, dir: walk.takeDir(), name, path, names, stat, identity }
  } catch (error) {
    throw failure(error, shown)
  }
}
