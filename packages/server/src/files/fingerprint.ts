import { constants, readlinkSync } from 'node:fs'
import { GatehouseError } from '@gatehouse/contract'
import type { Fingerprint } from '../ports/files.ts'
import { codeOf, failure } from './failure.ts'
import { locate } from './locate.ts'
import { assertLinkStays, leafStat, letGo, openThere } from './open.ts'
import { nothing, printOf } from './print.ts'
import type { Roots } from './roots.ts'
import { walkTo } from './walk.ts'
import { followToStat } from './write.ts'

/** The last link of the path as it stands, if it is one: what would be moved or deleted. */
const linkAt = (roots: Roots, path: string): string | null => {
  using walk = walkTo(roots, path, 'read')
  try {
    return walk.leaf === null ? null : readlinkSync(walk.at)
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EINVAL' || code === 'ENOENT') return null
    throw failure(error, path)
  }
}

type PrintOptions = { readonly entry?: boolean; readonly argument?: string }

const openAny = (
  roots: Roots,
  shown: string,
  { entry = false, argument }: PrintOptions,
): { readonly path: string; readonly fd: number | null } => {
  using walk = walkTo(roots, shown, 'read', argument ? { argument } : {})
  const stat = entry ? leafStat(walk) : followToStat(walk)
  walk.assertPermitted()
  if (stat?.isSymbolicLink()) assertLinkStays(() => walkTo(roots, shown, 'read'))
  const { path } = walk
  if (!stat || !(stat.isFile() || stat.isDirectory())) return { path, fd: null }
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  return { path, fd: openThere(walk.at, flags) }
}

/** Fingerprint of a path now. Any difference between two prints means that something else is there. */
export const fingerprintOf = async (
  roots: Roots,
  shown: string,
  options: PrintOptions = {},
): Promise<Fingerprint> => {
  let opened: ReturnType<typeof openAny>
  let link: string | null
  try {
    link = linkAt(roots, shown)
    opened = openAny(roots, shown, options)
  } catch (error) {
    const known = failure(error, shown)
    const isMissing = known instanceof GatehouseError && known.type === 'FileNotFound'
    if (!isMissing) throw known
    return { path: locate(roots, shown, options.entry).absolute, link: null, ...nothing }
  }
  const { path, fd } = opened
  if (fd === null) return { path, link, ...nothing }
  try {
    return { path, link, ...(await printOf(fd)).print }
  } catch (error) {
    throw failure(error, shown)
  } finally {
    letGo(fd)
  }
}
