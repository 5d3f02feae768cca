import { GatehouseError } from '@gatehouse/contract'
import type { Dir } from './dir.ts'
import { entriesOf } from './look.ts'
import { depthMax } from './paths.ts'
import type { Roots } from './roots.ts'

/** A path that a tree has or gets, and the argument that named it. */
export type TreeSide = {
  readonly path: string
  readonly argument: string
}

/** Raises `PathNotPermitted` where the call may not touch a thing under one of the paths it has or gets. */
export const assertSidesPermitted = (
  roots: Roots,
  sides: readonly TreeSide[],
  relative: string,
  shown: string,
): void => {
  if (sides.every(({ path, argument }) => roots.permits(`${path}/${relative}`, argument))) return
  const detail = 'it holds what policy keeps from this call, so nothing of it was touched'
  throw new GatehouseError('PathNotPermitted', { path: shown, detail })
}

/** Asks for everything in an open folder. */
const assertTreePermitted = async (
  roots: Roots,
  top: Dir,
  sides: readonly TreeSide[],
  shown: string,
): Promise<void> => {
  const visit = async (dir: Dir, prefix: string, depth: number): Promise<void> => {
    if (depth > depthMax) {
      throw new GatehouseError('InvalidPath', {
        detail: `it is more than ${depthMax} folders deep`,
      })
    }
    for (const { name, type } of await entriesOf(dir, shown)) {
      const relative = `${prefix}${name}`
      assertSidesPermitted(roots, sides, relative, shown)
      if (type !== 'directory') continue
      const child = dir.child(name)
      try {
        await visit(child, `${relative}/`, depth + 1)
      } finally {
        child.close()
      }
    }
  }
  await visit(top, '', 0)
}

/** Asks for everything in a folder before it is moved as one, where there is something to ask for. */
export const assertEntryPermitted = async (
  roots: Roots,
  { dir, name }: { readonly dir: Dir; readonly name: string },
  sides: readonly TreeSide[],
  shown: string,
): Promise<void> => {
  if (!roots.reach) return
  const folder = dir.child(name)
  try {
    await assertTreePermitted(roots, folder, sides, shown)
  } finally {
    folder.close()
  }
}
