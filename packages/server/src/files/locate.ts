import { posix } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import type { Told } from '../ports/files.ts'
import type { Roots } from './roots.ts'
import { walkTo } from './walk.ts'
import { followToStat } from './write.ts'

/** The path with every link followed, or null where part of the way is not there or not allowed. */
const followed = (roots: Roots, path: string, entry = false): string | null => {
  try {
    using walk = walkTo(roots, path, 'read')
    if (!entry) followToStat(walk)
    return walk.path
  } catch {
    return null
  }
}

const byText = (roots: Roots, path: string): string => posix.resolve(roots.workspace.path, path)

/** Follows as much of the way as there is; what is missing at its end is told as it was written. */
const whereItLeads = (roots: Roots, shown: string, entry: boolean): string => {
  const whole = followed(roots, shown, entry)
  if (whole !== null) return whole
  const path = byText(roots, shown)
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
    const parent = followed(roots, path.slice(0, at))
    if (parent !== null) return parent + path.slice(at)
  }
  return path
}

/**
 * Where a path leads now, in both forms that policy may speak of.
 * @SECURITY `scratch/../secret` and a link in `scratch` are not in scratch; locate.test.ts fails without it.
 */
export const locate = (roots: Roots, shown: string, entry = false): Told =>
  roots.told(whereItLeads(roots, shown, entry))

/** Whether the whole way lies in the roots; of a way that ends in nothing, whether its last folder does. */
export const reaches = (roots: Roots, shown: string, intent: 'read' | 'write'): boolean => {
  try {
    using walk = walkTo(roots, shown, intent)
    followToStat(walk)
    return true
  } catch (cause) {
    if (!(cause instanceof GatehouseError) || cause.type !== 'FileNotFound') return false
    // The root of the file system lies in no root: there it ends.
    return reaches(roots, posix.dirname(byText(roots, shown)), intent)
  }
}

/**
 * Whether `locate` can give an absolute path that begins so. Known by the text alone where it cannot: what
 * is allowed lies in a root, and what is not is told by its text. So a rule about folders that an agent
 * does not have costs no look at the disk.
 */
export const canLeadTo = (roots: Roots, shown: string, beginning: string): boolean => {
  for (const { path } of roots.all)
    if (path.startsWith(beginning) || beginning.startsWith(path)) return true
  const leaves = shown.startsWith('/') || shown.includes('..')
  return leaves && byText(roots, shown).startsWith(beginning)
}
