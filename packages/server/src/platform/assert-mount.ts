import { realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'

/** Where a path leads, links followed as far as anything is there. */
const realOf = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(realOf(parent), path.slice(parent.length))
  }
}

/**
 * Folders that a mount must never be: the machine's own interfaces, or this service's own folder, by name or by link.
 * @SECURITY An agent that can write there can rewrite its own policy and log; assert-mount.test.ts.
 */
export const assertMount = (dataDir: string, path: string): void => {
  const refuse = (detail: string): never => {
    throw new GatehouseError('InvalidParams', { detail: `the mount ${path} ${detail}` })
  }
  if (resolve(path) !== path || path === '/')
    refuse('must be an absolute path without .. and not /')
  const [real, own] = [realOf(path), realOf(dataDir)]
  const inside = (folder: string) => real === folder || real.startsWith(`${folder}/`)
  if (real === '/' || ['/proc', '/sys', '/dev'].some(inside))
    refuse('leads into an interface of the system')
  if (inside(own) || own.startsWith(`${real}/`)) refuse('holds the data of the service itself')
}
