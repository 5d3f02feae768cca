import { chmodSync, chownSync, statSync } from 'node:fs'
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

/**
 * Without a view of its own, a program reaches a folder by its path or not at all. So the service user may go
 * through the folders of the service above it: as their group, without reading, writing or listing them.
 * Folders that are not of the service stay as they are.
 * @throws SandboxRefused where one of those keeps the user out.
 */
export const openWay = (own: string, path: string, user: ServiceUser): void => {
  for (let at = dirname(path); at !== '/'; at = dirname(at)) {
    const stat = statSync(at)
    if (mayEnter(stat, user)) continue
    if (at !== own && !at.startsWith(`${own}/`)) {
      const detail = `the user ${user.name}, who runs programs, may not enter ${at}`
      throw new GatehouseError('SandboxRefused', { detail })
    }
    if (stat.uid !== user.uid) chownSync(at, stat.uid, user.gid)
    chmodSync(at, (stat.mode & 0o700) | (enter << 6) | (enter << 3))
  }
}
