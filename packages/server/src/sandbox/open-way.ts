import { chmodSync, chownSync, lstatSync } from 'node:fs'
import { dirname } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import type { ServiceUser } from './service-user.ts'

const enter = 0o1

/** Whether the user may go through a folder, by its mode alone. */
export const mayEnter = (
  folder: { readonly uid: number; readonly gid: number; readonly mode: number },
  user: Pick<ServiceUser, 'uid' | 'gid'>,
): boolean => {
  if (folder.uid === user.uid) return (folder.mode & (enter << 6)) !== 0
  if (folder.gid === user.gid) return (folder.mode & (enter << 3)) !== 0
  return (folder.mode & enter) !== 0
}

/** The folders above a path, from the top. */
const above = (path: string): readonly string[] =>
  path === '/' ? [] : [...above(dirname(path)), dirname(path)]

/**
 * Without a view of its own, a program reaches a folder by its path or not at all. So the service user may go
 * through the folders of the service above it: as their group, without reading, writing or listing them.
 * Folders that are not of the service stay as they are.
 * @SECURITY From the top, and no further than the first folder of that user: what is below could be swapped
 * for a link while root changes it; open-way.test.ts.
 * @throws SandboxRefused where a folder that is not of the service keeps the user out.
 */
export const openWay = (own: string, path: string, user: ServiceUser): void => {
  for (const at of above(path)) {
    const stat = lstatSync(at)
    const isOurs = at === own || at.startsWith(`${own}/`)
    if (isOurs && (stat.uid === user.uid || !stat.isDirectory())) return
    if (mayEnter(stat, user)) continue
    if (!isOurs) {
      const detail = `the user ${user.name}, who runs programs, may not enter ${at}`
      throw new GatehouseError('SandboxRefused', { detail })
    }
    chownSync(at, stat.uid, user.gid)
    chmodSync(at, (stat.mode & 0o700) | (enter << 6) | (enter << 3))
  }
}
