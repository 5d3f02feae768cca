import { fstatSync } from 'node:fs'
import { GatehouseError } from '@gatehouse/contract'
import type { PinnedFolder } from '../ports/files.ts'
import type { Dir } from './dir.ts'
import { openFolder } from './look.ts'
import type { Roots } from './roots.ts'
import { walkTo } from './walk.ts'

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
    const { dev, ino } = fstatSync(dir.fd)
    const root = roots.all.find((one) => one.dev === dev && one.ino === ino) ?? walk.root
    if (options.writable && root.readOnly) throw new GatehouseError('ReadOnlyRoot', { path: shown })
    const inner = root.inner
      .filter((other) => other.path.startsWith(`${path}/`))
      .map((other) => {
        const own = other.dir.again()
        opened.push(own)
        return { path: other.path, fd: own.fd, read_only: other.readOnly }
      })
    return { fd: dir.fd, path, inner, [Symbol.dispose]: close }
  } catch (error) {
    close()
    throw error
  }
}
