import { type BigIntStats, fstatSync, lstatSync } from 'node:fs'

/** All 64 bits: overlays and network file systems number files beyond what a double can tell apart. */
export const named = ({ dev, ino }: Pick<BigIntStats, 'dev' | 'ino'>): string =>
  `${BigInt.asUintN(64, dev)}:${BigInt.asUintN(64, ino)}`

/** Device and number of an open file or folder, which no other has while this is there. */
export const identityOf = (fd: number): string => named(fstatSync(fd, { bigint: true }))

/** The same of what stands at a path, a link as itself; null where nothing does. */
export const identityAt = (path: string): string | null => {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return stat ? named(stat) : null
}
