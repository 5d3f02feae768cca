import { fsyncSync, mkdirSync } from 'node:fs'
import { GatehouseError } from '@gatehouse/contract'
import { failure } from './failure.ts'
import { passFolderToOwner } from './owner.ts'
import { walkToPlace } from './place-walk.ts'
import type { Roots } from './roots.ts'
import { followToStat } from './write.ts'

export const makeFolder = (
  roots: Roots,
  shown: string,
  options: { readonly parents: boolean },
): { readonly path: string; readonly created: boolean } => {
  using walk = walkToPlace(roots, shown, { parents: { option: 'parents', make: options.parents } })
  try {
    const old = followToStat(walk)
    walk.assertPermitted()
    if (old && !old.isDirectory()) throw new GatehouseError('AlreadyExists', { path: shown })
    if (old) return { path: walk.path, created: false }
    mkdirSync(walk.at)
    if (walk.leaf !== null) passFolderToOwner(walk.leaf, walk.dir)
    fsyncSync(walk.dir.fd)
    return { path: walk.path, created: true }
  } catch (error) {
    throw failure(error, shown)
  }
}
