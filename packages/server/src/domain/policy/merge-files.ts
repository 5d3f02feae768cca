/** Texts of policy files, by their names below the folder of the policies. */
export type PolicyTexts = Readonly<Record<string, string>>

/** SHA-256 of each text. */
export type PolicyDigests = Readonly<Record<string, string>>

export type PolicyMerge = {
  /** New texts of files of this node; null for one that goes. */
  readonly changes: ReadonlyMap<string, string | null>
  /** Files among them that were changed here, too: the others' text stands in their place. */
  readonly overruled: readonly string[]
  /** All of it, as every node is to have it. */
  readonly merged: PolicyTexts
}

/**
 * Files of a node beside those that nodes share, after both may have changed since they were the same. Where both changed
 * one file, the shared text wins: other nodes decide by it already.
 */
export function mergeFiles(given: {
  /** As they were when they were the same. */
  readonly base: PolicyDigests
  readonly own: PolicyTexts
  /** Files of this node that nobody can decide by: what they should say is not known, so they count as unchanged. */
  readonly unknown: readonly string[]
  readonly shared: PolicyTexts
  readonly digestOf: (text: string) => string
}): PolicyMerge {
  const { base, own, shared, digestOf } = given
  const unknown = new Set(given.unknown)
  const changes = new Map<string, string | null>()
  const overruled: string[] = []
  const merged: Record<string, string> = {}
  const isChanged = (file: string, text: string | undefined) =>
    (text === undefined ? undefined : digestOf(text)) !== base[file]
  for (const file of new Set([...Object.keys(base), ...Object.keys(own), ...Object.keys(shared)])) {
    const [mine, theirs] = [own[file], shared[file]]
    const isOwn = !unknown.has(file) && isChanged(file, mine)
    const takesTheirs = isChanged(file, theirs) || !isOwn
    const text = takesTheirs ? theirs : mine
    if (text !== undefined) merged[file] = text
    if (!takesTheirs || mine === theirs || (unknown.has(file) && !isChanged(file, theirs))) continue
    changes.set(file, theirs ?? null)
    if (isOwn) overruled.push(file)
  }
  return { changes, overruled, merged }
}
