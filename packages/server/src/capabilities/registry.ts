import type { Capability, CapabilityRegistry } from '../ports/capability.ts'

const similarMax = 3

/** Edit distance, given up above `max`. Names are at most 128 characters, so a full table is cheap enough. */
const distance = (a: string, b: string, max: number): number => {
  if (Math.abs(a.length - b.length) > max) return max + 1
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const swap = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      row.push(Math.min(swap, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1))
    }
    previous = row
  }
  return previous[b.length] ?? max + 1
}

export const createRegistry = (capabilities: readonly Capability[]): CapabilityRegistry => {
  const sorted = capabilities.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  // A Map, so that `__proto__` and `constructor` are names that nobody has.
  const byName = new Map(sorted.map((capability) => [capability.name, capability]))
  if (byName.size !== sorted.length) throw new Error('two capabilities share a name')
  return {
    find: (name) => byName.get(name) ?? null,
    list: () => sorted,
    similar(name) {
      if (name.length > 128) return []
      const max = Math.max(2, Math.floor(name.length / 3))
      return sorted
        .map((capability) => ({ name: capability.name, far: distance(name, capability.name, max) }))
        .filter(({ far }) => far <= max)
        .toSorted((a, b) => a.far - b.far)
        .slice(0, similarMax)
        .map((entry) => entry.name)
    },
  }
}
