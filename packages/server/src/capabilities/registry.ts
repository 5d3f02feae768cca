import { nearest } from '@gatehouse/contract'
import type { Capability, CapabilityRegistry } from '../ports/capability.ts'

export const createRegistry = (capabilities: readonly Capability[]): CapabilityRegistry => {
  const sorted = capabilities.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  // A Map, so that `__proto__` and `constructor` are names that nobody has.
  const byName = new Map(sorted.map((capability) => [capability.name, capability]))
  if (byName.size !== sorted.length) throw new Error('two capabilities share a name')
  const names = [...byName.keys()]
  return {
    find: (name) => byName.get(name) ?? null,
    list: () => sorted,
    similar: (name) => nearest(name, names),
  }
}
