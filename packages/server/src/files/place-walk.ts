import { posix } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import type { Roots } from './roots.ts'
import { type Walk, walkTo } from './walk.ts'

/** The option of a capability that makes folders on the way, and whether it was set. */
export type Parents = { readonly option: string; readonly make: boolean }

/** Walks to where a thing is to stand; a folder that is missing on the way is named, with what makes it. */
export const walkToPlace = (
  roots: Roots,
  shown: string,
  options: { readonly parents: Parents | null; readonly argument?: string },
): Walk => {
  const { parents, argument } = options
  try {
    return walkTo(roots, shown, 'write', {
      makeFolders: parents?.make ?? false,
      ...(argument ? { argument } : {}),
    })
  } catch (error) {
    if (!(error instanceof GatehouseError) || error.type !== 'FileNotFound') throw error
    const facts = { path: shown, folder: posix.dirname(shown) }
    if (!parents) throw new GatehouseError('FolderNotFound', facts, { cause: error })
    const { option } = parents
    const description = `Set ${option} to true: the folders on the way are then made as well.`
    const recovery = [{ action: option, description }]
    throw new GatehouseError('FolderNotFound', facts, { cause: error, recovery })
  }
}

/** Whether a folder was missing; of a root that was deleted and made again, another try finds it. */
export const isMissing = (error: unknown): boolean =>
  error instanceof GatehouseError &&
  (error.type === 'FileNotFound' || error.type === 'FolderNotFound')
