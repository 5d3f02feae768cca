import type { CapabilityContext } from '../../ports/capability.ts'
import type { FoundEntry } from '../../ports/files.ts'

const hashedFilesMax = 5_000
const hashedBytesMax = 512 * 1024 * 1024

export type Group = {
  readonly key: string
  readonly count: number
  readonly size_bytes: number
  readonly newest: string
}

export type Duplicates = {
  readonly sha256: string
  readonly size_bytes: number
  readonly paths: string[]
}

const keys: Readonly<Record<string, (found: FoundEntry) => string>> = {
  extension: ({ name }) => /.(\.[^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '(none)',
  directory: ({ relative }) => relative.slice(0, Math.max(0, relative.lastIndexOf('/'))) || '.',
  day: ({ modified_at }) => modified_at.slice(0, 10),
  none: () => 'all',
}

/** Counts by group, the largest group first. */
export const groupFiles = (files: readonly FoundEntry[], groupBy: string): Group[] => {
  const keyOf = keys[groupBy] as (found: FoundEntry) => string
  const groups = new Map<string, Group>()
  for (const file of files) {
    const key = keyOf(file)
    const { count = 0, size_bytes = 0, newest = '' } = groups.get(key) ?? {}
    groups.set(key, {
      key,
      count: count + 1,
      size_bytes: size_bytes + file.size_bytes,
      newest: file.modified_at > newest ? file.modified_at : newest,
    })
  }
  return [...groups.values()].toSorted((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1))
}

/** Only files that share their size with another are read. Empty ones are equal without reading. */
export const withoutDuplicates = async (
  { files: reader, signal }: Pick<CapabilityContext, 'files' | 'signal'>,
  files: readonly FoundEntry[],
): Promise<{ files: FoundEntry[]; duplicates: Duplicates[]; cut: boolean }> => {
  const sizes = new Map<number, number>()
  for (const { size_bytes } of files) sizes.set(size_bytes, (sizes.get(size_bytes) ?? 0) + 1)
  const kept: FoundEntry[] = []
  const copies = new Map<string, { sha256: string; size_bytes: number; paths: string[] }>()
  let hashed = 0
  let bytes = 0
  let cut = false
  for (const file of files) {
    const isAlone = sizes.get(file.size_bytes) === 1
    if (isAlone || cut || signal.aborted) {
      kept.push(file)
      continue
    }
    bytes += file.size_bytes
    cut = ++hashed > hashedFilesMax || bytes > hashedBytesMax
    const { sha256 } = cut ? { sha256: null } : await reader.fingerprint(file.path)
    if (!sha256) {
      kept.push(file)
      continue
    }
    const known = copies.get(sha256)
    if (known) known.paths.push(file.path)
    else {
      kept.push(file)
      copies.set(sha256, { sha256, size_bytes: file.size_bytes, paths: [file.path] })
    }
  }
  const duplicates = [...copies.values()]
    .filter(({ paths }) => paths.length > 1)
    .toSorted((a, b) => b.size_bytes * b.paths.length - a.size_bytes * a.paths.length)
  return { files: kept, duplicates, cut }
}
