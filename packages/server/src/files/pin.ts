import { GatehouseError } from '@gatehouse/contract'
import type { PinnedFolder } from '../ports/files.ts'
import type { Dir } from './dir.ts'
import { codeOf } from './failure.ts'
import { identityOf } from './identity.ts'
import { openFolder } from './look.ts'
import type { Root } from './root.ts'
import type { Roots } from './roots.ts'
import { walkTo } from './walk.ts'

/** A folder inside another under a descriptor of its own; null where none is, or a link that the agent put there. */
const openIfThere = (root: Root): Dir | null => {
  try {
    return root.dir.again()
  } catch (error) {
    const isOurs = error instanceof GatehouseError && error.type === 'InvalidConfiguration'
    if (isOurs || ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(codeOf(error) ?? '')) return null
    throw error
  }
}

/** @SECURITY The descriptor is the folder, whatever its path leads to later; pin.test.ts. */
export const pinFolder = (
  roots: Roots,
  shown: string,
  options: { readonly writable: boolean },
): PinnedFolder => {
  const opened: Dir[] = []
  const close = () => {
    for (const dir of opened) dir.close()
    opened.length = 0
  }
  try {
    using walk = walkTo(roots, shown, options.writable ? 'write' : 'read')
    const dir = openFolder(walk, shown)
    opened.push(dir)
    const { path } = walk
    // The last step of a walk does not enter a root that stands there, and its rules hold.
    const identity = identityOf(dir.fd)
    const root = roots.all.find((one) => one.is(identity, path)) ?? walk.root
    if (options.writable && root.readOnly) throw new GatehouseError('ReadOnlyRoot', { path: shown })
    const inner = roots.all.flatMap((other) => {
      const way = other.below(path) ?? []
      const own = way.length > 0 ? openIfThere(other) : null
      if (!own) return []
      opened.push(own)
      return [{ path: [path, ...way].join('/'), fd: own.fd, read_only: other.readOnly }]
    })
    return { fd: dir.fd, path, inner, [Symbol.dispose]: close }
  } catch (error) {
    close()
    throw error
  }
}
