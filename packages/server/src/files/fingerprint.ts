import { type BigIntStats, constants, fstatSync, readlinkSync } from 'node:fs'
import { GatehouseError } from '@gatehouse/contract'
import { digestFile } from './digest.ts'
import { codeOf, failure } from './failure.ts'
import { assertLinkStays, leafStat, letGo, openThere } from './open.ts'
import type { Roots } from './roots.ts'
import { walkTo } from './walk.ts'
import { followToStat } from './write.ts'

/** Larger files are bound by identity, size and times of change. */
const digestBytesMax = 16 * 1024 * 1024

type Print = Readonly<Record<string, string | null>>

const nothing = { type: null, dev: null, ino: null, version: null, sha256: null }

const identity = (stat: BigIntStats): Print => ({
  type: stat.isFile() ? 'file' : stat.isDirectory() ? 'directory' : 'other',
  dev: String(stat.dev),
  ino: String(stat.ino),
})

const versionOf = (stat: BigIntStats): string => `${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`

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
): Promise<Print> => {
  let opened: ReturnType<typeof openAny>
  let link: string | null
  try {
    link = linkAt(roots, shown)
    opened = openAny(roots, shown, options)
  } catch (error) {
    const known = failure(error, shown)
    const isMissing = known instanceof GatehouseError && known.type === 'FileNotFound'
    if (!isMissing) throw known
    return { path: roots.resolve(shown), link: null, ...nothing }
  }
  const { path, fd } = opened
  if (fd === null) return { path, link, ...nothing }
  try {
    const stat = fstatSync(fd, { bigint: true })
    const who = identity(stat)
    if (!stat.isFile() || stat.size > digestBytesMax) {
      return { path, link, ...who, version: versionOf(stat), sha256: null }
    }
    return { path, link, ...who, version: null, sha256: await digestFile(fd, Number(stat.size)) }
  } catch (error) {
    throw failure(error, shown)
  } finally {
    letGo(fd)
  }
}
